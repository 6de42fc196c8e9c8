import { z } from 'zod';

const MS_PER_UNIT = { ms: 1, s: 1000, m: 60_000, h: 3_600_000, d: 86_400_000 } as const;

/** `200ms`, `4s`, `5m`, `1h`, `2d` → milliseconds. */
export const duration = z.string().transform((text, context) => {
  const [, amount, unit] = /^(\d+(?:\.\d+)?)(ms|s|m|h|d)$/.exec(text) ?? [];
  if (unit !== undefined) return Number(amount) * MS_PER_UNIT[unit as keyof typeof MS_PER_UNIT];
  context.addIssue('a duration is a number and ms, s, m, h or d, like 200ms, 4s or 5m');
  return z.NEVER;
});
