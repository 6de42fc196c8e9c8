/**
 * What waits, what goes on and what has been, read once for everybody who looks. Temporal doesn't push its lists, so
 * they are read again and again, but only while somebody looks, and never once for each of them.
 */
import { createHash } from 'node:crypto';
import { allPending } from '../commands/all-pending.ts';
import type { CommandSnapshot, Commands } from '../commands/commands.ts';

export interface Overview {
  /** Epoch ms. */
  readonly at: number;
  readonly pending: readonly CommandSnapshot[];
  /** Of all that are pending, those not in `pending` included. */
  readonly totalPending: number;
  /** In flight, without those that wait for a decision. */
  readonly open: readonly CommandSnapshot[];
  /** Ended, newest first. */
  readonly recent: readonly CommandSnapshot[];
  /** Another one when anything of it has changed. */
  readonly revision: string;
}

export interface OverviewSource {
  /** At most `maxAgeMs` old. Throws `EngineUnreachable`. */
  read(maxAgeMs?: number): Promise<Overview>;
  /** Calls back with what is known now and when something has changed, until it is told to stop. */
  watch(changed: (revision: string) => void): () => void;
  close(): void;
}

export const READ_EVERY_MS = 2_000;
/** Reading takes at most this share of the time, however long the lists are. */
const LARGEST_SHARE = 1 / 8;
const FRESH_MS = 1_000;
/** More than any team decides one by one; beyond, the page says how many there are. */
export const MOST_PENDING = 2_000;
const MOST_OPEN = 200;
const MOST_RECENT = 100;

export function createOverview(
  commands: Pick<Commands, 'pendingApprovals' | 'list'>,
  onError: (error: Error) => void,
  /** Of what else the pages show. */
  revisionOfRest: () => string = () => '',
): OverviewSource {
  const listeners = new Set<(revision: string) => void>();
  let last: Overview | null = null;
  let reading: Promise<Overview> | null = null;
  let timer: NodeJS.Timeout | undefined;
  let tookMs = 0;

  const readNow = async (): Promise<Overview> => {
    const startedAt = Date.now();
    const overview = await readOverview(commands, revisionOfRest());
    tookMs = Date.now() - startedAt;
    const changed = last !== null && last.revision !== overview.revision;
    last = overview;
    if (changed) for (const listener of listeners) listener(overview.revision);
    return overview;
  };
  const read = async (maxAgeMs = FRESH_MS): Promise<Overview> => {
    if (last !== null && Date.now() - last.at <= maxAgeMs) return last;
    reading ??= readNow().finally(() => {
      reading = null;
    });
    return await reading;
  };
  const schedule = (): void => {
    const waitMs = Math.max(READ_EVERY_MS, tookMs / LARGEST_SHARE);
    timer ??= setTimeout(() => {
      timer = undefined;
      if (listeners.size === 0) return;
      read(0).then(schedule, (error: unknown) => {
        onError(error instanceof Error ? error : new Error(String(error)));
        schedule();
      });
    }, waitMs).unref();
  };

  return {
    read,
    watch(changed) {
      listeners.add(changed);
      if (last !== null) changed(last.revision);
      schedule();
      return () => listeners.delete(changed);
    },
    close() {
      listeners.clear();
      clearTimeout(timer);
    },
  };
}

async function readOverview(
  commands: Pick<Commands, 'pendingApprovals' | 'list'>,
  rest: string,
): Promise<Overview> {
  const at = Date.now();
  const [{ pending, total }, open, newest] = await Promise.all([
    allPending(commands, MOST_PENDING),
    commands.list({ kind: 'operator' }, { limit: MOST_OPEN, openOnly: true, notPending: true }),
    commands.list({ kind: 'operator' }, { limit: MOST_RECENT, notPending: true }),
  ]);
  const recent = newest.filter(({ status }) => status !== 'running');
  return {
    at,
    pending,
    totalPending: total,
    open,
    recent,
    revision: revisionOf([...pending, ...open, ...recent], rest),
  };
}

function revisionOf(snapshots: readonly CommandSnapshot[], rest: string): string {
  const hash = createHash('sha256').update(rest);
  for (const { commandId, status, lastUpdatedAt, view } of snapshots)
    hash.update(`${commandId} ${status} ${lastUpdatedAt} ${view.phase} ${view.approval?.key ?? ''}\n`);
  return hash.digest('base64url').slice(0, 16);
}
