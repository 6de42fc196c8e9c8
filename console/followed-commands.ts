/** Commands whose pages are open: each is followed once, however many look at it. */
import { type CommandSnapshot, type Commands, EngineUnreachable } from '../commands/commands.ts';

export interface FollowedCommands {
  /** Calls back with what is shown now and at every change, until told to stop or the command has ended. */
  watch(commandId: string, changed: (revision: string) => void): () => void;
  close(): void;
}

/** Temporal pushes what happens to a command, but not the readings in between: those are looked for this often. */
const LOOK_EVERY_MS = 1_000;
/** Temporal is away: not so often. */
const TRY_AGAIN_MS = 3_000;

interface Followed {
  readonly listeners: Set<(revision: string) => void>;
  readonly stop: AbortController;
  /** null: not read yet. */
  shown: string | null;
}

export function createFollowedCommands(
  commands: Pick<Commands, 'wait'>,
  onError: (error: Error) => void,
): FollowedCommands {
  const followed = new Map<string, Followed>();

  const follow = async (commandId: string, entry: Followed): Promise<void> => {
    const { listeners, stop } = entry;
    while (!stop.signal.aborted) {
      const snapshot = await nextOf(commands, commandId, entry.shown, stop.signal);
      if (snapshot === undefined) return;
      if (snapshot === 'away') continue;
      const revision = revisionOf(snapshot);
      if (revision !== entry.shown) for (const listener of listeners) listener(revision);
      entry.shown = revision;
      if (snapshot.status !== 'running') return;
    }
  };

  return {
    watch(commandId, changed) {
      const entry = followed.get(commandId) ?? {
        listeners: new Set(),
        stop: new AbortController(),
        shown: null,
      };
      entry.listeners.add(changed);
      if (entry.shown !== null) changed(entry.shown);
      if (!followed.has(commandId)) {
        followed.set(commandId, entry);
        follow(commandId, entry)
          .catch((error: unknown) => onError(error instanceof Error ? error : new Error(String(error))))
          .finally(() => {
            if (followed.get(commandId) === entry) followed.delete(commandId);
          });
      }
      return () => {
        entry.listeners.delete(changed);
        if (entry.listeners.size > 0) return;
        entry.stop.abort();
        if (followed.get(commandId) === entry) followed.delete(commandId);
      };
    },
    close() {
      for (const { stop } of followed.values()) stop.abort();
      followed.clear();
    },
  };
}

async function nextOf(
  commands: Pick<Commands, 'wait'>,
  commandId: string,
  shown: string | null,
  signal: AbortSignal,
): Promise<CommandSnapshot | 'away' | undefined> {
  try {
    return await commands.wait(
      commandId,
      { kind: 'operator' },
      {
        timeoutMs: shown === null ? 0 : LOOK_EVERY_MS,
        signal,
        until: (snapshot) => revisionOf(snapshot) !== shown,
      },
    );
  } catch (error) {
    if (!(error instanceof EngineUnreachable)) throw error;
    await new Promise((wake) => setTimeout(wake, TRY_AGAIN_MS).unref());
    return 'away';
  }
}

/** Another one when anything that a page shows has changed. */
export const revisionOf = ({
  status,
  lastUpdatedAt,
  view,
  live,
  cancelRequested,
  overdue,
}: CommandSnapshot): string =>
  [status, view.phase, lastUpdatedAt, live?.reads ?? 0, cancelRequested, overdue].join(' ');
