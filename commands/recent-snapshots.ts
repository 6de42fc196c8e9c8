/**
 * What Temporal was asked a moment ago, for those who poll: many at once are one question, and whoever asks again right
 * away gets the same answer. Who may see it is decided for each who asks.
 */
import type { CommandSnapshot, Commands, Viewer } from './commands.ts';
import { maySee } from './snapshot.ts';

export interface RecentSnapshots extends Pick<Commands, 'get' | 'lately'> {
  /** Runs what changes a command: what was asked before or meanwhile tells nobody anything any more. */
  changing<T>(commandId: string, change: () => Promise<T>): Promise<T>;
}

/** No longer than a person notices, and less than a client is told to wait between two polls. */
const RECENT_MS = 300;
/** What has ended stays as it is. */
const ENDED_MS = 10_000;
/** Far more than are polled at once; the oldest are forgotten first. */
const MOST_KEPT = 1000;
const LONGEST_COMMAND_ID = 200;

interface Kept {
  readonly answer: Promise<CommandSnapshot | undefined>;
  /** Until when it is recent. A question under way always is. */
  until: number;
}

/** `describe`: the command as whoever operates Readback sees it; undefined: it is none. `clock`: milliseconds. */
export function recentSnapshots(
  describe: (commandId: string) => Promise<CommandSnapshot | undefined>,
  clock: () => number = () => performance.now(),
): RecentSnapshots {
  const kept = new Map<string, Kept>();

  function ask(commandId: string): Promise<CommandSnapshot | undefined> {
    const entry: Kept = { answer: describe(commandId), until: Number.POSITIVE_INFINITY };
    kept.delete(commandId);
    kept.set(commandId, entry);
    for (const oldest of kept.keys()) {
      if (kept.size <= MOST_KEPT) break;
      kept.delete(oldest);
    }
    const drop = () => {
      if (kept.get(commandId) === entry) kept.delete(commandId);
    };
    entry.answer.then((snapshot) => {
      if (snapshot === undefined) drop();
      else entry.until = clock() + (snapshot.status === 'running' ? RECENT_MS : ENDED_MS);
    }, drop);
    return entry.answer;
  }

  async function get(commandId: string, viewer: Viewer): Promise<CommandSnapshot | undefined> {
    // Temporal would refuse it anyway, with words of its own; half a character can't even be sent there.
    if (commandId === '' || commandId.length > LONGEST_COMMAND_ID || /\p{Surrogate}/u.test(commandId))
      return undefined;
    const snapshot = await ask(commandId);
    return snapshot && maySee(viewer, snapshot.view) ? snapshot : undefined;
  }

  return {
    get,
    async lately(commandId, viewer) {
      const entry = kept.get(commandId);
      const known = entry !== undefined && clock() < entry.until ? await entry.answer : undefined;
      // To a stranger it must take as long as an id that nobody has.
      return known !== undefined && maySee(viewer, known.view) ? known : await get(commandId, viewer);
    },
    async changing(commandId, change) {
      kept.delete(commandId);
      try {
        return await change();
      } finally {
        kept.delete(commandId);
      }
    },
  };
}
