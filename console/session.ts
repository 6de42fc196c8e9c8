/**
 * Who is signed in: a cookie that holds a name and an end, signed with a key that all servers share. Nothing is kept
 * in a process, so any replica knows any session, and removing an approver ends theirs everywhere at once.
 */
import { createHmac, randomBytes, timingSafeEqual } from 'node:crypto';
import type { Approver } from '../commands/approvers.ts';

/** A working day. */
export const SESSION_LASTS_MS = 12 * 3_600_000;
const LONGEST_TOKEN = 2000;

export interface Session {
  readonly approver: Approver;
  /** Proves that a form was served to this session. */
  readonly csrf: string;
  /** Epoch ms. */
  readonly endsAt: number;
}

export interface Sessions {
  /** One for each installation, so that two on one host name don't sign each other's people out. */
  readonly cookieName: string;
  /** The cookie's value. */
  open(approver: Approver, now: number): string;
  /** null: forged, over, or of somebody who is no approver any more. */
  read(token: string | undefined, approvers: readonly Approver[], now: number): Session | null;
  csrfMatches(session: Session, given: string | undefined): boolean;
}

/** `key`: at least 32 bytes, the same on every server. */
export function createSessions(key: Uint8Array): Sessions {
  const mac = (purpose: string, text: string): string =>
    createHmac('sha256', key).update(`readback-console/${purpose}\0${text}`).digest('base64url');

  return {
    cookieName: `readback_${mac('cookie', '').replace(/[^\w]/g, '').slice(0, 8)}`,
    open({ name, fingerprint }, now) {
      const content = { name, endsAt: now + SESSION_LASTS_MS, nonce: randomBytes(12).toString('base64url') };
      const payload = Buffer.from(JSON.stringify(content)).toString('base64url');
      return `${payload}.${mac('session', `${payload}\0${fingerprint}`)}`;
    },
    read(token, approvers, now) {
      if (token === undefined || token.length > LONGEST_TOKEN) return null;
      const [payload = '', seal = ''] = token.split('.');
      const content = contentOf(payload);
      const approver = approvers.find(({ name }) => name === content?.name);
      if (content === null || approver === undefined) return null;
      if (!equal(seal, mac('session', `${payload}\0${approver.fingerprint}`))) return null;
      if (content.endsAt <= now) return null;
      return { approver, csrf: mac('form', token), endsAt: content.endsAt };
    },
    csrfMatches: (session, given) => given !== undefined && equal(given, session.csrf),
  };
}

function contentOf(payload: string): { name: string; endsAt: number } | null {
  try {
    const content = JSON.parse(Buffer.from(payload, 'base64url').toString('utf8')) as Record<
      string,
      unknown
    > | null;
    const name = content?.['name'];
    const endsAt = content?.['endsAt'];
    return typeof name === 'string' && typeof endsAt === 'number' ? { name, endsAt } : null;
  } catch {
    return null;
  }
}

function equal(a: string, b: string): boolean {
  const left = Buffer.from(a);
  const right = Buffer.from(b);
  return left.length === right.length && timingSafeEqual(left, right);
}
