/**
 * A real OpenID provider and OAuth 2.1 authorization server (oidc-provider) on loopback. Everything about it is dynamic:
 * any subject is an account, and any URL is a resource, for which it issues JWT access tokens (RFC 8707, RFC 9068).
 * Nobody has to click: whoever `signInAs` names is at the browser, and agrees to everything.
 */
import { createHash, randomBytes } from 'node:crypto';
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { exportJWK, generateKeyPair, importJWK, type JWK, SignJWT } from 'jose';
import { type ClientMetadata, type Configuration, Provider } from 'oidc-provider';

/** Client of the client credentials grant: an agent that acts for itself. Its tokens' subject is its id. */
export const AGENT = { clientId: 'agent', clientSecret: 'agent-secret-of-the-test-server' };
/** Confidential client of the authorization code grant with PKCE: an application that a person signs in with. */
export const APPLICATION = { clientId: 'application', clientSecret: 'application-secret-of-the-test-server' };
/** The same without a secret, as hosts on somebody's desk are. */
export const HOST = { clientId: 'host' };

const OPENID_SCOPES = ['openid', 'offline_access', 'profile', 'email', 'groups'];
const EVERY_SCOPE = 'devices:read devices:command approvals:decide unattended';

export interface AuthorizationServer {
  readonly issuer: string;
  /** How often its JWKS has been fetched. */
  jwksFetches(): number;
  /**
   * From now on this subject is the one at the browser. More claims of the ID token as wanted: `name`, `email`, `groups`;
   * with `mayDecide: true` it is granted the scope `approvals:decide` when signing in.
   */
  signInAs(subject: string, claims?: Readonly<Record<string, unknown>>): void;
  /** Adds to where APPLICATION and HOST may be sent back to. */
  allowRedirectTo(uri: string): void;
  /** An access token by the client credentials grant; its subject is the client's id. */
  agentToken(resource: string, scope: string): Promise<string>;
  /** An access token by the authorization code grant with PKCE, for the person `subject` with the client HOST. */
  personToken(subject: string, resource: string, scope: string): Promise<string>;
  /** A token that this server never gave out, but signed with its present key; `iss`, `iat` and `exp` are filled in. */
  sign(
    claims: Readonly<Record<string, unknown>>,
    header?: { readonly kid?: string; readonly typ?: string },
  ): Promise<string>;
  /** The public half of the present key. */
  publicKey(): JWK;
  /** A new key in place of the present one, which is no longer published. */
  rotateKeys(): Promise<void>;
  /** While false, every request is answered with 503. */
  setAnswering(answering: boolean): void;
  close(): Promise<void>;
}

const REDIRECT_OF_PERSON_TOKEN = 'http://127.0.0.1/callback';

export async function startAuthorizationServer({
  redirectUris = [],
}: {
  readonly redirectUris?: readonly string[];
} = {}): Promise<AuthorizationServer> {
  const server = createServer((request, response) => void answer(request, response));
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const issuer = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  const redirects = [REDIRECT_OF_PERSON_TOKEN, ...redirectUris];
  const accounts = new Map<string, Readonly<Record<string, unknown>>>();
  const cookieKey = randomBytes(16).toString('hex');
  let atTheBrowser = 'anna';
  let answering = true;
  let jwksFetches = 0;
  let key = await newKey();
  let provider = open();

  /** Keys and clients are fixed when a provider is made; what it remembers is kept outside of it, in its adapter. */
  function open(): Provider {
    const opened = new Provider(issuer, configuration({ key, redirects, accounts, cookieKey }));
    opened.on('server_error', (_context, error) => console.error(error));
    return opened;
  }

  async function answer(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const path = new URL(request.url ?? '/', issuer).pathname;
    if (!answering) return void response.writeHead(503).end();
    if (path === '/jwks') jwksFetches += 1;
    if (!path.startsWith('/interaction/')) return void provider.callback()(request, response);
    // Both of its questions at once: who it is, and whether the client may.
    const login = { accountId: atTheBrowser };
    await provider.interactionFinished(request, response, { login, consent: {} });
  }

  async function tokenFrom(form: Readonly<Record<string, string>>, headers = {}): Promise<string> {
    const body = new URLSearchParams(form);
    const response = await fetch(`${issuer}/token`, { method: 'POST', headers, body });
    const { access_token: token } = (await response.json()) as { access_token?: string };
    if (token === undefined) throw new Error(`no access token: ${response.status}`);
    return token;
  }

  return {
    issuer,
    jwksFetches: () => jwksFetches,
    signInAs(subject, claims = {}) {
      atTheBrowser = subject;
      accounts.set(subject, claims);
    },
    allowRedirectTo(uri) {
      redirects.push(uri);
      provider = open();
    },
    agentToken(resource, scope) {
      const secret = Buffer.from(`${AGENT.clientId}:${AGENT.clientSecret}`).toString('base64');
      const form = { grant_type: 'client_credentials', resource, scope };
      return tokenFrom(form, { authorization: `Basic ${secret}` });
    },
    async personToken(subject, resource, scope) {
      atTheBrowser = subject;
      const verifier = randomBytes(32).toString('base64url');
      const authorize = new URL(`${issuer}/auth`);
      authorize.search = new URLSearchParams({
        response_type: 'code',
        client_id: HOST.clientId,
        redirect_uri: REDIRECT_OF_PERSON_TOKEN,
        code_challenge: createHash('sha256').update(verifier).digest('base64url'),
        code_challenge_method: 'S256',
        resource,
        scope,
      }).toString();
      const code = await codeAt(authorize);
      return tokenFrom({
        grant_type: 'authorization_code',
        client_id: HOST.clientId,
        redirect_uri: REDIRECT_OF_PERSON_TOKEN,
        code,
        code_verifier: verifier,
        resource,
      });
    },
    async sign(claims, header = {}) {
      const now = Math.floor(Date.now() / 1000);
      return await new SignJWT({ iss: issuer, iat: now, exp: now + 300, ...claims })
        .setProtectedHeader({ alg: 'ES256', kid: key.kid as string, typ: 'at+jwt', ...header })
        .sign(await importJWK(key, 'ES256'));
    },
    publicKey() {
      const { d: _, ...published } = key;
      return published;
    },
    async rotateKeys() {
      key = await newKey();
      provider = open();
    },
    setAnswering(now) {
      answering = now;
    },
    async close() {
      server.closeAllConnections();
      await new Promise<void>((resolve) => server.close(() => resolve()));
    },
  };
}

/** Follows redirects as a browser with cookies does, until it is sent back to the client. */
async function codeAt(start: URL): Promise<string> {
  const cookies = new Map<string, string>();
  let at = start;
  for (let hops = 0; hops < 10; hops += 1) {
    const cookie = [...cookies].map(([name, value]) => `${name}=${value}`).join('; ');
    const response = await fetch(at, { redirect: 'manual', headers: { cookie } });
    for (const set of response.headers.getSetCookie()) {
      const [, name = '', value = ''] = /^([^=]+)=([^;]*)/.exec(set) ?? [];
      cookies.set(name, value);
    }
    const location = response.headers.get('location');
    if (location === null) throw new Error(`${at.href}: ${response.status} ${await response.text()}`);
    at = new URL(location, at);
    const code = at.searchParams.get('code');
    if (code !== null) return code;
    if (at.searchParams.has('error')) throw new Error(at.href);
  }
  throw new Error(`too many redirects, the last one to ${at.href}`);
}

async function newKey(): Promise<JWK> {
  const { privateKey } = await generateKeyPair('ES256', { extractable: true });
  return { ...(await exportJWK(privateKey)), kid: randomBytes(8).toString('hex'), alg: 'ES256', use: 'sig' };
}

function configuration({
  key,
  redirects,
  accounts,
  cookieKey,
}: {
  readonly key: JWK;
  readonly redirects: readonly string[];
  readonly accounts: ReadonlyMap<string, Readonly<Record<string, unknown>>>;
  readonly cookieKey: string;
}): Configuration {
  return {
    jwks: { keys: [key] },
    cookies: { keys: [cookieKey] },
    clients: clients(redirects),
    clientDefaults: { id_token_signed_response_alg: 'ES256' },
    pkce: { required: () => true },
    findAccount: (_ctx, accountId) => ({
      accountId,
      claims: async () => ({ sub: accountId, ...accounts.get(accountId) }),
    }),
    claims: { openid: ['sub'], profile: ['name'], email: ['email', 'email_verified'], groups: ['groups'] },
    scopes: [...OPENID_SCOPES, 'approvals:decide'],
    ttl: {
      AccessToken: 300,
      ClientCredentials: 300,
      IdToken: 300,
      Interaction: 300,
      Grant: 3600,
      Session: 3600,
    },
    // So that an ID token says who it is; else only the userinfo endpoint would.
    conformIdTokenClaims: false,
    interactions: { url: (_ctx, interaction) => `/interaction/${interaction.uid}` },
    async loadExistingGrant(ctx) {
      const { client, session, provider } = ctx.oidc;
      if (client === undefined || session?.accountId === undefined) return undefined;
      const grant = new provider.Grant({ clientId: client.clientId, accountId: session.accountId });
      grant.addOIDCScope(OPENID_SCOPES.join(' '));
      // Refused rather than not granted: else it would ask for ever.
      if (accounts.get(session.accountId)?.['mayDecide'] === true) grant.addOIDCScope('approvals:decide');
      else grant.rejectOIDCScope('approvals:decide');
      for (const resource of [ctx.oidc.params?.['resource']].flat())
        if (typeof resource === 'string') grant.addResourceScope(resource, EVERY_SCOPE);
      await grant.save();
      return grant;
    },
    features: {
      devInteractions: { enabled: false },
      clientCredentials: { enabled: true },
      resourceIndicators: {
        enabled: true,
        getResourceServerInfo: (_ctx, resource) => ({
          scope: EVERY_SCOPE,
          audience: resource,
          accessTokenFormat: 'jwt',
          accessTokenTTL: 300,
          jwt: { sign: { alg: 'ES256' } },
        }),
      },
    },
  };
}

function clients(redirects: readonly string[]): ClientMetadata[] {
  const codeFlow = {
    redirect_uris: [...redirects],
    // Where consoles take people back to who have signed out.
    post_logout_redirect_uris: redirects.map((uri) => new URL('/sign-in', uri).href),
    grant_types: ['authorization_code', 'refresh_token'],
    response_types: ['code' as const],
    // Loopback redirects of hosts choose their port when they run (RFC 8252).
    application_type: 'native' as const,
  };
  return [
    {
      client_id: AGENT.clientId,
      client_secret: AGENT.clientSecret,
      token_endpoint_auth_method: 'client_secret_basic',
      grant_types: ['client_credentials'],
      redirect_uris: [],
      response_types: [],
    },
    {
      ...codeFlow,
      client_id: APPLICATION.clientId,
      client_secret: APPLICATION.clientSecret,
      token_endpoint_auth_method: 'client_secret_basic',
    },
    { ...codeFlow, client_id: HOST.clientId, token_endpoint_auth_method: 'none' },
  ];
}
