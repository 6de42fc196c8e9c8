import { plain } from './text.ts';

/** A value as a stranger gave it, quoted and short, for an error: `"warm"`, `82`, `an object`. */
export function quoted(value: unknown): string {
  if (typeof value === 'string') return JSON.stringify(plain(value.slice(0, 1000), 64));
  if (value === null || typeof value === 'number' || typeof value === 'boolean') return String(value);
  if (value === undefined) return 'nothing';
  return Array.isArray(value) ? 'a list' : 'an object';
}
