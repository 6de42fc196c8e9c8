/** Makes the request of a connection whose reply holds a token, and finds it there. For `login`, and for signing schemes that need one. */
import type { TokenRequest } from '../../domain/catalogue/auth-definition.ts';
import { outcomeOf } from '../../domain/expression-scope.ts';
import type { Json } from '../../domain/values.ts';
import { retryAfterMs } from '../asked-pauses.ts';
import { decodeReply } from '../http-reply.ts';
import { type Endpoint, type HttpRequest, requestOnce } from '../http-request.ts';
import type { Obtained } from './session.ts';

/** Whatever is longer is no token, but a page. */
const LONGEST_TOKEN = 16_384;

/** Once. Follows no redirect: it carries what signs us in. */
export async function requestToken(
  endpoint: Endpoint,
  request: HttpRequest,
  { pick, expires, expiresAfterMs }: TokenRequest,
): Promise<Obtained> {
  const answer = await requestOnce(endpoint, request);
  const host = new URL(endpoint.origin).host;
  if (answer.kind !== 'reply') return { kind: 'away', why: answer.why, retryAfterMs: null };
  const { status, headers } = answer;
  if (status === 429 || status >= 500) {
    const pauseMs = retryAfterMs(headers, Date.now());
    return { kind: 'away', why: `${host} answers its sign-in with HTTP ${status}`, retryAfterMs: pauseMs };
  }
  if (status >= 400) return { kind: 'refused', why: `${host} refuses its sign-in (HTTP ${status})` };
  // Unhidden: what is looked for in it is the secret itself.
  const { reply } = decodeReply(answer, {
    source: (text) => text,
    text: (text) => text,
    json: (value) => value,
  });
  const scope = { input: { status, headers, body: reply.body }, bindings: {} };
  const token = pick === null ? cookiesIn(headers['set-cookie']) : (await outcomeOf(pick, scope)).value;
  if (typeof token !== 'string' || token === '' || token.length > LONGEST_TOKEN || !isHeaderText(token)) {
    const where =
      pick === null ? 'sets no cookie' : `has no token where the catalogue looks for it (${pick})`;
    return { kind: 'refused', why: `the reply of ${host} to its sign-in (HTTP ${status}) ${where}` };
  }
  const told = expires === null ? undefined : (await outcomeOf(expires, scope)).value;
  const at = Date.now();
  const expiresAt = expiresAfterMs === null ? timeIn(told, at) : at + expiresAfterMs;
  return { kind: 'session', token, expiresAt, refreshToken: null };
}

/** `Set-Cookie` headers, joined by commas, as they go into `Cookie`. A date in one holds a comma as well. */
function cookiesIn(header: string | undefined): string {
  return (header ?? '')
    .split(/,\s*(?=[^;,=\s]+=)/)
    .map((cookie) => cookie.split(';', 1)[0]?.trim() ?? '')
    .filter((pair) => pair.includes('='))
    .join('; ');
}

const isHeaderText = (text: string): boolean => /^[\x20-\x7e]*$/.test(text);

/** Seconds from now, epoch seconds, epoch milliseconds or a date, as epoch ms. null: it says nothing. */
function timeIn(told: Json | undefined, at: number): number | null {
  const number =
    typeof told === 'number' || (typeof told === 'string' && /^\d+(\.\d+)?$/.test(told))
      ? Number(told)
      : null;
  if (number === null) {
    const date = typeof told === 'string' ? Date.parse(told) : Number.NaN;
    return Number.isNaN(date) ? null : date;
  }
  if (number >= 1e12) return number;
  return number >= 1e9 ? number * 1000 : at + number * 1000;
}
