/** What counts against the limits of one length of time, and until when. Rounded up in time, so that it stays short. */

export interface Tally {
  readonly perMs: number;
  /** Ascending: so many requests stop counting at `until`, epoch ms. */
  readonly used: readonly Counted[];
}

export interface Counted {
  readonly until: number;
  readonly count: number;
}

/** How finely time is told: at most about so many entries a tally. */
export const GRAINS = 60;

/** The tallies that these limits need. One of a new length starts with what the longest one knows; others go when they are empty. */
export function talliesFor(
  tallies: readonly Tally[],
  limits: readonly { readonly perMs: number }[],
  now: number,
): readonly Tally[] {
  const [longest] = tallies.toSorted((a, b) => b.perMs - a.perMs);
  const all = [...tallies];
  for (const { perMs } of limits) {
    if (all.some((tally) => tally.perMs === perMs)) continue;
    const laterMs = perMs - (longest?.perMs ?? 0);
    const used = (longest?.used ?? []).map(({ until, count }) => ({ until: until + laterMs, count }));
    all.push({ perMs, used });
  }
  return all
    .map((tally) => ({ ...tally, used: tally.used.filter(({ until }) => until > now) }))
    .filter(({ used, perMs }) => used.length > 0 || limits.some((limit) => limit.perMs === perMs));
}

/** `at`: when these requests had ended. Until then they may have arrived, and from then on they count for the limit's time. */
export function count(
  tally: Tally,
  { at, count: added }: { readonly at: number; readonly count: number },
): Tally {
  const grain = Math.max(1, tally.perMs / GRAINS);
  const until = Math.ceil((at + tally.perMs) / grain) * grain;
  const same = tally.used.find((one) => one.until === until);
  const rest = tally.used.filter((one) => one !== same);
  const used = [...rest, { until, count: added + (same?.count ?? 0) }].sort((a, b) => a.until - b.until);
  return { ...tally, used };
}

/** What counts now against a limit of this length. */
export const countedIn = (tallies: readonly Tally[], perMs: number, now: number): readonly Counted[] =>
  (tallies.find((tally) => tally.perMs === perMs)?.used ?? []).filter(({ until }) => until > now);
