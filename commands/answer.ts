/** Carries a decision to a command's workflow, so that it is neither lost nor taken twice. */
import {
  type Client,
  WorkflowUpdateFailedError,
  WorkflowUpdateRPCTimeoutOrCancelledError,
} from '@temporalio/client';
import { decisionOf } from '../domain/approval/answer.ts';
import { seal } from '../domain/approval/seal.ts';
import type { PendingApproval } from '../domain/command.ts';
import { type Answer, type AnswerReceipt, answerSignal, answerUpdate } from '../workflows/messages.ts';
import { type Answered, type CommandSnapshot, EngineUnreachable } from './commands.ts';
import { ask } from './engine.ts';

/** With no worker an update is never acknowledged; after this it goes as a signal, which is durable. */
const UPDATE_DEADLINE_MS = 5000;

export interface Decider {
  readonly by: string;
  /** Who that is to the issuer of sign-ins; absent: they did not sign in there. */
  readonly subject?: string;
  /** `form`, `mrtr`, `url`, `console`, `cli`. */
  readonly via: string;
  /** When the asking client was shown the question; absent or null: not known, or not asked through a client. */
  readonly askedAt?: number | null;
  /** When the answer was received, epoch ms; absent: now. */
  readonly at?: number;
}

/**
 * The responses of a client to the questions it was shown. Unknown and old keys are ignored; a command that waits for
 * nothing takes nothing.
 */
export async function answerQuestions(
  client: Client,
  sealKey: Uint8Array,
  snapshot: CommandSnapshot,
  responses: Readonly<Record<string, unknown>>,
  decider: Decider,
): Promise<Answered> {
  const { commandId, status, view } = snapshot;
  const { approval } = view;
  if (approval === null && view.decidedBy !== null) return 'decidedBefore';
  if (status !== 'running' || approval === null || !Object.hasOwn(responses, approval.key)) return 'notOpen';
  const decision = decisionOf(responses[approval.key], decider.via);
  const receipt = await deliverAnswer(
    client,
    commandId,
    sealed(sealKey, commandId, approval, { decision, comment: null, ...decider }),
  );
  if (receipt === 'queued') return 'queued';
  if (receipt === 'ended') return 'notOpen';
  if (!receipt.taken)
    return receipt.standing === 'approved' || receipt.standing === 'declined' ? 'decidedBefore' : 'notOpen';
  if (receipt.standing !== 'open') return 'decided';
  return decision === 'opened' ? 'opened' : 'leftOpen';
}

export function sealed(
  sealKey: Uint8Array,
  commandId: string,
  { key, digest }: PendingApproval,
  {
    decision,
    comment,
    askedAt = null,
    at = Date.now(),
    ...who
  }: Decider & Pick<Answer, 'decision' | 'comment'>,
): Answer {
  const answer = { key, decision, ...who, comment, at, askedAt };
  return { ...answer, seal: seal(sealKey, { commandId, digest, ...answer }) };
}

/**
 * The receipt says what stands. `queued`: no worker acknowledged it; it is recorded, and taken as soon as one runs.
 * `ended`: the command is over, nothing waits for an answer.
 */
export async function deliverAnswer(
  client: Client,
  commandId: string,
  answer: Answer,
): Promise<AnswerReceipt | 'queued' | 'ended'> {
  const handle = client.workflow.getHandle(commandId);
  try {
    const receipt = await ask(() =>
      client.withDeadline(Date.now() + UPDATE_DEADLINE_MS, () =>
        handle.executeUpdate(answerUpdate, {
          args: [answer],
          updateId: `${answer.key}/${answer.seal?.nonce ?? answer.at}`,
        }),
      ),
    );
    return receipt ?? 'ended';
  } catch (error) {
    // Its validator said no: nothing waits, or too much junk came in.
    if (error instanceof WorkflowUpdateFailedError) return { taken: false, standing: 'open', by: null };
    if (!isUnanswered(error)) throw error;
    const signalled = await ask(async () => {
      await handle.signal(answerSignal, answer);
      return 'queued' as const;
    });
    return signalled ?? 'ended';
  }
}

/** No worker acknowledged it. The workflow ignores the signal if the update was taken after all. */
const isUnanswered = (error: unknown): boolean =>
  error instanceof EngineUnreachable || error instanceof WorkflowUpdateRPCTimeoutOrCancelledError;
