/** What a decision is bound to, so that it can't be moved to another command, question or person. */

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
  readonly decision: 'approved' | 'declined' | 'dismissed';
  readonly by: string;
  readonly via: string;
  readonly at: number;
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
    decision.comment,
    nonce,
  ]);
}

/** No person reads a question and answers it faster than this; such a "no" came from the client itself. */
export const FASTEST_HUMAN_ANSWER_MS = 1000;
