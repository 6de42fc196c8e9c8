/**
 * Who is signed in: a cookie that says so, signed with a key that all servers share. Nothing is kept in a process, so any
 * replica knows any session, and removing an approver ends what they may do everywhere at once.
 */
import { createHmac, randomBytes, timingSafeEqual } from 'node:crypto';
import { z } from 'zod';
import type { Approver } from '../commands/approvers.ts';
import { type Person, personOf } from './person.ts';

/** A working day. */
export const SESSION_LASTS_MS = 12 * 3_600_000;
/** Whoever signed in at the issuer is asked again after so long without opening a page: there it costs them one press. */
export const IDLE_SESSION_LASTS_MS = 60 * 60_000;
/** The cookie is not made anew for every page. */
const RENEWED_AFTER_MS = 60_000;
const LONGEST_TOKEN = 3000;

export interface Session {
  readonly person: Person;
  /** Proves that a form was served to this session. */
  readonly csrf: string;
  /** Signed in at the issuer, where they may want to sign out as well. */
  readonly isOfIssuer: boolean;
  /** Epoch ms; unless it is renewed. */
  readonly endsAt: number;
  /** The cookie's value to go on with, now that a page was opened; null: as it is. */
  readonly renewed: string | null;
}

/** Who the issuer says they are. */
export interface KnownToIssuer {
  /** Issuer and subject in one word. */
  readonly subject: string;
  readonly shownAs: string;
  readonly mayDecide: boolean;
}

export interface Sessions {
  /** One for each installation, so that two on one host name don't sign each other's people out. */
  readonly cookieName: string;
  /** The cookie's value for who has shown their secret. */
  open(approver: Approver, now: number): string;
  /** The cookie's value for who has signed in at the issuer. */
  openFor(known: KnownToIssuer, now: number): string;
  /** null: forged, over, or of somebody who is no approver any more and whom no issuer knows. */
  read(token: string | undefined, approvers: readonly Approver[], now: number): Session | null;
  csrfMatches(session: Session, given: string | undefined): boolean;
}

const BY_SECRET = z.object({ name: z.string(), endsAt: z.number(), nonce: z.string() });
const BY_ISSUER = z.object({
  subject: z.string(),
  shownAs: z.string(),
  mayDecide: z.boolean(),
  endsAt: z.number(),
  /** When a page was opened last, epoch ms. */
  seenAt: z.number(),
  nonce: z.string(),
});
const CONTENT = z.union([BY_SECRET, BY_ISSUER]);
type ByIssuer = z.infer<typeof BY_ISSUER>;

/**
 * `key`: at least 32 bytes, the same on every server. `issuer`: where people sign in; null: nowhere, and nobody who did
 * is known any more.
 */
export function createSessions(key: Uint8Array, issuer: string | null = null): Sessions {
  const mac = (purpose: string, text: string): string =>
    createHmac('sha256', key).update(`readback-console/${purpose}\0${text}`).digest('base64url');
  const tokenOf = (content: object, purpose: string, bound: string): string => {
    const payload = Buffer.from(JSON.stringify(content)).toString('base64url');
    return `${payload}.${mac(purpose, `${payload}\0${bound}`)}`;
  };
  const byIssuer = (content: ByIssuer): string => tokenOf(content, 'person', issuer ?? '');

  return {
    cookieName: `readback_${mac('cookie', '').replace(/[^\w]/g, '').slice(0, 8)}`,
    open: ({ name, fingerprint }, now) =>
      tokenOf({ name, endsAt: now + SESSION_LASTS_MS, nonce: newNonce() }, 'session', fingerprint),
    openFor: ({ subject, shownAs, mayDecide }, now) =>
      byIssuer({
        subject,
        shownAs,
        mayDecide,
        endsAt: now + SESSION_LASTS_MS,
        seenAt: now,
        nonce: newNonce(),
      }),
    read(token, approvers, now) {
      if (token === undefined || token.length > LONGEST_TOKEN) return null;
      const [payload = '', seal = ''] = token.split('.');
      const content = contentOf(payload);
      if (content === null || content.endsAt <= now) return null;
      const csrf = mac('form', content.nonce);
      if ('subject' in content) {
        const endsAt = Math.min(content.endsAt, content.seenAt + IDLE_SESSION_LASTS_MS);
        if (issuer === null || !equal(seal, mac('person', `${payload}\0${issuer}`)) || endsAt <= now)
          return null;
        const isDue = now - content.seenAt >= RENEWED_AFTER_MS;
        const renewed = isDue ? byIssuer({ ...content, seenAt: now }) : null;
        return { person: personOfIssuer(content, approvers), csrf, isOfIssuer: true, endsAt, renewed };
      }
      const approver = approvers.find(({ name }) => name === content.name);
      if (approver === undefined || !equal(seal, mac('session', `${payload}\0${approver.fingerprint}`)))
        return null;
      return { person: personOf(approver), csrf, isOfIssuer: false, endsAt: content.endsAt, renewed: null };
    },
    csrfMatches: (session, given) => given !== undefined && equal(given, session.csrf),
  };
}

/** Who is an approver is looked up each time, so that removing one counts at once. */
function personOfIssuer({ subject, shownAs, mayDecide }: ByIssuer, approvers: readonly Approver[]): Person {
  const listed = approvers.find((approver) => approver.subject === subject);
  return {
    name: listed?.name ?? subject,
    subject,
    shownAs: listed?.name ?? shownAs,
    isApprover: mayDecide || listed !== undefined,
  };
}

const newNonce = (): string => randomBytes(12).toString('base64url');

function contentOf(payload: string): z.infer<typeof CONTENT> | null {
  try {
    return CONTENT.parse(JSON.parse(Buffer.from(payload, 'base64url').toString('utf8')));
  } catch {
    return null;
  }
}

function equal(a: string, b: string): boolean {
  const left = Buffer.from(a);
  const right = Buffer.from(b);
  return left.length === right.length && timingSafeEqual(left, right);
}
