/** What is remembered between two requests that sign in by digest: the nonce, its use, and a refusal. */
import type { HttpRequest } from '../http-request.ts';
import { type Account, answerTo, type Challenge, challengeIn } from './digest.ts';
import type { NotSignedIn } from './session.ts';

/** A wrong password doesn't mend itself, and cameras lock out those who keep trying. Doubled with each. */
const REFUSED_PAUSE_MS = 60_000;
const LONGEST_REFUSED_PAUSE_MS = 3_600_000;

export interface Attempt {
  readonly kind: 'attempt';
  /** Of one request. null: the first one goes bare, and is asked. */
  authorization(request: HttpRequest): string | null;
}

export interface DigestSession {
  attempt(): Attempt | NotSignedIn;
  worked(): void;
  /** A 401 came. null: another attempt may go better; else why not. */
  challenged(headers: Readonly<Record<string, string>>): NotSignedIn | null;
  /** The answer to its latest challenge came to nothing. */
  refused(headers: Readonly<Record<string, string>>): NotSignedIn;
}

export function createDigest(
  connection: string,
  account: Account,
  now: () => number = Date.now,
): DigestSession {
  let challenge: Challenge | null = null;
  let uses = 0;
  let refusals = 0;
  let pausesUntil = 0;

  const signedOut = (why: string): NotSignedIn => ({
    kind: 'signedOut',
    why: `connection "${connection}" is signed out: ${why}`,
  });
  const wrongPassword = (): NotSignedIn => {
    const at = new Date(pausesUntil).toISOString().slice(0, 19).replace('T', ' ');
    return signedOut(`its username or password is wrong; mend it. It is tried again at ${at} UTC`);
  };

  return {
    attempt() {
      if (now() < pausesUntil) return wrongPassword();
      const answered = challenge;
      return {
        kind: 'attempt',
        authorization(request) {
          if (answered === null) return null;
          // Of a nonce that was replaced meanwhile, the count no longer matters: it will be asked again.
          if (answered === challenge) uses += 1;
          return answerTo(answered, account, request, Math.max(1, uses));
        },
      };
    },

    worked() {
      refusals = 0;
    },

    challenged(headers) {
      const asked = challengeIn(headers['www-authenticate']);
      if (asked === null) {
        const scheme = /^\s*([\w-]+)/.exec(headers['www-authenticate'] ?? '')?.[1];
        return signedOut(
          scheme === undefined
            ? 'the API does not say how it wants to be signed in to, so it is not by digest'
            : `the API asks for ${scheme}, and for no digest that can be answered (MD5 or SHA-256, qop=auth)`,
        );
      }
      if (challenge?.nonce !== asked.nonce) {
        challenge = asked;
        uses = 0;
      }
      return null;
    },

    refused(headers) {
      // The password was right, and its nonce too old already: no reason to lock ourselves out.
      if (challengeIn(headers['www-authenticate'])?.stale === true)
        return { kind: 'unreached', why: 'the API calls each sign-in stale as soon as it is made' };
      pausesUntil =
        now() + Math.min(LONGEST_REFUSED_PAUSE_MS, REFUSED_PAUSE_MS * 2 ** Math.min(refusals, 10));
      refusals += 1;
      challenge = null;
      return wrongPassword();
    },
  };
}
