/** A connection of the catalogue over HTTP: signs in, stays on its origin, keeps its pace, and makes each request once. */
import { readFileSync } from 'node:fs';
import type { Connection, ReplyClass, ReplyRules } from '../domain/catalogue/definition.ts';
import type { DeviceReply, DeviceRequest } from '../domain/exchange.ts';
import { classifyReply } from '../domain/interpretation.ts';
import { authorizationOf } from './authorization.ts';
import { decodeReply } from './http-reply.ts';
import type { HttpAnswer, HttpRequest, TlsTrust } from './http-request.ts';
import { createPace } from './pacing.ts';
import { tracedRequest } from './traced-request.ts';

const MOST_REDIRECTS = 3;
/** These are the transport's or the connection's own: a device's headers must not change where a request ends up. */
const RESERVED_HEADERS = new Set([
  'host',
  'connection',
  'content-length',
  'transfer-encoding',
  'upgrade',
  'expect',
  'te',
]);

export type Exchanged =
  | {
      readonly kind: 'reply';
      readonly reply: DeviceReply;
      readonly class: ReplyClass;
      /** As in `DecodedReply`. */
      readonly flaw: string | null;
      /** The API asks for a pause of so many milliseconds. */
      readonly pauseMs: number | null;
      readonly at: number;
    }
  /** The connection's budget is used up for so long; nothing was sent. */
  | { readonly kind: 'held'; readonly waitMs: number }
  | { readonly kind: 'unreached' | 'lost'; readonly why: string };

export interface ExchangeOptions {
  /** A read may be broken off and may follow a redirect. A send, once on its way, is let finish: breaking it off would only lose its reply. */
  readonly purpose: 'read' | 'send';
  readonly rules: ReplyRules;
  readonly signal?: AbortSignal | undefined;
}

export interface HttpConnection {
  /** One request, once. Rejects only when `signal` aborts: a read at any moment, a send only before it begins. */
  exchange(request: DeviceRequest, options: ExchangeOptions): Promise<Exchanged>;
}

/** Throws, naming the connection, for what can't be used: a way of signing in, a base URL, a CA file. */
export function openHttpConnection(connection: Connection): HttpConnection {
  const base = baseOf(connection);
  const authorization = authorizationOf(connection);
  const pace = createPace(connection.limits, connection.spacingMs);
  const endpoint = { origin: base.origin, tls: trustOf(connection), timeoutMs: connection.timeoutMs };

  function sign(request: DeviceRequest, path: string): HttpRequest {
    const separator = path.includes('?') ? '&' : '?';
    return {
      method: request.method,
      path: authorization.query === '' ? path : `${path}${separator}${authorization.query}`,
      headers: { accept: 'application/json, */*;q=0.5', ...own(request.headers), ...authorization.headers },
      body: request.body,
    };
  }

  async function follow(request: DeviceRequest, path: string, options: ExchangeOptions): Promise<HttpAnswer> {
    const signal = options.purpose === 'read' ? options.signal : undefined;
    const mayFollow = options.purpose === 'read' && request.method === 'GET';
    let at = path;
    for (let hops = 0; ; hops++) {
      const answer = await tracedRequest(endpoint, sign(request, at), signal);
      const next = mayFollow && hops < MOST_REDIRECTS ? sameOriginRedirect(answer, base.origin, at) : null;
      if (next === null) return answer;
      at = next;
    }
  }

  return {
    async exchange(request, options) {
      const path = locate(base, request.path);
      if (path.objection !== null) return { kind: 'unreached', why: path.objection };
      const waitMs = await pace.take(options.purpose, options.signal);
      if (waitMs > 0) return { kind: 'held', waitMs };
      const answer = await follow(request, path.value, options);
      if (options.purpose === 'read') options.signal?.throwIfAborted();
      if (answer.kind !== 'reply') return answer;
      const { reply, flaw } = decodeReply(answer, authorization.hide);
      const replyClass = await classifyReply(options.rules, reply);
      return {
        kind: 'reply',
        reply,
        class: replyClass,
        flaw: isRedirect(reply.status) ? redirectFlaw(reply, base.origin) : flaw,
        pauseMs: pace.learn(reply, replyClass === 'limited'),
        at: Date.now(),
      };
    },
  };
}

function baseOf(connection: Connection): URL {
  const url = URL.canParse(connection.baseUrl) ? new URL(connection.baseUrl) : null;
  if (url === null || !['http:', 'https:'].includes(url.protocol)) {
    throw new Error(`connection "${connection.name}": its baseUrl must start with http:// or https://`);
  }
  if (url.username !== '' || url.password !== '' || url.search !== '' || url.hash !== '') {
    throw new Error(
      `connection "${connection.name}": its baseUrl is an origin and a path only; secrets belong under auth`,
    );
  }
  return url;
}

function trustOf(connection: Connection): TlsTrust {
  const path = connection.tls?.ca ?? null;
  try {
    return {
      ca: path === null ? undefined : readFileSync(path, 'utf8'),
      insecure: connection.tls?.insecure ?? false,
    };
  } catch (error) {
    throw new Error(`connection "${connection.name}": its tls.ca file ${path} can't be read`, {
      cause: error,
    });
  }
}

/** Puts a rendered path after the base URL's. Whatever was rendered into it, it stays on the origin and below the base path. */
function locate(base: URL, path: string): { value: string; objection: null } | { objection: string } {
  const [pathname = ''] = path.split('?', 1);
  const climbs = pathname.split('/').some((segment) => /^(\.|%2e){1,2}$/i.test(segment));
  // A URL parser would silently drop control characters and a fragment, and turn a backslash into a slash.
  if (!path.startsWith('/') || climbs || /[\p{Cc}\\#]/u.test(path)) {
    return {
      objection: `the path "${pathname.slice(0, 100)}" leaves the connection's base URL; nothing was sent`,
    };
  }
  const url = new URL(`${base.origin}${base.pathname.replace(/\/$/, '')}${path}`);
  return { value: `${url.pathname}${url.search}`, objection: null };
}

function own(headers: Readonly<Record<string, string>>): Record<string, string> {
  return Object.fromEntries(
    Object.entries(headers)
      .map(([name, value]) => [name.toLowerCase(), value] as const)
      .filter(([name]) => !RESERVED_HEADERS.has(name)),
  );
}

const isRedirect = (status: number): boolean => [301, 302, 303, 307, 308].includes(status);

function sameOriginRedirect(answer: HttpAnswer, origin: string, from: string): string | null {
  if (answer.kind !== 'reply' || !isRedirect(answer.status)) return null;
  const target = redirectTarget(answer.headers, `${origin}${from}`);
  return target?.origin === origin ? `${target.pathname}${target.search}` : null;
}

function redirectTarget(headers: DeviceReply['headers'], from: string): URL | null {
  const location = headers['location'];
  return location !== undefined && URL.canParse(location, from) ? new URL(location, from) : null;
}

/** Names the origin alone: a redirect's path and query may carry a session. */
function redirectFlaw(reply: DeviceReply, origin: string): string {
  const target = redirectTarget(reply.headers, origin);
  if (target === null) return 'it redirects to nowhere';
  return target.origin === origin
    ? 'it redirects to another path, which is not followed'
    : `it redirects to another origin, ${target.origin}, which is never followed`;
}
