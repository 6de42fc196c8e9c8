/** Accounts that have to be signed in to: signatures that are checked, challenges, and tokens that come, change and expire. */
import { createHash, createHmac, randomUUID, timingSafeEqual } from 'node:crypto';
import type { IncomingHttpHeaders } from 'node:http';
import type {
  AccountAuth,
  DigestOptions,
  LoginOptions,
  OAuthOptions,
  SignOptions,
} from './account-options.ts';

export interface SignInRequest {
  readonly method: string;
  /** As it came, query included. */
  readonly url: string;
  readonly headers: IncomingHttpHeaders;
  readonly body: string;
}

export interface SignInReply {
  readonly status: number;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: Readonly<Record<string, string | number>>;
}

export interface AccountCounters {
  /** Logins and token requests that were granted, and that were refused. */
  granted: number;
  refused: number;
}

export interface Account {
  readonly counters: AccountCounters;
  /** undefined: the request is signed in. Else the answer that turns it away. */
  turnAway(request: SignInRequest, now: number): SignInReply | undefined;
  /** `POST /sign-in/{account}`. undefined: nobody signs in like that here. */
  signIn(request: SignInRequest, now: number): SignInReply | undefined;
  /** Everything given so far is void; with `all`, refresh tokens and the login itself as well. */
  signOut(all: boolean): void;
}

export function createAccount(auth: AccountAuth): Account {
  const counters: AccountCounters = { granted: 0, refused: 0 };
  const grant = (body: SignInReply['body'], headers: SignInReply['headers'] = {}): SignInReply => {
    counters.granted++;
    return { status: 200, headers, body };
  };
  const refuse = (status: number, error: string): SignInReply => {
    counters.refused++;
    return { status, headers: {}, body: { error } };
  };
  const tools = { grant, refuse };
  if ('sign' in auth) return { counters, ...signed(auth.sign) };
  if ('digest' in auth) return { counters, ...digest(auth.digest, counters) };
  if ('oauth' in auth) return { counters, ...oauth(auth.oauth, tools) };
  return { counters, ...login(auth.login, tools) };
}

type Way = Omit<Account, 'counters'>;
interface Tools {
  readonly grant: (body: SignInReply['body'], headers?: SignInReply['headers']) => SignInReply;
  readonly refuse: (status: number, error: string) => SignInReply;
}

const unauthorized = (error: string, headers: SignInReply['headers'] = {}): SignInReply => ({
  status: 401,
  headers,
  body: { error },
});

const headerOf = (headers: IncomingHttpHeaders, name: string | undefined): string =>
  name === undefined ? '' : String(headers[name.toLowerCase()] ?? '');

/** As a cloud checks it: the signature, the age of its time, and that no nonce comes twice. */
function signed(options: SignOptions): Way {
  const seen = new Set<string>();
  return {
    turnAway({ method, url, headers, body }, now) {
      const timestamp = headerOf(headers, options.timestamp?.header);
      const nonce = headerOf(headers, options.nonce);
      const [path = '', query = ''] = url.split('?');
      const words: Readonly<Record<string, string>> = {
        method,
        path: url,
        sortedPath: query === '' ? path : `${path}?${query.split('&').sort().join('&')}`,
        body,
        bodyHash: createHash(options.hash).update(body).digest('hex'),
        timestamp,
        nonce,
        token: options.token ?? '',
        clientId: options.clientId ?? '',
      };
      const text = options.over.replace(/\{(\w+)\}/g, (_, word: string) => words[word] ?? '');
      const mac = createHmac(options.hash, options.secret).update(text);
      const expected =
        options.encode === 'HEX' ? mac.digest('hex').toUpperCase() : mac.digest(options.encode);
      if (!isSame(headerOf(headers, options.header), `${options.prefix}${expected}`))
        return unauthorized('the signature is wrong');
      if (options.timestamp !== undefined) {
        const at = Number(timestamp) * (options.timestamp.in === 'seconds' ? 1000 : 1);
        if (!(Math.abs(now - at) <= options.timestamp.within)) return unauthorized('its time is not now');
      }
      if (options.nonce !== undefined) {
        if (nonce === '' || seen.has(nonce)) return unauthorized('this nonce was used before');
        seen.add(nonce);
      }
      return undefined;
    },
    signIn: () => undefined,
    signOut: () => seen.clear(),
  };
}

function digest(options: DigestOptions, counters: AccountCounters): Way {
  /** How often each nonce may still be used, and the highest count seen with it. */
  const nonces = new Map<string, { count: number }>();
  const hash = (text: string): string =>
    createHash(options.algorithm === 'MD5' ? 'md5' : 'sha256')
      .update(text)
      .digest('hex');
  const challenge = (error: string, stale = false): SignInReply => {
    const nonce = randomUUID();
    nonces.set(nonce, { count: 0 });
    const parts = [`realm="simulator"`, `nonce="${nonce}"`, `algorithm=${options.algorithm}`, 'qop="auth"'];
    if (stale) parts.push('stale=true');
    return unauthorized(error, { 'www-authenticate': `Digest ${parts.join(', ')}` });
  };
  return {
    turnAway({ method, url, headers }) {
      const given = parametersIn(headerOf(headers, 'authorization'));
      const { nonce = '', uri = '', response = '', nc = '', cnonce = '', qop = '', username } = given;
      if (given['nonce'] === undefined) return challenge('not signed in');
      const known = nonces.get(nonce);
      const account = hash(`${options.username}:simulator:${options.password}`);
      const expected = hash(`${account}:${nonce}:${nc}:${cnonce}:${qop}:${hash(`${method}:${uri}`)}`);
      if (username !== options.username || uri !== url || !isSame(response, expected)) {
        counters.refused++;
        return challenge('the username or the password is wrong');
      }
      const count = Number.parseInt(nc, 16);
      if (known === undefined || known.count >= options.nonceUses) return challenge('the nonce is old', true);
      if (!(count > known.count)) return challenge('this count was used before', true);
      known.count = count;
      return undefined;
    },
    signIn: () => undefined,
    signOut: () => nonces.clear(),
  };
}

function parametersIn(header: string): Readonly<Record<string, string | undefined>> {
  const parameters = /^Digest /i.test(header) ? header.slice('Digest '.length) : '';
  const pairs = parameters.matchAll(/(\w+)=(?:"([^"]*)"|([^\s,]*))/g);
  return Object.fromEntries([...pairs].map(([, name = '', quoted, bare]) => [name, quoted ?? bare ?? '']));
}

/** Access tokens by the minute; a refresh token that is good once, where it rotates. */
function oauth(options: OAuthOptions, { grant, refuse }: Tools): Way {
  const tokens = createTokens(options.expires);
  let refreshToken = options.refreshToken;
  return {
    turnAway: ({ headers }, now) =>
      tokens.has(headerOf(headers, 'authorization').replace(/^Bearer /, ''), now)
        ? undefined
        : unauthorized('the access token is expired or unknown'),
    signIn({ headers, body }, now) {
      const form = new URLSearchParams(body);
      const [scheme, pair = ''] = headerOf(headers, 'authorization').split(' ');
      const [id, secret] =
        scheme === 'Basic'
          ? Buffer.from(pair, 'base64')
              .toString()
              .split(':')
              .map((part) => decodeURIComponent(part.replaceAll('+', ' ')))
          : [form.get('client_id') ?? '', form.get('client_secret') ?? undefined];
      if (id !== options.clientId || secret !== options.clientSecret) return refuse(401, 'invalid_client');
      const type = form.get('grant_type');
      if (type !== (options.refreshToken === undefined ? 'client_credentials' : 'refresh_token'))
        return refuse(400, 'unsupported_grant_type');
      if (
        type === 'refresh_token' &&
        (refreshToken === undefined || form.get('refresh_token') !== refreshToken)
      )
        return refuse(400, 'invalid_grant');
      if (type === 'refresh_token' && options.rotates) refreshToken = `refresh-${randomUUID()}`;
      return grant({
        access_token: tokens.issue(now),
        token_type: 'Bearer',
        expires_in: Math.floor(options.expires / 1000),
        ...(options.rotates && refreshToken !== undefined ? { refresh_token: refreshToken } : {}),
      });
    },
    signOut(all) {
      tokens.clear();
      if (all) refreshToken = undefined;
    },
  };
}

function login(options: LoginOptions, { grant, refuse }: Tools): Way {
  const tokens = createTokens(options.expires);
  let open = true;
  const isCookie = options.gives === 'cookie';
  return {
    turnAway({ headers }, now) {
      const given = isCookie
        ? (/(?:^|;\s*)session=([^;]+)/.exec(headerOf(headers, 'cookie'))?.[1] ?? '')
        : headerOf(headers, 'authorization').replace(/^Bearer /, '');
      return tokens.has(given, now) ? undefined : unauthorized('not signed in');
    },
    signIn({ headers, body }, now) {
      const { username, password } = fieldsOf(body, headerOf(headers, 'content-type'));
      if (!open || username !== options.username || password !== options.password)
        return refuse(401, 'the username or the password is wrong');
      const token = tokens.issue(now);
      const cookie = `session=${token}; Path=/; Expires=${new Date(now + options.expires).toUTCString()}; HttpOnly`;
      return isCookie
        ? grant({ ok: 'signed in' }, { 'set-cookie': cookie })
        : grant({ token, expiresIn: Math.floor(options.expires / 1000) });
    },
    signOut(all) {
      tokens.clear();
      if (all) open = false;
    },
  };
}

function createTokens(expires: number) {
  const until = new Map<string, number>();
  return {
    issue(now: number): string {
      const token = `token-${randomUUID()}`;
      until.set(token, now + expires);
      return token;
    },
    has: (token: string, now: number): boolean => (until.get(token) ?? 0) > now,
    clear: () => until.clear(),
  };
}

function fieldsOf(body: string, type: string): Readonly<Record<string, unknown>> {
  if (type.includes('x-www-form-urlencoded')) return Object.fromEntries(new URLSearchParams(body));
  try {
    const parsed: unknown = JSON.parse(body);
    return typeof parsed === 'object' && parsed !== null ? { ...parsed } : {};
  } catch {
    return {};
  }
}

function isSame(given: string, expected: string): boolean {
  const [one, other] = [Buffer.from(given), Buffer.from(expected)];
  return one.length === other.length && timingSafeEqual(one, other);
}
