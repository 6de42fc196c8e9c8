/** The gate: a command that needs a person's approval waits here, before anything is sent. */

import {
  CancellationScope,
  condition,
  proxyActivities,
  setHandler,
  upsertSearchAttributes,
} from '@temporalio/workflow';
import { attemptInWords, FASTEST_HUMAN_ANSWER_MS, isThroughClient } from '../domain/approval/decision.ts';
import { samePerson } from '../domain/approval/person.ts';
import type { ApprovalAttempt, DecisionRecord, PendingApproval } from '../domain/command.ts';
import type { Activities, Requirement, Turn } from './activity-types.ts';
import { harmless, isNonsense } from './answer-shape.ts';
import { startRinging } from './bell.ts';
import { type Answer, type AnswerReceipt, answerSignal, answerUpdate, SEARCH_ATTRIBUTE } from './messages.ts';
import { type Ending, type Story, tell } from './story.ts';

const { checkSeal } = proxyActivities<Activities>({ startToCloseTimeout: '10 seconds' });

/** Attempts that the view shows; the history keeps all. */
const SHOWN_ATTEMPTS = 10;

export interface Gate {
  requirement: Requirement | null;
  decision: DecisionRecord | null;
  junk: number;
  attempts: number;
  /** Answers whose seal is being checked. */
  checking: number;
  /** The command is being cancelled or taken over: nothing is decided any more. */
  isClosed: boolean;
  /** All answers that came so far have been weighed. */
  weighed: Promise<void>;
  /** When the question that is open now came up: each one has a key of its own. */
  questionAt: number;
}

/** Opens the gate's two doors, update and signal. Both take the same answer; the first valid one decides. */
export function openGate(story: Story): Gate {
  const gate: Gate = {
    requirement: null,
    decision: null,
    junk: 0,
    attempts: 0,
    checking: 0,
    isClosed: false,
    weighed: Promise.resolve(),
    questionAt: 0,
  };
  setHandler(answerUpdate, (answer) => takeAnswer(story, gate, answer), {
    // Must stay synchronous: an asynchronous validator can't reject.
    validator: (answer: Answer) => refuseNonsense(gate, answer),
  });
  setHandler(answerSignal, async (answer) => {
    if (isNonsense(gate, answer) === null) await takeAnswer(story, gate, answer);
  });
  return gate;
}

/** From now on nothing is decided; what was decided in the same moment is still told. */
export function closeGate(story: Story, gate: Gate): void {
  gate.isClosed = true;
  story.view = { ...story.view, decidedBy: story.view.decidedBy ?? gate.decision };
}

/** Waits for a person's yes; null when it was given, else how the command ends. */
export async function waitForApproval(
  story: Story,
  gate: Gate,
  { requirement, before, rings }: Extract<Turn, { kind: 'needsApproval' }>,
): Promise<Ending | null> {
  gate.requirement = requirement;
  const askedAt = Date.now();
  gate.questionAt = askedAt;
  const { by, reason, digest, expiresMs } = requirement;
  upsertSearchAttributes([{ key: SEARCH_ATTRIBUTE.approval, value: 'pending' }]);
  tell(story, {
    phase: 'waiting_for_approval',
    note: `waiting for a yes from ${by === 'operator' ? 'an operator' : 'the requester'}`,
    until: askedAt + expiresMs,
    previous: before,
    approval: {
      by,
      reason,
      askedAt,
      expiresAt: askedAt + expiresMs,
      digest,
      key: 'approve-1',
      before,
    },
  });
  const bell = rings ? startRinging(story, expiresMs) : null;

  const isDecided = (): boolean => gate.decision !== null;
  // An answer that came in time counts, also where its seal is still being checked, or no worker ran meanwhile.
  if (!(await condition(isDecided, expiresMs))) await condition(() => isDecided() || gate.checking === 0);
  bell?.stop();
  const { decision } = gate;
  upsertSearchAttributes([{ key: SEARCH_ATTRIBUTE.approval, value: decision?.decision ?? 'expired' }]);
  story.view = { ...story.view, approval: null, decidedBy: decision };
  if (decision === null) {
    return { outcome: 'expired', detail: 'Nobody approved it in time. Nothing was sent.' };
  }
  if (decision.decision === 'approved') return null;
  const words = decision.comment === null ? '' : `: "${decision.comment}"`;
  return { outcome: 'declined', detail: `Declined by ${decision.by}${words}. Nothing was sent.` };
}

/** Answers are weighed in the order in which they came, however long the check of each one's seal takes. */
function takeAnswer(story: Story, gate: Gate, answer: Answer): Promise<AnswerReceipt> {
  const receipt = weigh(story, gate, answer, gate.weighed);
  gate.weighed = receipt.then(
    () => undefined,
    () => undefined,
  );
  return receipt;
}

async function weigh(
  story: Story,
  gate: Gate,
  given: Answer,
  earlier: Promise<void>,
): Promise<AnswerReceipt> {
  const answer = harmless(given);
  const requirement = gate.requirement;
  if (requirement === null || gate.decision !== null) return receipt(story, gate, false);
  if (openQuestion(story, answer) === null) return receipt(story, gate, false);
  const sealed = await isSealed(story, gate, requirement, given);
  await earlier;
  if (!sealed || !mayDecide(story, requirement, answer)) {
    gate.junk += 1;
    return receipt(story, gate, false);
  }
  if (gate.isClosed) return receipt(story, gate, false);
  // Another answer may have been checked meanwhile, or the time may be over: the first valid one stands.
  const asked = openQuestion(story, answer);
  if (gate.decision !== null || asked === null) return receipt(story, gate, false);
  const latencyMs = latencyOf(answer, asked, gate);
  const said = meaningOf(answer, latencyMs);
  if (said !== 'approved' && said !== 'declined') {
    leaveOpen(story, gate, asked, { how: said, via: answer.via, at: answer.at, latencyMs });
    return receipt(story, gate, true);
  }
  gate.decision = {
    decision: said,
    by: answer.by,
    ...(answer.subject === undefined ? {} : { subject: answer.subject }),
    via: answer.via,
    authenticated: answer.seal !== null,
    at: Date.now(),
    latencyMs,
    comment: answer.comment,
  };
  return receipt(story, gate, true);
}

/** Also while the command is being cancelled: a handler that fails would take the workflow down with it. */
async function isSealed(story: Story, gate: Gate, { digest }: Requirement, answer: Answer): Promise<boolean> {
  gate.checking += 1;
  try {
    const { commandId } = story;
    return await CancellationScope.nonCancellable(() => checkSeal({ commandId, digest, answer }));
  } finally {
    gate.checking -= 1;
  }
}

/** A rule for operators is never decided by the one who asks, nor through the asking client. */
function mayDecide(story: Story, requirement: Requirement, answer: Answer): boolean {
  if (requirement.by === 'requester') return true;
  const { subject: asker } = story.request.caller;
  const isAsker = [answer.by, answer.subject ?? answer.by].some((name) => samePerson(name, asker));
  return !isAsker && !isThroughClient(answer.via);
}

/** What is asked now. null: nothing, or not what is answered; a client answers the question that it was shown last. */
function openQuestion({ view }: Story, answer: Answer): PendingApproval | null {
  if (view.approval === null || isTooLate(answer, view.approval)) return null;
  if (!isThroughClient(answer.via)) return view.approval;
  return answer.key === view.approval.key ? view.approval : null;
}

/** By the time that is sealed with it: one that waited for a worker was still given in time. */
function isTooLate({ at, seal }: Answer, { expiresAt }: PendingApproval): boolean {
  return (seal === null ? Date.now() : at) > expiresAt;
}

/** From the question to the answer. A client may have been shown it long after it came up. */
function latencyOf({ via, at, askedAt }: Answer, asked: PendingApproval, gate: Gate): number {
  const since = isThroughClient(via) ? (askedAt ?? gate.questionAt) : asked.askedAt;
  return Math.max(0, at - since);
}

function meaningOf(
  { decision, via }: Answer,
  latencyMs: number,
): DecisionRecord['decision'] | ApprovalAttempt['how'] {
  const tooFast = isThroughClient(via) && latencyMs < FASTEST_HUMAN_ANSWER_MS;
  return decision === 'declined' && tooFast ? 'tooFast' : decision;
}

/** Not a decision: recorded as what it was, and the question stays open for others. */
function leaveOpen(story: Story, gate: Gate, asked: PendingApproval, attempt: ApprovalAttempt): void {
  gate.attempts += 1;
  gate.questionAt = Date.now();
  tell(story, {
    note: `waiting for a yes in the approval queue (${attemptInWords(attempt)})`,
    approval: {
      ...asked,
      // A new key for the next time it is asked: keys are never used twice.
      key: `approve-${gate.attempts + 1}`,
      attempts: [...(asked.attempts ?? []), attempt].slice(-SHOWN_ATTEMPTS),
    },
  });
}

function receipt(story: Story, gate: Gate, taken: boolean): AnswerReceipt {
  const decision = gate.decision;
  const open = story.view.approval !== null;
  return { taken, standing: decision?.decision ?? (open ? 'open' : 'expired'), by: decision?.by ?? null };
}

function refuseNonsense(gate: Gate, answer: Answer): void {
  const problem = isNonsense(gate, answer);
  if (problem !== null) throw new Error(problem);
}
