/** Keeps one connection's requests within what its API allows: declared limits, spacing, and the pauses that the API asks for. */
import { setTimeout as sleep } from 'node:timers/promises';
import type { Limit } from '../domain/catalogue/definition.ts';
import type { DeviceReply } from '../domain/exchange.ts';

/** A longer wait is handed back to the caller, who can wait durably: a worker's slot is no place to sit out minutes. */
export const LONGEST_HOLD_MS = 2_000;
/** A header that asks for more than a day is a mistake in its reading, or in the header. */
const LONGEST_PAUSE_MS = 24 * 60 * 60 * 1000;

export interface Pace {
  /**
   * Takes the place of one request in the connection's budget, after holding it for as long as that takes.
   * Returns 0 when the request may go now; else the milliseconds still to wait, and no place was taken.
   * Rejects only when `signal` aborts.
   */
  take(purpose: 'read' | 'send', signal?: AbortSignal): Promise<number>;
  /** Learns from a reply's headers. Returns the pause in milliseconds that the API asks for, or null. */
  learn(reply: Pick<DeviceReply, 'status' | 'headers'>, limited: boolean): number | null;
}

export function createPace(limits: readonly Limit[], spacingMs: number, now: () => number = Date.now): Pace {
  const taken: number[] = [];
  const longest = Math.max(0, ...limits.map((limit) => limit.perMs));
  /** Until when reads, and until when sends, are held. */
  const held = { read: 0, send: 0 };

  function waitFor(purpose: 'read' | 'send', at: number): number {
    const last = taken.at(-1);
    const spaced = last === undefined ? 0 : last + spacingMs - at;
    const counted = limits.map((limit) => {
      const allowed = limit.requests - (purpose === 'send' ? limit.keepForReads : 0);
      const oldest = taken[taken.length - allowed];
      return oldest === undefined ? 0 : oldest + limit.perMs - at;
    });
    return Math.max(0, held[purpose] - at, spaced, ...counted);
  }

  function hold(purpose: 'read' | 'send', until: number): void {
    held[purpose] = Math.max(held[purpose], until);
  }

  return {
    async take(purpose, signal) {
      const giveUpAt = now() + LONGEST_HOLD_MS;
      for (;;) {
        signal?.throwIfAborted();
        const at = now();
        const waitMs = waitFor(purpose, at);
        if (waitMs === 0) {
          taken.push(at);
          // The last one stays for the spacing; of the others only those that still count.
          while (taken.length > 1 && at - (taken[0] ?? at) >= longest) taken.shift();
          return 0;
        }
        if (at + waitMs > giveUpAt) return waitMs;
        await sleep(waitMs, undefined, signal === undefined ? {} : { signal });
      }
    },

    learn(reply, limited) {
      const at = now();
      for (const limit of limits) {
        const remaining = numberIn(reply.headers, limit.remainingHeader);
        const resetMs = resetIn(reply.headers, limit.resetHeader, at);
        if (remaining === null || resetMs === null) continue;
        if (remaining <= 0) hold('read', at + resetMs);
        if (remaining <= limit.keepForReads) hold('send', at + resetMs);
      }
      const pauseMs = limited || reply.status === 503 ? pauseIn(reply.headers, limits, at) : null;
      if (pauseMs !== null) {
        hold('read', at + pauseMs);
        hold('send', at + pauseMs);
      }
      return pauseMs;
    },
  };
}

function pauseIn(headers: DeviceReply['headers'], limits: readonly Limit[], at: number): number | null {
  const asked = retryAfterMs(headers, at);
  if (asked !== null) return asked;
  const resets = limits.map((limit) => resetIn(headers, limit.resetHeader, at)).filter((ms) => ms !== null);
  return resets.length === 0 ? null : Math.max(...resets);
}

/** `Retry-After` in milliseconds: a number of seconds, or a date (measured against the reply's own `Date`, whose clock it is). */
export function retryAfterMs(headers: DeviceReply['headers'], at: number): number | null {
  const text = headers['retry-after']?.trim();
  if (text === undefined || text === '') return null;
  if (/^\d+(\.\d+)?$/.test(text)) return bounded(Number(text) * 1000);
  // JavaScript reads "-5" as a date as well; those of HTTP begin with the day's name.
  const date = /^[A-Za-z]{3}/.test(text) ? Date.parse(text) : Number.NaN;
  if (Number.isNaN(date)) return null;
  const theirNow = Date.parse(headers['date'] ?? '');
  return bounded(date - (Number.isNaN(theirNow) ? at : theirNow));
}

/** A reset header in milliseconds from now. APIs count it in seconds from now, in epoch seconds or in epoch milliseconds. */
function resetIn(headers: DeviceReply['headers'], name: string | null, at: number): number | null {
  const value = numberIn(headers, name);
  if (value === null) return null;
  if (value >= 1e12) return bounded(value - at);
  if (value >= 1e9) return bounded(value * 1000 - at);
  return bounded(value * 1000);
}

function numberIn(headers: DeviceReply['headers'], name: string | null): number | null {
  const text = name === null ? undefined : headers[name.toLowerCase()]?.trim();
  return text !== undefined && /^\d+(\.\d+)?$/.test(text) ? Number(text) : null;
}

/** null: nobody means that. */
function bounded(ms: number): number | null {
  return ms > LONGEST_PAUSE_MS ? null : Math.max(0, Math.ceil(ms));
}
