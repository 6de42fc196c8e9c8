/** Pauses between attempts to reach what can't be reached now. */

const FIRST_MS = 2000;
/** Nobody knows when it will be there: doubles up to a minute. */
const LONGEST_MS = 60_000;
/** An attempt costs about a dozen history events: where there are days for it, pauses are longer, so that it stays at about this many. */
const ATTEMPTS_AT_MOST = 100;
/** The API has said when: nearly that, and yet not so often that an API which always says "in a second" fills a history. */
const LONGEST_BEYOND_ASKED_MS = 10_000;

/**
 * The pause after `lastMs` (0: none yet). `askedMs`: what the API asked for; never shorter than that. `withinMs`: how long
 * attempts are made at all.
 */
export function nextPause(lastMs: number, askedMs: number | null, withinMs: number): number {
  const doubled = lastMs === 0 ? FIRST_MS : lastMs * 2;
  const evenly = withinMs / ATTEMPTS_AT_MOST;
  return askedMs === null
    ? Math.min(doubled, Math.max(LONGEST_MS, evenly))
    : Math.max(askedMs, Math.min(doubled, Math.max(LONGEST_BEYOND_ASKED_MS, evenly)));
}
