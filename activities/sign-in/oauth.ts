/** Asks an OAuth 2.0 token endpoint for an access token, with a refresh token or as the client itself. */
import {
  type AuthorizationServer,
  allowInsecureRequests,
  type Client,
  ClientSecretBasic,
  ClientSecretPost,
  clientCredentialsGrantRequest,
  customFetch,
  None,
  processClientCredentialsResponse,
  processRefreshTokenResponse,
  ResponseBodyError,
  refreshTokenGrantRequest,
  type TokenEndpointRequestOptions,
  WWWAuthenticateChallengeError,
} from 'oauth4webapi';
import type { OAuthClient } from '../../domain/catalogue/auth-definition.ts';
import { retryAfterMs } from '../asked-pauses.ts';
import { type Endpoint, requestOnce } from '../http-request.ts';
import type { Obtained } from './session.ts';

/** RFC 6749 knows a handful of short words; anything else is a stranger's text. */
const ERROR_CODE = /^[a-z_]{1,40}$/;
/** The server is in trouble, not our credentials (RFC 6749 4.1.2.1, which vendors use here as well). */
const PASSING = ['temporarily_unavailable', 'server_error', 'slow_down'];

/** `endpoint`: of the token endpoint's origin. */
export async function requestAccessToken(
  oauth: OAuthClient,
  endpoint: Endpoint,
  latestRefreshToken: string | null,
): Promise<Obtained> {
  const { clientId, clientSecret, clientAuth, scope, parameters } = oauth;
  const { host } = new URL(endpoint.origin);
  const server: AuthorizationServer = { issuer: endpoint.origin, token_endpoint: oauth.tokenUrl };
  const client: Client = { client_id: clientId };
  const authentication =
    clientSecret === null
      ? None()
      : clientAuth === 'basic'
        ? ClientSecretBasic(clientSecret)
        : ClientSecretPost(clientSecret);
  const wire = createWire(endpoint);
  const additionalParameters = { ...parameters, ...(scope === null ? {} : { scope }) };
  const options: TokenEndpointRequestOptions = {
    [customFetch]: wire.fetch,
    // oxlint-disable-next-line typescript/no-deprecated -- to a simulator or a program on this very machine; the catalogue takes no other
    [allowInsecureRequests]: endpoint.origin.startsWith('http:'),
    additionalParameters,
  };
  const refreshToken = latestRefreshToken ?? oauth.refreshToken;
  try {
    const given =
      oauth.refreshToken === null || refreshToken === null
        ? await processClientCredentialsResponse(
            server,
            client,
            await clientCredentialsGrantRequest(
              server,
              client,
              authentication,
              additionalParameters,
              options,
            ),
          )
        : await processRefreshTokenResponse(
            server,
            client,
            await refreshTokenGrantRequest(server, client, authentication, refreshToken, options),
          );
    return {
      kind: 'session',
      token: given.access_token,
      expiresAt: given.expires_in === undefined ? null : Date.now() + given.expires_in * 1000,
      refreshToken: given.refresh_token ?? null,
    };
  } catch (error) {
    return explained(error, host, wire);
  }
}

interface Wire {
  readonly fetch: (
    url: string,
    options: { method: string; headers: Record<string, string>; body: unknown },
  ) => Promise<Response>;
  /** Why there was no reply; null: there was one. */
  trouble(): string | null;
  status(): number;
  pauseMs(): number | null;
}

/** The library's requests over our own: once, following nothing. */
function createWire(endpoint: Endpoint): Wire {
  let trouble: string | null = null;
  let status = 0;
  let pauseMs: number | null = null;
  return {
    async fetch(url, { method, headers, body }) {
      const { pathname, search } = new URL(url);
      const text = body instanceof URLSearchParams ? body.toString() : null;
      const answer = await requestOnce(endpoint, {
        method,
        path: `${pathname}${search}`,
        headers,
        body: text,
      });
      trouble = answer.kind === 'reply' ? answer.cut : answer.why;
      if (answer.kind !== 'reply') throw new Error('no reply');
      status = answer.status;
      pauseMs = retryAfterMs(answer.headers, Date.now());
      const hasBody = ![101, 103, 204, 205, 304].includes(status);
      return new Response(hasBody ? Buffer.from(answer.body) : null, {
        status,
        headers: { ...answer.headers },
      });
    },
    trouble: () => trouble,
    status: () => status,
    pauseMs: () => pauseMs,
  };
}

/** Never the library's own words: they may quote the reply. */
function explained(error: unknown, host: string, wire: Wire): Obtained {
  const trouble = wire.trouble();
  if (trouble !== null) return { kind: 'away', why: trouble, retryAfterMs: null };
  const status = wire.status();
  const code = error instanceof ResponseBodyError && ERROR_CODE.test(error.error) ? error.error : null;
  if (status === 429 || status >= 500 || (code !== null && PASSING.includes(code)))
    return {
      kind: 'away',
      why: `${host} answers its sign-in with HTTP ${status}`,
      retryAfterMs: wire.pauseMs(),
    };
  if (error instanceof ResponseBodyError || error instanceof WWWAuthenticateChallengeError || status >= 400)
    return { kind: 'refused', why: `${host} refuses its sign-in (${code ?? `HTTP ${status}`})` };
  return {
    kind: 'refused',
    why: `the reply of ${host} to its sign-in (HTTP ${status}) is none of an OAuth 2.0 token endpoint; is tokenUrl right?`,
  };
}
