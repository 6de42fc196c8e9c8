/**
 * Who may ask what over HTTP (MCP 2026-07-28, authorization): an OAuth 2.1 resource server. Tokens are the issuer's;
 * this server says where to get one (RFC 9728) and what it has to be for (RFC 6750).
 */
import {
  type AuthInfo,
  type AuthMetadataOptions,
  bearerAuthChallengeResponse,
  getOAuthProtectedResourceMetadataUrl,
  OAuthError,
  OAuthErrorCode,
  oauthMetadataResponse,
  verifyBearerToken,
} from '@modelcontextprotocol/server';
import { InvalidToken, verifyAccessToken } from '../identity/access-token.ts';
import { type Issuer, IssuerUnreachable } from '../identity/issuer.ts';
import { PRINCIPALS_RATE, type Rate, rateLimiter } from './rate-limit.ts';
import { AGENTS_SCOPES, scopesFor } from './scopes.ts';
import { authInfoOf, principalOf } from './signed-in.ts';

export interface AuthOptions {
  readonly issuer: Issuer;
  /** The public URL of `/mcp`, which tokens must be for. Asked for at each request, since the port may be known late. */
  readonly audience: () => string;
  /** How often each principal may ask. */
  readonly rate?: Rate;
}

export interface Authorization {
  /** Who asks; or 401, 429 or 503. */
  signedIn(request: Request): Promise<AuthInfo | Response>;
  /** 403 where the token is not for what is asked. `body`: undefined for GET and DELETE. */
  refusalOf(auth: AuthInfo, request: Request, body: unknown): Response | undefined;
  /** What is published for clients that look for the issuer; undefined: nothing at this path. */
  metadata(request: Request): Promise<Response | undefined>;
}

const AT_THE_ROOT = '/.well-known/oauth-protected-resource';
const OF_ISSUER = '/.well-known/oauth-authorization-server';
const RETRY_ISSUER_AFTER_SECONDS = 5;

export function authorization(
  { issuer, audience, rate = PRINCIPALS_RATE }: AuthOptions,
  onError: (error: Error) => void,
): Authorization {
  const mayAsk = rateLimiter(rate);
  const challenge = (requiredScopes: readonly string[]) => ({
    requiredScopes: [...requiredScopes],
    resourceMetadataUrl: getOAuthProtectedResourceMetadataUrl(new URL(audience())),
  });
  let lastOutage: unknown;

  async function verify(request: Request): Promise<AuthInfo> {
    const verifyToken = async (token: string) =>
      authInfoOf(await verifyAccessToken(token, { issuer, audience: audience() }));
    return await verifyBearerToken(request.headers.get('authorization'), {
      verifier: { verifyAccessToken: (token) => verifyToken(token).catch(asOAuthError) },
    });
  }

  return {
    async signedIn(request) {
      try {
        const auth = await verify(request);
        const seconds = await mayAsk(principalOf(auth));
        return seconds === 0 ? auth : tooMany(seconds);
      } catch (error) {
        if (error instanceof IssuerUnreachable) {
          // The same one is thrown for as long as the issuer is left alone.
          if (error !== lastOutage) onError(error);
          lastOutage = error;
          return issuerDown();
        }
        if (!(error instanceof OAuthError)) throw error;
        // However often: behind a proxy strangers share an address with those who have to be told where to sign in.
        return bearerAuthChallengeResponse(error, challenge(AGENTS_SCOPES));
      }
    },
    refusalOf(auth, { method }, body) {
      const needed = scopesFor(method, body);
      const missing = needed.filter((scope) => !auth.scopes.includes(scope));
      if (missing.length === 0) return undefined;
      const error = new OAuthError(
        OAuthErrorCode.InsufficientScope,
        `This needs a token with the scope ${missing.join(' and ')}.`,
      );
      // With what the token has already, so that the new one doesn't lose it.
      const had = auth.scopes.filter((scope) => AGENTS_SCOPES.includes(scope) && !missing.includes(scope));
      return bearerAuthChallengeResponse(error, challenge([...had, ...missing]));
    },
    async metadata(request) {
      const resource = new URL(audience());
      const path = new URL(request.url).pathname;
      const options = {
        resourceServerUrl: resource,
        scopesSupported: [...AGENTS_SCOPES],
        resourceName: 'Readback',
      };
      if (path.startsWith(AT_THE_ROOT)) {
        const at = new URL(getOAuthProtectedResourceMetadataUrl(resource));
        if (path !== AT_THE_ROOT && path !== at.pathname) return undefined;
        // It names the issuer and says no more of it, so that it is told also while the issuer is down.
        const oauthMetadata = { issuer: issuer.url } as AuthMetadataOptions['oauthMetadata'];
        return oauthMetadataResponse(new Request(at, request), { ...options, oauthMetadata });
      }
      if (path !== OF_ISSUER) return undefined;
      try {
        const oauthMetadata = (await issuer.metadata()) as unknown as AuthMetadataOptions['oauthMetadata'];
        return oauthMetadataResponse(request, { ...options, oauthMetadata });
      } catch (error) {
        if (error instanceof IssuerUnreachable) return issuerDown();
        throw error;
      }
    },
  };
}

function asOAuthError(error: unknown): never {
  throw error instanceof InvalidToken ? new OAuthError(OAuthErrorCode.InvalidToken, error.message) : error;
}

function tooMany(seconds: number): Response {
  return Response.json(
    {
      error: 'too_many_requests',
      error_description: `Too many requests. Ask again in ${seconds} s; get_command with waitSeconds asks less often.`,
    },
    { status: 429, headers: { 'Retry-After': String(seconds) } },
  );
}

/** Not 401: the token may be good, and a new one would be no better. */
function issuerDown(): Response {
  return Response.json(
    {
      error: 'temporarily_unavailable',
      error_description:
        'The issuer of sign-ins does not answer, so that no token can be checked. Ask again later.',
    },
    { status: 503, headers: { 'Retry-After': String(RETRY_ISSUER_AFTER_SECONDS) } },
  );
}

const LONGEST_TIMER_MS = 2_147_483_647;

/** A stream that lasts no longer than the token that it was opened with. */
export function untilTokenExpires(response: Response, auth: AuthInfo | undefined): Response {
  if (auth?.expiresAt === undefined || response.body === null) return response;
  const leftMs = Math.min(auth.expiresAt * 1000 - Date.now(), LONGEST_TIMER_MS);
  let end: NodeJS.Timeout;
  const forget = () => clearTimeout(end);
  // `cancel` is when the client has left: without it each stream would be kept until its token expires.
  const untilThen = {
    start(controller: TransformStreamDefaultController<Uint8Array>) {
      end = setTimeout(() => controller.terminate(), leftMs).unref();
    },
    flush: forget,
    cancel: forget,
  };
  const { status, headers } = response;
  return new Response(response.body.pipeThrough(new TransformStream(untilThen)), { status, headers });
}
