/** A connection of the catalogue over HTTP: signs in, stays on its origin, keeps its pace, and makes each request once. */
import type { Purpose } from '../domain/budget.ts';
import type { Connection, ReplyClass, ReplyRules } from '../domain/catalogue/definition.ts';
import type { DeviceReply, DeviceRequest } from '../domain/exchange.ts';
import { classifyReply } from '../domain/interpretation.ts';
import { authorizationOf } from './authorization.ts';
import type { Lender } from './borrowing.ts';
import { baseOf, isRedirect, locate, redirectFlaw, sameOriginRedirect } from './http-origin.ts';
import { decodeReply } from './http-reply.ts';
import type { HttpAnswer, HttpRequest } from './http-request.ts';
import { createPace, type NoPlace } from './pacing.ts';
import type { Credentials, Way } from './sign-in/credentials.ts';
import type { NotSignedIn } from './sign-in/session.ts';
import { memorySignIns, type SignInStore } from './sign-in/store.ts';
import { trustOf } from './tls-files.ts';
import { tracedRequest } from './traced-request.ts';
import { unlessAborted } from './unless-aborted.ts';

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
  | NoPlace
  | { readonly kind: 'unreached' | 'lost'; readonly why: string }
  /** Nobody is signed in, so nothing was done; `why` says what to do about it. */
  | NotSignedIn;

export interface ExchangeOptions {
  /** A read may be broken off and may follow a redirect. A send, once on its way, is let finish: breaking it off would only lose its reply. */
  readonly purpose: Purpose;
  /** Whose turn at the connection it takes. */
  readonly device: string;
  readonly rules: ReplyRules;
  /** A second time does no harm. Always so for a read. */
  readonly repeatable?: boolean;
  readonly signal?: AbortSignal | undefined;
}

export interface HttpConnection {
  /**
   * One request that is taken, once: one that is turned away for want of a sign-in is made again, once, after signing in
   * anew, where it is certain that it did nothing. Rejects only when `signal` aborts: a read at any moment, a send only
   * before it begins.
   */
  exchange(request: DeviceRequest, options: ExchangeOptions): Promise<Exchanged>;
  /** Nothing is exchanged afterwards. */
  close(): Promise<void>;
}

export interface HttpConnectionOptions {
  readonly maxReplyBytes?: number | undefined;
  /** Where sign-ins are kept. Default: with this connection alone. */
  readonly signIns?: SignInStore | undefined;
  /** Who keeps the budget of its limits. Default: this connection alone. */
  readonly lender?: Lender | undefined;
}

/** Throws, naming the connection, for what can't be used: a secret, a base URL, a file of its TLS. */
export function openHttpConnection(
  connection: Connection,
  { maxReplyBytes, signIns = memorySignIns(), lender }: HttpConnectionOptions = {},
): HttpConnection {
  const base = baseOf(connection);
  const pace = createPace(connection, lender);
  const { timeoutMs } = connection;
  const endpoint = { origin: base.origin, tls: trustOf(connection), timeoutMs, maxReplyBytes };
  const authorization = authorizationOf(connection, endpoint, signIns);

  /** Each request has a place of its own in the budget, also where a redirect leads to. It is signed when it has one. */
  async function once(sign: () => HttpRequest, options: ExchangeOptions): Promise<HttpAnswer | NoPlace> {
    const place = await pace.take(options.purpose, options.device, options.signal);
    if (place.kind === 'held') return place;
    try {
      return await tracedRequest(endpoint, sign(), isSend(options) ? undefined : options.signal);
    } finally {
      place.end();
    }
  }

  async function follow(
    request: DeviceRequest,
    path: string,
    credentials: Credentials,
    options: ExchangeOptions,
  ): Promise<HttpAnswer | NoPlace> {
    const mayFollow = !isSend(options) && request.method === 'GET' && authorization.followsRedirects;
    const headers = { accept: 'application/json, */*;q=0.5', ...own(request.headers) };
    let at = path;
    for (let hops = 0; ; hops++) {
      const sign = () => credentials.apply({ ...request, path: at, headers });
      const answer = await once(sign, options);
      const isOver = !mayFollow || hops >= MOST_REDIRECTS || answer.kind !== 'reply';
      const next = isOver ? null : sameOriginRedirect(answer, base.origin, at);
      if (next === null) return answer;
      at = next;
    }
  }

  /** One attempt, and what the API said to it. */
  async function attempt(
    request: DeviceRequest,
    path: string,
    credentials: Credentials,
    options: ExchangeOptions,
  ) {
    const answer = await follow(request, path, credentials, options);
    if (!isSend(options)) options.signal?.throwIfAborted();
    if (answer.kind !== 'reply') return { headers: {}, exchanged: answer };
    const { reply, flaw } = decodeReply(answer, authorization.hiding);
    const replyClass = await classifyReply(options.rules, reply);
    if (replyClass !== 'signedOut') credentials.worked();
    const exchanged: Reply = {
      kind: 'reply',
      reply,
      class: replyClass,
      flaw: isRedirect(reply.status) ? redirectFlaw(reply, base.origin) : flaw,
      pauseMs: pace.learn(reply, replyClass === 'limited'),
      at: Date.now(),
    };
    return { headers: answer.headers, exchanged };
  }

  return {
    async exchange(request, options) {
      const path = locate(base, request.path);
      if (path.objection !== null) return { kind: 'unreached', why: path.objection };
      return await signedIn(authorization, options, (credentials) =>
        attempt(request, path.value, credentials, options),
      );
    },
    close: () => pace.close(),
  };
}

const isSend = ({ purpose }: ExchangeOptions): boolean => purpose === 'send';

type Reply = Extract<Exchanged, { kind: 'reply' }>;

interface Attempted {
  /** As they came: they may hold a challenge. */
  readonly headers: DeviceReply['headers'];
  readonly exchanged: Exchanged;
}

/** One attempt, and another one with other credentials where the API turned the first one away for want of them. */
async function signedIn(
  authorization: Way,
  options: ExchangeOptions,
  attempt: (credentials: Credentials) => Promise<Attempted>,
): Promise<Exchanged> {
  const credentials = await unlessAborted(authorization.credentials(), options.signal);
  if (credentials.kind !== 'credentials') return credentials;
  const first = await attempt(credentials);
  if (!isSignedOut(first.exchanged)) return first.exchanged;
  const renewed = await credentials.renew(first.headers);
  if (renewed === null) return first.exchanged;
  if (mayHaveActed(first.exchanged, options)) return notRepeated(first.exchanged);
  if (renewed.kind !== 'credentials') return turnedAway(first.exchanged, renewed);
  const second = await attempt(renewed);
  if (!isSignedOut(second.exchanged)) return second.exchanged;
  const refused = renewed.refused(second.headers);
  if (refused === null) return second.exchanged;
  return mayHaveActed(second.exchanged, options)
    ? notRepeated(second.exchanged)
    : turnedAway(second.exchanged, refused);
}

const isSignedOut = (exchanged: Exchanged): exchanged is Reply =>
  exchanged.kind === 'reply' && exchanged.class === 'signedOut';

const turnedAway = ({ reply }: Reply, why: NotSignedIn): NotSignedIn => ({
  ...why,
  why: `HTTP ${reply.status}; ${why.why}`,
});

/** A 4xx is a refusal by its status. What only a text of a 200 says may come after the fact. */
const mayHaveActed = ({ reply: { status } }: Reply, options: ExchangeOptions): boolean =>
  isSend(options) && options.repeatable !== true && !(status >= 400 && status < 500);

const notRepeated = (exchanged: Reply): Reply => ({ ...exchanged, class: 'maybe', flaw: NOT_REPEATED });

const NOT_REPEATED =
  'it says that we were signed out; it was not sent again, since that proves not that nothing was done, and the catalogue does not call it repeatable';

function own(headers: Readonly<Record<string, string>>): Record<string, string> {
  return Object.fromEntries(
    Object.entries(headers)
      .map(([name, value]) => [name.toLowerCase(), value] as const)
      .filter(([name]) => !RESERVED_HEADERS.has(name)),
  );
}
