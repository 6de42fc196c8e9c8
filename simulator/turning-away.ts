/** What an API checks before it troubles a device: who asks, how often, and whether the device is awake. */
import type { IncomingHttpHeaders, IncomingMessage } from 'node:http';
import type { Account, SignInRequest } from './account.ts';
import type { Auth, Json, Limit } from './behaviour.ts';
import { type Device, isAsleep } from './device.ts';

export interface Refused {
  readonly status: number;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: Json;
}

/** Counts the requests of each limit in fixed windows. Devices that name the same limit share one budget. */
export interface LimitCounter {
  /** Counts one request. `headers` tell the budget on every answer. */
  count(
    name: string,
    limit: Limit,
    now: number,
  ): { readonly refused: Refused | undefined; readonly headers: Readonly<Record<string, string>> };
  reset(): void;
}

export function createLimitCounter(): LimitCounter {
  const windows = new Map<string, { endsAt: number; used: number }>();
  return {
    count(name, limit, now) {
      let window = windows.get(name);
      if (!window || now >= window.endsAt) {
        window = { endsAt: now + limit.per, used: 0 };
        windows.set(name, window);
      }
      const over = window.used >= limit.requests;
      if (!over) window.used++;
      const headers: Record<string, string> = {};
      // Epoch seconds, rounded up: who waits until then is not early.
      if (limit.resetHeader) headers[limit.resetHeader] = String(Math.ceil(window.endsAt / 1000));
      if (limit.remainingHeader) headers[limit.remainingHeader] = String(limit.requests - window.used);
      if (!over) return { refused: undefined, headers };
      if (limit.retryAfter) headers['retry-after'] = String(Math.ceil((window.endsAt - now) / 1000));
      return { refused: { status: limit.status, headers, body: { error: 'too many requests' } }, headers };
    },
    reset: () => windows.clear(),
  };
}

/** `account`: for those ways of signing in that need to remember something. */
export function notSignedIn(
  auth: Auth | undefined,
  account: Account | undefined,
  request: SignInRequest,
  now: number,
): Refused | undefined {
  if (account) return account.turnAway(request, now);
  const { searchParams } = new URL(request.url, 'http://simulator');
  if (!auth || signedIn(auth, request.headers, searchParams)) return undefined;
  return { status: 401, headers: {}, body: { error: 'not signed in, or the token is wrong' } };
}

function signedIn(auth: Auth, headers: IncomingHttpHeaders, query: URLSearchParams): boolean {
  if ('bearer' in auth) return headers.authorization === `Bearer ${auth.bearer}`;
  if ('basic' in auth) {
    const pair = Buffer.from(`${auth.basic.username}:${auth.basic.password}`).toString('base64');
    return headers.authorization === `Basic ${pair}`;
  }
  if ('header' in auth)
    return Object.entries(auth.header).every(([name, value]) => headers[name.toLowerCase()] === value);
  if (!('query' in auth)) return false;
  return Object.entries(auth.query).every(([name, value]) => query.get(name) === value);
}

/** Path and headers as they may be shown to anybody. */
export function withoutSecrets(
  { url = '/', headers }: IncomingMessage,
  auth: Auth | undefined,
): { path: string; headers: Record<string, string> } {
  const { pathname, searchParams } = new URL(url, 'http://simulator');
  for (const name of auth && 'query' in auth ? Object.keys(auth.query) : [])
    if (searchParams.has(name)) searchParams.set(name, 'hidden');
  const own = auth && 'header' in auth ? Object.keys(auth.header) : [];
  const token = auth && 'sign' in auth ? auth.sign.token : undefined;
  const secret = ['authorization', 'cookie', ...own.map((name) => name.toLowerCase())];
  const shown = Object.entries(headers).filter(([name, value]) => !secret.includes(name) && value !== token);
  return {
    path: searchParams.size > 0 ? `${pathname}?${searchParams.toString()}` : pathname,
    headers: Object.fromEntries(shown.map(([name, value]) => [name, String(value)])),
  };
}

export function stillAsleep(device: Device, purpose: 'send' | 'read', now: number): Refused | undefined {
  const { sleeps } = device.definition;
  if (!sleeps || !('untilWoken' in sleeps) || !isAsleep(device, now)) return undefined;
  if (purpose === 'read' && sleeps.reads === 'cached') return undefined;
  return { status: sleeps.status, headers: {}, body: sleeps.body ?? { error: 'the device is asleep' } };
}
