/**
 * The issuer that people and agents sign in at: what it says about itself, and the keys it signs with. Both are fetched
 * when first needed, so that a server may start before its issuer, and kept for as long as they are good.
 */
import { createRemoteJWKSet, customFetch, errors, type JWTVerifyGetKey, type RemoteJWKSet } from 'jose';
import { z } from 'zod';
import { isSafelyReached } from './issuer-url.ts';
import { SUB } from './subject.ts';

export interface Issuer {
  /** Exactly as it calls itself, which is what `iss` of its tokens says. */
  readonly url: string;
  /** The claim of its tokens by which it calls a person, or an agent, always and everywhere the same. */
  readonly subjectClaim: string;
  /** What it publishes about itself (OpenID Connect Discovery 1.0, RFC 8414). Throws `IssuerUnreachable`. */
  metadata(): Promise<IssuerMetadata>;
  /**
   * The key that a token names. One that isn't known yet makes it fetch the keys again, at most once in `refetchEveryMs`.
   * Throws `IssuerUnreachable`, or jose's errors for a token that names no key of this issuer.
   */
  readonly key: JWTVerifyGetKey;
}

const METADATA = z.looseObject({ issuer: z.string(), jwks_uri: z.string() });
export type IssuerMetadata = z.infer<typeof METADATA>;

/** The issuer doesn't answer, or not with what an issuer publishes: whether a token is good can't be known now. */
export class IssuerUnreachable extends Error {}

export interface IssuerOptions {
  readonly subjectClaim?: string;
  /** A flood of tokens with invented keys costs the issuer no more than one request in this time; a new key is known after it. */
  readonly refetchEveryMs?: number;
  /** After a failure the issuer is left alone for so long. */
  readonly pauseAfterFailureMs?: number;
}
const ANSWERS_WITHIN_MS = 5_000;

export function openIssuer(
  url: string,
  { subjectClaim = SUB, refetchEveryMs = 10_000, pauseAfterFailureMs = 2_000 }: IssuerOptions = {},
): Issuer {
  const ask = pausing(pauseAfterFailureMs);
  let found: Promise<{ metadata: IssuerMetadata; keys: RemoteJWKSet }> | null = null;

  async function discover() {
    const metadata = await ask(() => metadataOf(url));
    const keys = createRemoteJWKSet(new URL(metadata.jwks_uri), {
      cooldownDuration: refetchEveryMs,
      timeoutDuration: ANSWERS_WITHIN_MS,
      [customFetch]: (at, options) => ask(() => answerAt(at, options)),
    });
    return { metadata, keys };
  }
  async function discovered() {
    found ??= discover();
    try {
      return await found;
    } catch (error) {
      found = null;
      throw error;
    }
  }

  return {
    url,
    subjectClaim,
    metadata: async () => (await discovered()).metadata,
    async key(header, token) {
      const { keys } = await discovered();
      try {
        return await keys(header, token);
      } catch (error) {
        if (error instanceof IssuerUnreachable || isAboutTheToken(error)) throw error;
        throw new IssuerUnreachable(`The keys that ${url} publishes can't be used.`, { cause: error });
      }
    },
  };
}

const isAboutTheToken = (error: unknown): boolean =>
  error instanceof errors.JWKSNoMatchingKey ||
  error instanceof errors.JWKSMultipleMatchingKeys ||
  error instanceof errors.JOSENotSupported;

/** Lets nobody ask again for a while after a failure: the same one is thrown. */
function pausing(pauseMs: number): <T>(ask: () => Promise<T>) => Promise<T> {
  let pausedUntil = 0;
  let failure: unknown;
  return async (ask) => {
    if (Date.now() < pausedUntil) throw failure;
    try {
      return await ask();
    } catch (error) {
      pausedUntil = Date.now() + pauseMs;
      failure = error;
      throw error;
    }
  };
}

async function answerAt(url: string, options: RequestInit): Promise<Response> {
  let response: Response;
  try {
    response = await fetch(url, options);
  } catch (error) {
    throw new IssuerUnreachable(`The issuer can't be reached at ${url} (${reasonOf(error)}).`);
  }
  if (response.ok) return response;
  await response.body?.cancel();
  throw new IssuerUnreachable(`The issuer answers ${response.status} at ${url}.`);
}

function reasonOf(error: unknown): string {
  if (!(error instanceof Error)) return String(error);
  return error.cause instanceof Error && 'code' in error.cause ? String(error.cause.code) : error.message;
}

async function metadataOf(issuer: string): Promise<IssuerMetadata> {
  const options = () => ({
    redirect: 'error' as const,
    headers: { accept: 'application/json' },
    signal: AbortSignal.timeout(ANSWERS_WITHIN_MS),
  });
  const [openId, oauth] = wellKnown(issuer);
  // An authorization server that signs nobody in has no OpenID description. What is told is why the first one failed.
  const response = await answerAt(openId, options()).catch((first: unknown) =>
    answerAt(oauth, options()).catch(() => {
      throw first;
    }),
  );
  const { data } = METADATA.safeParse(await response.json().catch(() => null));
  if (data === undefined || !isSafelyReached(data.jwks_uri))
    throw new IssuerUnreachable(
      `${response.url} is no description of an issuer with keys that are safely reached.`,
    );
  if (data.issuer !== issuer)
    throw new IssuerUnreachable(
      `The issuer at ${issuer} calls itself ${data.issuer}. Both must be the same to the letter: set --auth-issuer to that.`,
    );
  return data;
}

/** OpenID Connect Discovery appends; RFC 8414 inserts before the path. */
function wellKnown(issuer: string): [openId: string, oauth: string] {
  const { origin, pathname } = new URL(issuer);
  const path = pathname.replace(/\/$/, '');
  return [
    `${origin}${path}/.well-known/openid-configuration`,
    `${origin}/.well-known/oauth-authorization-server${path}`,
  ];
}
