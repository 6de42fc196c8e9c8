/** Who we are to a device's API. The only code that touches a connection's secrets, and that keeps them out of what comes back. */
import { validateHeaderName, validateHeaderValue } from 'node:http';
import type { Auth, SignScheme } from '../domain/catalogue/auth-definition.ts';
import type { Connection } from '../domain/catalogue/definition.ts';
import type { Endpoint, HttpRequest } from './http-request.ts';
import {
  byDigest,
  bySession,
  type Credentials,
  constant,
  UNCHANGING,
  type Way,
} from './sign-in/credentials.ts';
import { createHiding, type Hiding } from './sign-in/hiding.ts';
import { loginRequest, underBase } from './sign-in/login-request.ts';
import { requestAccessToken } from './sign-in/oauth.ts';
import { keepSession } from './sign-in/session.ts';
import { createSigner } from './sign-in/signature.ts';
import type { SignInStore } from './sign-in/store.ts';
import { requestToken } from './sign-in/token-request.ts';

export interface Authorization extends Way {
  /** Replaces secrets in what came from outside. */
  readonly hiding: Hiding;
}

/** Throws, naming the connection, for a secret that HTTP can't carry or that isn't written as its scheme says. */
export function authorizationOf(
  connection: Connection,
  endpoint: Endpoint,
  store: SignInStore,
): Authorization {
  const { auth, secrets } = connection;
  const hiding = createHiding(secretsIn(auth), Object.values(secrets));
  const steady = (
    headers: Readonly<Record<string, string>>,
    query: Readonly<Record<string, string>> = {},
  ) => ({
    ...constant(checked(connection, headers), query),
    hiding,
  });
  switch (auth.kind) {
    case 'none':
      return steady({});
    case 'bearer':
      return steady({ authorization: `Bearer ${auth.token}` });
    case 'basic':
      return steady({ authorization: `Basic ${basicPair(auth)}` });
    case 'header':
      return steady(auth.values);
    case 'query':
      return steady({}, auth.values);
    case 'digest':
      return { ...byDigest(connection.name, auth), hiding };
    case 'sign':
      return { ...signing(connection, auth, endpoint, store, hiding), followsRedirects: false, hiding };
    case 'oauth': {
      checked(connection, { authorization: auth.clientId });
      const tokens: Endpoint = tokenEndpoint(endpoint, auth.tokenUrl);
      const sessions = keepSession({
        connection: connection.name,
        store,
        from: auth,
        descendsFrom: auth.refreshToken,
        cure:
          auth.refreshToken === null
            ? 'mend its clientId and clientSecret'
            : 'sign in at the vendor again, and put the new refresh token where the catalogue takes it from',
        hide: hiding.add,
        obtain: (refreshToken) => requestAccessToken(auth, tokens, refreshToken),
      });
      return { ...bySession(sessions, (token) => ({ authorization: `Bearer ${token}` })), hiding };
    }
    case 'login': {
      const sessions = keepSession({
        connection: connection.name,
        store,
        from: auth,
        cure: 'mend its username and password',
        hide: hiding.add,
        obtain: () => requestToken(endpoint, loginRequest(connection, auth), auth),
      });
      return { ...bySession(sessions, (token) => filledHeaders(auth.headers, token)), hiding };
    }
  }
}

function secretsIn(auth: Auth): readonly string[] {
  switch (auth.kind) {
    case 'none':
      return [];
    case 'bearer':
      return [auth.token];
    case 'basic':
      return [basicPair(auth), auth.password];
    case 'digest':
    case 'login':
      return [auth.password];
    case 'header':
    case 'query':
      return Object.values(auth.values);
    case 'sign':
      return [auth.secret, auth.token ?? ''];
    case 'oauth':
      return [auth.clientSecret ?? '', auth.refreshToken ?? ''];
  }
}

const basicPair = ({
  username,
  password,
}: {
  readonly username: string;
  readonly password: string;
}): string => Buffer.from(`${username}:${password}`).toString('base64');

function signing(
  connection: Connection,
  scheme: SignScheme,
  endpoint: Endpoint,
  store: SignInStore,
  hiding: Hiding,
): Way {
  const sign = createSigner(connection.name, scheme);
  const { host } = new URL(endpoint.origin);
  const headersFor = (token: string, { method, path, body }: HttpRequest) =>
    checked(connection, sign({ method, path, body, host, token }));
  const { login } = scheme;
  if (login === null) {
    const token = scheme.token ?? '';
    const credentials: Credentials = {
      kind: 'credentials',
      apply: (request) => ({ ...request, headers: { ...request.headers, ...headersFor(token, request) } }),
      ...UNCHANGING,
    };
    return { credentials: async () => credentials, followsRedirects: false };
  }
  const bare = {
    method: login.request.method,
    path: underBase(connection, login.request.path),
    headers: {},
    body: null,
  };
  const sessions = keepSession({
    connection: connection.name,
    store,
    from: scheme,
    cure: 'mend its clientId and secret',
    hide: hiding.add,
    obtain: () =>
      requestToken(
        endpoint,
        { ...bare, headers: { accept: 'application/json', ...headersFor('', bare) } },
        login,
      ),
  });
  return bySession(sessions, headersFor);
}

const filledHeaders = (headers: Readonly<Record<string, string>>, token: string): Record<string, string> =>
  Object.fromEntries(
    Object.entries(headers).map(([name, text]) => [
      name.toLowerCase(),
      text.replaceAll('{token}', () => token),
    ]),
  );

/** Of the connection's own origin, its trust holds there as well; of another one, the system's. */
function tokenEndpoint(endpoint: Endpoint, tokenUrl: string): Endpoint {
  const { origin } = new URL(tokenUrl);
  return origin === endpoint.origin
    ? endpoint
    : { ...endpoint, origin, tls: { ca: undefined, insecure: false } };
}

/** The same headers, names in lower case. */
function checked(
  connection: Connection,
  headers: Readonly<Record<string, string>>,
): Readonly<Record<string, string>> {
  return Object.fromEntries(
    Object.entries(headers).map(([name, value]) => {
      checkHeader(connection, name, value);
      return [name.toLowerCase(), value];
    }),
  );
}

function checkHeader(connection: Connection, name: string, value: string): void {
  try {
    validateHeaderName(name);
    validateHeaderValue(name, value);
  } catch {
    // Node's own message may quote the value.
    throw new Error(
      `connection "${connection.name}": its secret for the header "${name}" has a character that HTTP headers can't carry (a line break?)`,
    );
  }
}
