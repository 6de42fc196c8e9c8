/** What an answer may look like. Anybody who reaches Temporal can send one, so anything may come in. */
import { isThroughClient, LONGEST_COMMENT } from '../domain/approval/decision.ts';
import { plain } from '../domain/text.ts';
import type { Gate } from './gate.ts';
import type { Answer } from './messages.ts';

const BY_HAND = 'temporal-ui';
const LONGEST_NAME = 64;
/** Answers that were not valid; beyond these nobody is listening any more, and the history stays short. */
const JUNK_ANSWERS_LIMIT = 25;

/** What was sealed is as its maker left it. What was written by hand may hold anything, and claim any origin and time. */
export function harmless(answer: Answer): Answer {
  if (answer.seal !== null) return answer;
  const { subject: _, ...said } = answer;
  const comment = typeof answer.comment === 'string' ? plain(answer.comment, LONGEST_COMMENT) : null;
  return {
    ...said,
    by: plain(answer.by, LONGEST_NAME),
    via: BY_HAND,
    comment: comment === '' ? null : comment,
    at: Date.now(),
  };
}

/** Cheap checks that need no activity, so that junk leaves no trace in the history. */
export function isNonsense(gate: Gate, answer: Answer): string | null {
  if (gate.junk >= JUNK_ANSWERS_LIMIT) return 'too many invalid answers: this approval only expires now';
  const known = ['approved', 'declined', 'dismissed', 'mistyped', 'opened'];
  const wellFormed =
    typeof answer?.key === 'string' &&
    known.includes(answer.decision) &&
    typeof answer.by === 'string' &&
    ['string', 'undefined'].includes(typeof answer.subject) &&
    typeof answer.at === 'number' &&
    isSealOrNone(answer.seal);
  if (!wellFormed)
    return 'an answer needs key, decision (approved, declined, dismissed, mistyped or opened), by, via and at';
  if (!/^approve-\d{1,3}$/.test(answer.key)) return `there is no question "${answer.key.slice(0, 40)}"`;
  if (gate.requirement === null || gate.isClosed) return 'nothing is waiting for an approval here';
  const { by, comment } = harmless(answer);
  if (by === '') return 'an answer needs the name of who gives it';
  if (answer.seal === null && answer.decision === 'declined' && comment === null)
    return 'a decline needs a comment that says why';
  if (isThroughClient(answer.via) && gate.attempts >= JUNK_ANSWERS_LIMIT)
    return 'this client has answered too often without deciding: the approval queue decides now';
  return null;
}

const isSealOrNone = (seal: Answer['seal']): boolean =>
  seal === null || (typeof seal?.nonce === 'string' && typeof seal.mac === 'string');
