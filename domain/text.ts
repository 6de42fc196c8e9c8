/** How values, durations and strangers' texts are written for people. */
import type { Desired, Value } from './values.ts';

/** `26 °C`, `70 %`, `cool`. */
export function formatValue(value: Value | null, unit: string | null, longest = 64): string {
  if (value === null) return 'unknown';
  if (value === true) return 'done';
  const text = typeof value === 'number' ? String(rounded(value)) : quoteIfOdd(String(value), longest);
  return typeof value === 'number' && unit !== null ? `${text} ${unit}` : text;
}

/** Three decimals; so large a number has none, and would overflow. */
const rounded = (value: number): number =>
  Math.abs(value) < Number.MAX_SAFE_INTEGER ? Math.round(value * 1000) / 1000 : value;

const quoteIfOdd = (text: string, longest: number): string =>
  /^[\w.+-]{1,40}$/.test(text) ? text : `"${plain(text, longest)}"`;

/** `temperature 26 °C, mode cool` */
export const desiredInWords = ({
  desired,
  units,
}: {
  readonly desired: Desired;
  readonly units: Readonly<Record<string, string | null>>;
}): string =>
  Object.entries(desired)
    .map(([field, value]) => `${plain(field, 64)} ${formatValue(value, units[field] ?? null)}`)
    .join(', ');

/** `800 ms`, `4 s`, `90 s`, `12 min`, `3 h`, `2 d`. */
export function formatDuration(ms: number): string {
  if (ms < 1000) return `${Math.max(0, Math.round(ms))} ms`;
  const seconds = Math.round(ms / 1000);
  if (seconds < 120) return `${seconds} s`;
  const minutes = Math.round(seconds / 60);
  if (minutes < 120) return `${minutes} min`;
  const hours = Math.round(minutes / 60);
  return hours < 48 ? `${hours} h` : `${Math.round(hours / 24)} d`;
}

/** `2026-03-01 14:32:05 UTC`: whoever reads it may be in another zone, on another day. */
export const clockTime = (at: number): string =>
  `${new Date(at).toISOString().slice(0, 19).replace('T', ' ')} UTC`;

/** A stranger's text made harmless: no control, formatting or bidi characters, one line, at most `limit` characters. */
export function plain(text: string, limit: number): string {
  // C covers controls, bidi and zero-width formatting, private use and unpaired surrogates; Z every kind of space.
  const clean = text.replace(/[\p{C}\p{Z}]+/gu, ' ').trim();
  const characters = Array.from(clean);
  return characters.length <= limit ? clean : `${characters.slice(0, limit - 1).join('')}…`;
}
