/**
 * Keeps a connection signed in: one sign-in for all who need it, made anew before it expires and once when it is turned
 * down, and never a storm of them. After a refusal nobody tries again until the secret is another, or a pause is over.
 */
import { createHash } from 'node:crypto';
import { formatDuration } from '../../domain/text.ts';
import type { Failure, Session, SignIn, SignInStore } from './store.ts';

/** Nobody is signed in. `signedOut`: the sign-in was turned down. `unreached`: it could not be made; later it may. */
export interface NotSignedIn {
  readonly kind: 'signedOut' | 'unreached';
  /** Without secrets; says what to do. */
  readonly why: string;
}

export type Obtained =
  | {
      readonly kind: 'session';
      readonly token: string;
      /** Epoch ms; null: not known. */
      readonly expiresAt: number | null;
      /** null: the one before goes on. */
      readonly refreshToken: string | null;
    }
  | { readonly kind: 'refused'; readonly why: string }
  | { readonly kind: 'away'; readonly why: string; readonly retryAfterMs: number | null };

export interface Sessions {
  /** The session to use now. Signs in where there is none, or hardly any time left of it. */
  current(): Promise<Session | NotSignedIn>;
  /** Another session than this one, which the API has turned away. */
  renew(turnedAway: Session): Promise<Session | NotSignedIn>;
  /** The API has taken it. */
  worked(session: Session): void;
  /** The API has turned away one that was made for it a moment ago. */
  refused(session: Session): NotSignedIn;
}

export interface SessionOptions {
  readonly connection: string;
  readonly store: SignInStore;
  /** What the catalogue says of the sign-in, secrets included. */
  readonly from: unknown;
  /** The catalogue's refresh token, if there is one: the latest of its descendants goes on, whatever else of `from` changes. */
  readonly descendsFrom?: string | null;
  /** What a person has to do when it is refused. */
  readonly cure: string;
  /** Signs in, once. `refreshToken`: the latest one that the API has given; null: none. */
  readonly obtain: (refreshToken: string | null) => Promise<Obtained>;
  /** Keeps a token out of what is shown: also one that another worker has got, or this one before it was started anew. */
  readonly hide: (token: string) => void;
  readonly now?: () => number;
}

/** A session is renewed when so much of its life is left, at the most: a request and a slow clock have to fit in. */
const RENEW_BEFORE_MS = 60_000;
const RENEW_BEFORE_SHARE = 0.1;
/** A refused sign-in doesn't mend itself, and clouds lock out those who keep trying. Doubled with each. */
const REFUSED_PAUSE_MS = 15 * 60_000;
const LONGEST_REFUSED_PAUSE_MS = 4 * 3_600_000;
/** What is only away may be back at any moment. Doubled with each. */
const AWAY_PAUSE_MS = 5_000;
const LONGEST_AWAY_PAUSE_MS = 5 * 60_000;
/** Another session would be turned away like one so young that never worked. Doubled with each that didn't. */
const YOUNG_MS = 60_000;
const MOST_DOUBLINGS = 6;

export const fingerprintOf = (from: unknown): string =>
  createHash('sha256').update(JSON.stringify(from)).digest('hex');

/** Throws where the store can keep nothing. */
export function keepSession({
  connection,
  store,
  from,
  descendsFrom = null,
  cure,
  obtain,
  hide,
  now = Date.now,
}: SessionOptions): Sessions {
  store.check(connection);
  const account = {
    fingerprint: fingerprintOf(from),
    lineage: descendsFrom === null ? null : fingerprintOf(descendsFrom),
  };
  /** As last seen in the store. */
  let known: SignIn | null = null;
  let provenToken: string | null = null;

  const unhelpfulAfter = (turnedAway: Session | null): number =>
    turnedAway === null || turnedAway.token === provenToken ? 0 : turnedAway.unhelpful + 1;

  async function signedIn(turnedAway: Session | null): Promise<Session | NotSignedIn> {
    known = await store.change(connection, async (kept) => {
      const before = without(turnedAway, own(kept, account));
      return isUsable(before, now()) || isPausing(before.failure, now())
        ? before
        : after(before, withCure(await obtain(before.refreshToken), cure), unhelpfulAfter(turnedAway), now());
    });
    if (known.session !== null) hide(known.session.token);
    if (known.session !== null && isUsable(known, now())) return known.session;
    return failed(connection, known.failure);
  }

  const ofNoUse = ({ obtainedAt }: Session): NotSignedIn => ({
    kind: 'signedOut',
    why: `connection "${connection}" is signed in since ${formatDuration(now() - obtainedAt)}, and its API turns that sign-in away; ${cure}`,
  });

  return {
    async current() {
      if (known?.session != null && isUsable(known, now())) return known.session;
      if (known !== null && isPausing(known.failure, now())) return failed(connection, known.failure);
      return await signedIn(null);
    },

    async renew(turnedAway) {
      const { token, obtainedAt, unhelpful } = turnedAway;
      const ageMs = now() - obtainedAt;
      const isYoung = ageMs < YOUNG_MS * 2 ** Math.min(unhelpful, MOST_DOUBLINGS);
      if (token !== provenToken && isYoung && known?.session?.token === token) {
        return ofNoUse(turnedAway);
      }
      return await signedIn(turnedAway);
    },

    worked({ token }) {
      provenToken = token;
    },

    refused: ofNoUse,
  };
}

function isUsable({ session, failure }: SignIn, now: number): boolean {
  if (session === null) return false;
  const { obtainedAt, expiresAt } = session;
  if (expiresAt === null) return true;
  const reserveMs = Math.min(RENEW_BEFORE_MS, (expiresAt - obtainedAt) * RENEW_BEFORE_SHARE);
  // Where it can't be renewed now, what is left of it is used up.
  return now < expiresAt - (isPausing(failure, now) ? 0 : reserveMs);
}

const isPausing = (failure: Failure | null, now: number): boolean => failure !== null && now < failure.until;

const withCure = (obtained: Obtained, cure: string): Obtained =>
  obtained.kind === 'refused' ? { ...obtained, why: `${obtained.why}; ${cure}` } : obtained;

/** What is to be kept once a sign-in has ended. */
function after(before: SignIn, obtained: Obtained, unhelpful: number, at: number): SignIn {
  if (obtained.kind === 'session') {
    const { token } = obtained;
    // One that would be over at once is a server's way of not saying.
    const expiresAt = obtained.expiresAt !== null && obtained.expiresAt > at ? obtained.expiresAt : null;
    const refreshToken = obtained.refreshToken ?? before.refreshToken;
    return {
      ...before,
      session: { token, expiresAt, obtainedAt: at, unhelpful },
      refreshToken,
      failure: null,
    };
  }
  const { kind, why } = obtained;
  const count = before.failure?.kind === kind ? before.failure.count + 1 : 1;
  return { ...before, failure: { kind, why, at, until: at + pauseAfter(obtained, count), count } };
}

function failed(connection: string, failure: Failure | null): NotSignedIn {
  if (failure === null) return { kind: 'unreached', why: `connection "${connection}" is not signed in yet` };
  const { kind, why, until } = failure;
  if (kind === 'away')
    return { kind: 'unreached', why: `connection "${connection}" can't sign in now: ${why}` };
  return {
    kind: 'signedOut',
    why: `connection "${connection}" is signed out: ${why}. It is tried again at ${clock(until)}, or once the secret is another`,
  };
}

/**
 * What is kept for other secrets than the catalogue's present ones is void. Not so the latest refresh token of the same
 * line: the API may have voided the catalogue's own by giving it, so that a new client secret would lock us out.
 */
function own(kept: SignIn | null, account: Pick<SignIn, 'fingerprint' | 'lineage'>): SignIn {
  if (kept?.fingerprint === account.fingerprint) return kept;
  const goesOn = account.lineage !== null && kept?.lineage === account.lineage;
  return { ...account, session: null, refreshToken: goesOn ? kept.refreshToken : null, failure: null };
}

const without = (turnedAway: Session | null, signIn: SignIn): SignIn =>
  turnedAway !== null && signIn.session?.token === turnedAway.token ? { ...signIn, session: null } : signIn;

function pauseAfter(obtained: Exclude<Obtained, { kind: 'session' }>, count: number): number {
  const doubled = 2 ** (count - 1);
  if (obtained.kind === 'refused') return Math.min(LONGEST_REFUSED_PAUSE_MS, REFUSED_PAUSE_MS * doubled);
  return Math.max(obtained.retryAfterMs ?? 0, Math.min(LONGEST_AWAY_PAUSE_MS, AWAY_PAUSE_MS * doubled));
}

export const clock = (at: number): string =>
  `${new Date(at).toISOString().slice(0, 16).replace('T', ' ')} UTC`;
