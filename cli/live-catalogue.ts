/**
 * The catalogue in force, read anew when one of its files changes and on SIGHUP. A good one takes over as a whole; one with
 * problems changes nothing and says so. Why files are looked at, not listened to: docs/decisions/0016.
 */
import { setInterval } from 'node:timers/promises';
import type { Logger } from 'pino';
import { changesBetween } from '../domain/catalogue/changes.ts';
import type { Catalogue } from '../domain/catalogue/definition.ts';
import { type CatalogueReader, cannotStart } from './catalogue-file.ts';
import { changedSince, stampOf } from './file-stamps.ts';
import { onHangUp } from './hang-up.ts';

export interface LiveCatalogue {
  /** The one in force. */
  readonly current: () => Catalogue;
  /** Everything that is wrong with the files as they are now, so that an earlier catalogue is in force; null: nothing. */
  readonly trouble: () => readonly string[] | null;
  /** From here on changes are taken over; none since the first reading is lost. */
  follow(taking: Taking): void;
  close(): void;
}

export interface Taking {
  /** Before a catalogue comes into force. What it throws is what is wrong with it, and the earlier one stays. */
  readonly prepare?: (next: Catalogue) => void;
  /** After it has. */
  readonly changed?: () => void;
}

const LOOK_EVERY_MS = 500;
/** Several writes, one soon after the other, are one change; and nothing half-written is read. */
const QUIET_FOR_MS = 1_000;
/** As much of a digest as tells catalogues apart in a log. */
const SHOWN_DIGEST = 12;

/** Throws a `Failure` for a catalogue that can't be started with. */
export async function openLiveCatalogue(read: CatalogueReader, log: Logger): Promise<LiveCatalogue> {
  let stamps: ReadonlyMap<string, string> = new Map();
  const readNow = async () => {
    const fresh = new Map<string, string>();
    // Before it is read: what changes meanwhile is seen at the next look.
    const found = await read(async (path) => void fresh.set(path, await stampOf(path)));
    stamps = fresh;
    if (found.ok) for (const warning of found.warnings) log.warn(warning);
    return found;
  };
  const first = await readNow();
  if (!first.ok) throw cannotStart(first.problems);
  let current = first.catalogue;
  let trouble: readonly string[] | null = null;
  const closed = new AbortController();

  async function reload({ prepare, changed }: Taking): Promise<void> {
    const before = current;
    trouble = await readNow()
      .then((found) => {
        if (!found.ok) return found.problems;
        prepare?.(found.catalogue);
        current = found.catalogue;
        return null;
      })
      .catch((error: unknown) => (error instanceof Error ? error.message : String(error)).split('\n'));
    const digest = current.digest.slice(0, SHOWN_DIGEST);
    if (trouble !== null) {
      log.error(
        { digest },
        `${trouble.join('\n')}\nThe catalogue was not reloaded: the one from before stays in force.`,
      );
      return;
    }
    log.info({ digest }, `catalogue reloaded: ${changesBetween(before, current) ?? 'nothing has changed'}`);
    changed?.();
  }

  /** One at a time. */
  async function watch(taking: Taking): Promise<void> {
    let isForced = false;
    onHangUp(() => (isForced = true), closed.signal);
    let change = '';
    let since = 0;
    for await (const _ of setInterval(LOOK_EVERY_MS, null, { ref: false, signal: closed.signal })) {
      const now = await changedSince(stamps);
      if (now !== change) since = Date.now();
      change = now;
      const isOver = change !== '' && Date.now() - since >= QUIET_FOR_MS;
      if (!isForced && !isOver) continue;
      isForced = false;
      change = '';
      await reload(taking);
    }
  }

  return {
    current: () => current,
    trouble: () => trouble,
    follow(taking) {
      watch(taking).catch((error: unknown) => {
        if (!closed.signal.aborted) log.error({ err: error }, 'the catalogue is no longer followed');
      });
    },
    close: () => closed.abort(),
  };
}
