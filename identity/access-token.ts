/** Access tokens: JWTs that the issuer signed for this very server (RFC 9068, RFC 8725). */
import { errors, type JWTPayload, type JWTVerifyResult, jwtVerify } from 'jose';
import type { Issuer } from './issuer.ts';
import { subjectIn } from './subject.ts';

/** Who signed in, and what for. */
export interface SignedIn {
  /** Owner of what they start: issuer and subject in one word. */
  readonly principal: string;
  /** The client program as the issuer knows it; null: the token doesn't say. */
  readonly clientId: string | null;
  readonly scopes: readonly string[];
  /** Epoch seconds from which on the token is refused. */
  readonly expiresAt: number;
}

/** The message is for whoever sent the token, and holds nothing of it. */
export class InvalidToken extends Error {}

export interface AccessTokenPolicy {
  readonly issuer: Issuer;
  /** What `aud` has to name: the public URL of this server. */
  readonly audience: string;
}

/** Public keys only: with a shared secret among them, a published key would do as that secret. */
const ALGORITHMS = ['ES256', 'ES384', 'ES512', 'EdDSA', 'PS256', 'PS384', 'PS512', 'RS256', 'RS384', 'RS512'];
/** Issuers that predate RFC 9068 say JWT or nothing; anything else is another kind of token. */
const TYPES = [undefined, 'at+jwt', 'application/at+jwt', 'jwt'];
/** Clocks differ by so much. */
export const CLOCK_SKEW_SECONDS = 30;

/** Throws `InvalidToken`, or `IssuerUnreachable` where the issuer is needed and doesn't answer. */
export async function verifyAccessToken(
  token: string,
  { issuer, audience }: AccessTokenPolicy,
): Promise<SignedIn> {
  const { payload, protectedHeader } = await verified(token, issuer, audience);
  if (!TYPES.includes(protectedHeader.typ?.toLowerCase()))
    throw new InvalidToken('This is another kind of token than an access token.');
  if (payload.iat !== undefined && payload.iat > Date.now() / 1000 + CLOCK_SKEW_SECONDS)
    throw new InvalidToken('The token was issued in the future.');
  // Whoever stole such a token doesn't have the key that it is bound to; as a bearer token it proves nothing.
  if (payload['cnf'] !== undefined)
    throw new InvalidToken(
      'The token is bound to a key of the client (DPoP or mTLS), which is not supported here.',
    );
  const principal = subjectIn(payload, issuer);
  if (principal === null)
    throw new InvalidToken(
      `The token's subject (${issuer.subjectClaim}) is no text, or longer than this server can keep.`,
    );
  return {
    principal,
    clientId: firstText(payload, ['client_id', 'azp', 'cid']),
    scopes: scopesIn(payload),
    expiresAt: (payload.exp ?? 0) + CLOCK_SKEW_SECONDS,
  };
}

async function verified(token: string, issuer: Issuer, audience: string): Promise<JWTVerifyResult> {
  try {
    return await jwtVerify(token, issuer.key, {
      issuer: issuer.url,
      audience,
      algorithms: ALGORITHMS,
      clockTolerance: CLOCK_SKEW_SECONDS,
      requiredClaims: ['exp', issuer.subjectClaim],
    });
  } catch (error) {
    // Neither the error nor its cause goes further: jose's carry the claims.
    if (error instanceof errors.JOSEError) throw new InvalidToken(wordsFor(error, audience));
    throw error;
  }
}

function wordsFor(error: errors.JOSEError, audience: string): string {
  if (error instanceof errors.JWTExpired) return 'The token has expired.';
  if (error instanceof errors.JWTClaimValidationFailed) {
    switch (error.claim) {
      case 'aud':
        return `The token is for another audience than ${audience}.`;
      case 'iss':
        return 'The token is by another issuer.';
      case 'nbf':
        return 'The token is not valid yet.';
      default:
        return `The token's claim ${error.claim} is missing or wrong.`;
    }
  }
  if (error instanceof errors.JOSEAlgNotAllowed)
    return 'The token is not signed with an algorithm that is allowed here.';
  if (error instanceof errors.JWKSNoMatchingKey)
    return 'The token is signed with a key that the issuer does not publish.';
  if (error instanceof errors.JWSSignatureVerificationFailed) return "The token's signature is wrong.";
  return 'This is no valid JWT.';
}

/** `scope` (RFC 9068), or `scp` as some issuers have it; words in a text or a list. */
function scopesIn({ scope, scp }: JWTPayload): string[] {
  const given = scope ?? scp;
  const words = typeof given === 'string' ? given.split(' ') : Array.isArray(given) ? given : [];
  return words.filter((word): word is string => typeof word === 'string' && word !== '');
}

function firstText(payload: JWTPayload, names: readonly string[]): string | null {
  for (const name of names) {
    const value = payload[name];
    if (typeof value === 'string' && value !== '') return value;
  }
  return null;
}
