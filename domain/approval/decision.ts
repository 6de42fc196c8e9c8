/** What a decision is bound to, so that it can't be moved to another command, question or person. */

import type { ApprovalAttempt } from '../command.ts';

/** `dismissed`, `mistyped` and `opened` (the page on which to decide) decide nothing. */
export type SaidAboutApproval = 'approved' | 'declined' | 'dismissed' | 'mistyped' | 'opened';

/** HMAC-SHA-256 over the decision, made by the part that authenticated the person. */
export interface Seal {
  readonly nonce: string;
  /** base64url */
  readonly mac: string;
}

export interface DecisionToSeal {
  readonly commandId: string;
  /** Digest of exactly what was asked: command, definition and rule. */
  readonly digest: string;
  readonly key: string;
  readonly decision: SaidAboutApproval;
  readonly by: string;
  /** Who that is to the issuer of sign-ins (`subjectAt`); absent: they did not sign in there. */
  readonly subject?: string;
  readonly via: string;
  readonly at: number;
  /** When the question was put to the asking client, as far as is known there. */
  readonly askedAt: number | null;
  readonly comment: string | null;
}

/** The bytes that are sealed: a fixed order of fields, unambiguous between them. */
export function sealedText(decision: DecisionToSeal, nonce: string): string {
  return JSON.stringify([
    'readback-decision-1',
    decision.commandId,
    decision.digest,
    decision.key,
    decision.decision,
    decision.by,
    decision.via,
    decision.at,
    decision.askedAt,
    decision.comment,
    nonce,
    ...(decision.subject === undefined ? [] : [decision.subject]),
  ]);
}

/** No person reads a question and answers it faster than this; such a "no" came from the client itself. */
export const FASTEST_HUMAN_ANSWER_MS = 1000;

/** Ways that lead through the client that asked, where nobody can tell whether a person answers. */
export const isThroughClient = (via: string): boolean => ['form', 'mrtr', 'url'].includes(via);

export function attemptInWords({ how, latencyMs }: ApprovalAttempt): string {
  switch (how) {
    case 'dismissed':
      return 'the question was dismissed';
    case 'mistyped':
      return 'the answer was neither yes nor no';
    case 'opened':
      return 'the page to decide on was opened';
    case 'tooFast':
      return `answered by the client after ${latencyMs} ms; perhaps no person saw it`;
  }
}

/** Of what a person says with their decision, in characters. */
export const LONGEST_COMMENT = 500;
