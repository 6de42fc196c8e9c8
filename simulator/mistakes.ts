/** Says what is wrong with a devices file, or with an admin call, and where. */
import type { z } from 'zod';
import { OPTION_NAMES } from './behaviour.ts';

/** A devices file, a device in it, or the body of an admin call is wrong. The message lists every mistake with its place. */
export class DevicesFileError extends Error {
  override readonly name = 'DevicesFileError';
}

/** Parses `value`; throws DevicesFileError that names each place below `place` and what is wrong there. */
export function check<T extends z.ZodType>(schema: T, value: unknown, place: string): z.output<T> {
  const result = schema.safeParse(value);
  if (result.success) return result.data;
  throw new DevicesFileError(result.error.issues.flatMap((issue) => describe(issue, place)).join('\n'));
}

function describe(issue: z.core.$ZodIssue, place: string): string[] {
  const at = [place, ...issue.path.map(String)].join('.');
  if (issue.code === 'unrecognized_keys')
    return issue.keys.map((key) => `${at}.${key}: there is no such option${didYouMean(key)}`);
  // Of a union's branches, the one that got furthest says best what is wrong.
  if (issue.code === 'invalid_union' && issue.errors.length > 0) {
    const best = issue.errors.reduce((one, other) => (progress(other) > progress(one) ? other : one));
    return best.flatMap((inner) => describe(inner, at));
  }
  return [`${at}: ${issue.message}`];
}

function progress(branch: readonly z.core.$ZodIssue[]): number {
  return Math.max(0, ...branch.map((issue) => issue.path.length + (issue.code === 'invalid_type' ? 0 : 1)));
}

function didYouMean(key: string): string {
  const near = OPTION_NAMES.map((name) => ({
    name,
    distance: editDistance(key.toLowerCase(), name.toLowerCase()),
  }))
    .filter(({ distance }) => distance <= Math.min(2, key.length / 2))
    .sort((a, b) => a.distance - b.distance)[0];
  return near ? `; did you mean ${near.name}?` : '; docs/simulator.md lists them all';
}

function editDistance(a: string, b: string): number {
  let row = Array.from({ length: b.length + 1 }, (_, index) => index);
  for (let i = 1; i <= a.length; i++) {
    const next = [i];
    for (let j = 1; j <= b.length; j++)
      next[j] = Math.min(
        (row[j] ?? 0) + 1,
        (next[j - 1] ?? 0) + 1,
        (row[j - 1] ?? 0) + (a[i - 1] === b[j - 1] ? 0 : 1),
      );
    row = next;
  }
  return row[b.length] ?? 0;
}
