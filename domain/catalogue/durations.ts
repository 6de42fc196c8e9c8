const UNITS = { ms: 1, s: 1000, m: 60_000, h: 3_600_000, d: 86_400_000 } as const;

export const DURATION = /^(\d{1,9}(?:\.\d{1,3})?)(ms|s|m|h|d)$/;

/** `500ms`, `10s`, `5m`, `2h`, `1d`, or 0, in milliseconds. The text has been checked against `DURATION`. */
export function milliseconds(duration: string | number): number {
  const [, amount, unit] = DURATION.exec(String(duration)) ?? [];
  return Math.round(Number(amount ?? 0) * UNITS[(unit ?? 'ms') as keyof typeof UNITS]);
}
