const MILLISECONDS: Readonly<Record<string, number>> = {
  ms: 1,
  s: 1_000,
  m: 60_000,
  h: 3_600_000,
  d: 86_400_000,
};

/** `5s` → 5000. A bare `0` needs no unit. undefined: not a duration. */
export function parseDuration(text: string): number | undefined {
  if (text.trim() === '0') return 0;
  const [, number, unit = ''] = /^(\d+(?:\.\d+)?)\s*(ms|s|m|h|d)$/.exec(text.trim()) ?? [];
  return number === undefined ? undefined : Math.round(Number(number) * (MILLISECONDS[unit] ?? 0));
}
