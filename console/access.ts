/** Who may look and who may decide. */
import { getConnInfo } from '@hono/node-server/conninfo';
import type { Context } from 'hono';
import { getCookie } from 'hono/cookie';
import type { Approver, Approvers } from '../commands/approvers.ts';
import type { Session, Sessions } from './session.ts';
import { createWrongSecrets } from './wrong-secrets.ts';

export type Standing =
  | { readonly kind: 'approver'; readonly session: Session }
  /** Signed in, and no approver: sees and decides what their own commands ask of them. */
  | { readonly kind: 'requester'; readonly session: Session }
  /** There are no approvers, nobody can sign in, and only this machine reaches the server: anybody may look. */
  | { readonly kind: 'reader' }
  | { readonly kind: 'stranger'; readonly canSignIn: boolean };

export type Identified =
  | { readonly kind: 'approver'; readonly approver: Approver }
  | { readonly kind: 'nobody' }
  | { readonly kind: 'wait'; readonly seconds: number };

export interface Access {
  /** By the session's cookie. */
  standing(c: Context): Standing;
  /** By a secret. A right one always counts; after too many wrong ones from one address, it has to wait with more of them. */
  identify(c: Context, secret: string): Identified;
}

export function createAccess({
  approvers,
  sessions,
  loopback,
  hasIssuer,
}: {
  readonly approvers: Approvers;
  readonly sessions: Sessions;
  readonly loopback: boolean;
  /** People can sign in without being approvers. */
  readonly hasIssuer: boolean;
}): Access {
  const wrong = createWrongSecrets();
  return {
    standing(c) {
      const known = approvers.list();
      const session = sessions.read(getCookie(c, sessions.cookieName), known, Date.now());
      if (session !== null) return { kind: session.person.isApprover ? 'approver' : 'requester', session };
      const canSignIn = hasIssuer || known.length > 0;
      return !canSignIn && loopback ? { kind: 'reader' } : { kind: 'stranger', canSignIn };
    },
    identify(c, secret) {
      const approver = approvers.identify(secret);
      if (approver !== null) return { kind: 'approver', approver };
      const address = addressOf(c);
      const waitMs = wrong.waitMs(address, Date.now());
      if (waitMs > 0) return { kind: 'wait', seconds: Math.ceil(waitMs / 1000) };
      wrong.count(address, Date.now());
      return { kind: 'nobody' };
    },
  };
}

export const sessionOf = (standing: Standing): Session | null =>
  'session' in standing ? standing.session : null;

const addressOf = (c: Context): string => getConnInfo(c).remote.address ?? 'unknown';
