/** Few rows that hold every pair: what two factors do to each other shows without trying all combinations. */

type Factors = Readonly<Record<string, readonly string[]>>;
type RowOf<F extends Factors> = { readonly [Name in keyof F]: F[Name][number] };

/**
 * Rows in which every pair of values of two factors occurs that occurs in any possible row. Greedy, and the same every
 * time: of all possible rows, in the order of the factors' values, the first that brings the most pairs that are still missing.
 */
export function pairwise<const F extends Factors>(
  factors: F,
  isPossible: (row: RowOf<F>) => boolean,
): RowOf<F>[] {
  const possible = everyRow(factors).filter(isPossible);
  const missing = new Set(possible.flatMap(pairsOf));
  const rows: RowOf<F>[] = [];
  const brings = (row: RowOf<F>): number => pairsOf(row).filter((pair) => missing.has(pair)).length;
  while (missing.size > 0) {
    const best = possible.reduce((best, row) => (brings(row) > brings(best) ? row : best));
    rows.push(best);
    for (const pair of pairsOf(best)) missing.delete(pair);
  }
  return rows.sort((a, b) => possible.indexOf(a) - possible.indexOf(b));
}

function everyRow<F extends Factors>(factors: F): RowOf<F>[] {
  const rows = Object.entries(factors).reduce<Readonly<Record<string, string>>[]>(
    (rows, [name, values]) => rows.flatMap((row) => values.map((value) => ({ ...row, [name]: value }))),
    [{}],
  );
  return rows as RowOf<F>[];
}

function pairsOf(row: Readonly<Record<string, string>>): string[] {
  const values = Object.entries(row).map(([name, value]) => `${name}=${value}`);
  return values.flatMap((one, index) => values.slice(index + 1).map((other) => `${one} & ${other}`));
}
