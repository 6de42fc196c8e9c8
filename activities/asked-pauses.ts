/** The pauses that an API asks for in its replies' headers. Its clock is its own: times are measured against its own `Date`. */
import type { Limit } from '../domain/catalogue/definition.ts';
import type { DeviceReply } from '../domain/exchange.ts';

type Headers = DeviceReply['headers'];

/** A header that asks for more than a day is a mistake in its reading, or in the header. */
const LONGEST_PAUSE_MS = 24 * 60 * 60 * 1000;
/** `Date` has whole seconds; within so much, our own clock is the better one. */
const CLOCKS_AGREE_WITHIN_MS = 3000;

/** For how long the API wants nothing more, in milliseconds; null: it doesn't say. `at`: now, epoch ms. */
export function pauseIn(headers: Headers, limits: readonly Limit[], at: number): number | null {
  const asked = retryAfterMs(headers, at);
  if (asked !== null) return asked;
  const resets = limits.map((limit) => resetIn(headers, limit.resetHeader, at)).filter((ms) => ms !== null);
  return resets.length === 0 ? null : Math.max(...resets);
}

/** How many requests it says are left until when, in milliseconds from now; null: it doesn't say both. */
export function remainingIn(
  headers: Headers,
  { remainingHeader, resetHeader }: Limit,
  at: number,
): { readonly requests: number; readonly resetMs: number } | null {
  const requests = numberIn(headers, remainingHeader);
  const resetMs = resetIn(headers, resetHeader, at);
  return requests === null || resetMs === null ? null : { requests, resetMs };
}

/** `Retry-After` in milliseconds: a number of seconds, or a date. */
export function retryAfterMs(headers: Headers, at: number): number | null {
  const text = headers['retry-after']?.trim();
  if (text === undefined || text === '') return null;
  if (/^\d+(\.\d+)?$/.test(text)) return bounded(Number(text) * 1000);
  // JavaScript reads "-5" as a date as well; those of HTTP begin with the day's name.
  const date = /^[A-Za-z]{3}/.test(text) ? Date.parse(text) : Number.NaN;
  return Number.isNaN(date) ? null : bounded(date - theirNow(headers, at));
}

/** A reset header in milliseconds from now. APIs count it in seconds from now, in epoch seconds or in epoch milliseconds. */
function resetIn(headers: Headers, name: string | null, at: number): number | null {
  const value = numberIn(headers, name);
  if (value === null) return null;
  if (value < 1e9) return bounded(value * 1000);
  return bounded((value >= 1e12 ? value : value * 1000) - theirNow(headers, at));
}

function theirNow(headers: Headers, at: number): number {
  const date = Date.parse(headers['date'] ?? '');
  return Number.isNaN(date) || Math.abs(date - at) < CLOCKS_AGREE_WITHIN_MS ? at : date;
}

function numberIn(headers: Headers, name: string | null): number | null {
  const text = name === null ? undefined : headers[name.toLowerCase()]?.trim();
  return text !== undefined && /^\d+(\.\d+)?$/.test(text) ? Number(text) : null;
}

/** null: nobody means that. */
function bounded(ms: number): number | null {
  return ms > LONGEST_PAUSE_MS ? null : Math.max(0, Math.ceil(ms));
}
