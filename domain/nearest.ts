/** Longest name that is compared; anything longer is no misspelling of ours. */
const LONGEST_NAME = 80;

/**
 * The candidates that somebody who wrote `name` may have meant, best first, at most `limit`.
 * Only for "did you mean": nothing may act on a guess.
 */
export function nearest(name: string, candidates: readonly string[], limit = 3): string[] {
  const wanted = plain(name.slice(0, LONGEST_NAME));
  if (wanted === '') return [];
  return candidates
    .map((candidate) => ({ candidate, distance: distanceBetween(wanted, plain(candidate)) }))
    .filter(({ candidate, distance }) => distance <= allowed(wanted, plain(candidate)))
    .sort((a, b) => a.distance - b.distance)
    .slice(0, limit)
    .map(({ candidate }) => candidate);
}

/** Case and separators are never what was meant by a difference. */
function plain(name: string): string {
  return name
    .toLowerCase()
    .replace(/[\s_.-]+/g, ' ')
    .trim();
}

function allowed(wanted: string, candidate: string): number {
  return Math.max(1, Math.floor(Math.max(wanted.length, candidate.length) / 3));
}

function distanceBetween(wanted: string, candidate: string): number {
  if (wanted === candidate) return 0;
  // Somebody who writes "bedroom" or "bedroom ac unit" names one part of what they mean, or more than it.
  if (
    wanted.length >= 3 &&
    (candidate.includes(wanted) || (candidate.length >= 3 && wanted.includes(candidate)))
  )
    return 1;
  return editDistance(wanted, candidate);
}

/** Insertions, deletions, replacements and swaps of neighbours. */
function editDistance(a: string, b: string): number {
  let beforeLast: number[] = [];
  let last = Array.from({ length: b.length + 1 }, (_, column) => column);
  for (let row = 1; row <= a.length; row += 1) {
    const current = [row];
    for (let column = 1; column <= b.length; column += 1) {
      const same = a[row - 1] === b[column - 1];
      let best = Math.min(
        at(last, column) + 1,
        at(current, column - 1) + 1,
        at(last, column - 1) + (same ? 0 : 1),
      );
      const swapped = row > 1 && column > 1 && a[row - 1] === b[column - 2] && a[row - 2] === b[column - 1];
      if (swapped) best = Math.min(best, at(beforeLast, column - 2) + 1);
      current.push(best);
    }
    beforeLast = last;
    last = current;
  }
  return at(last, b.length);
}

function at(row: readonly number[], column: number): number {
  return row[column] ?? Number.POSITIVE_INFINITY;
}
