/** Derives the audit's records from the events of one command's history: the same events, the same records. */
import proto from '@temporalio/proto';
import type { CommandRequest, CommandView } from '../../domain/command.ts';
import type { SendResult } from '../../domain/exchange.ts';
import { ACTIVITY, type SendInput } from '../../workflows/activity-types.ts';
import { type AnswerReceipt, answerSignal, answerUpdate, MEMO_KEY } from '../../workflows/messages.ts';
import { type Decode, type Execution, type HistoryEvent, type Payloads } from '../history.ts';
import { createAnswerBook, type ReceivedAnswer, type SettledAnswer } from './answers.ts';
import {
  type AuditRecord,
  acceptanceFacts,
  answerFacts,
  type ClosingStatus,
  endFacts,
  recordOf,
  type Sending,
  sendFacts,
} from './record.ts';

const { WORKFLOW_TASK_FAILED_CAUSE_RESET_WORKFLOW: RESET } =
  proto.temporal.api.enums.v1.WorkflowTaskFailedCause;

export interface Auditor {
  /** The records that this event settles, at this time (epoch ms). Events come in the order of the history. */
  take(event: HistoryEvent, at: number): Promise<readonly AuditRecord[]>;
}

/** What a send without a result may have done. */
type Broken = Pick<SendResult, 'class' | 'reply' | 'detail'>;
const NEVER_BEGAN: Broken = { class: 'unreached', reply: null, detail: 'it never began' };
const BROKEN_OFF: Broken = { class: 'lost', reply: null, detail: 'it was broken off; it may have arrived' };

/** What is known of a command half-way through its history. */
interface Known {
  readonly request: CommandRequest;
  readonly answers: ReturnType<typeof createAnswerBook>;
  /** Under way, by the number of the event that began each. */
  readonly sends: Map<number, Sending>;
  /** Those of them that a worker took. */
  readonly taken: Set<number>;
  view: CommandView | null;
  approvalDigest: string | null;
}

export function createAuditor(execution: Execution, decode: Decode): Auditor {
  let known: Known | null = null;
  /** A run that was reset begins with a copy of another one's history, whose records are that one's. */
  let copied = false;

  return {
    async take(event, at) {
      const begun = event.workflowExecutionStartedEventAttributes;
      if (begun) {
        copied = (begun.originalExecutionRunId || execution.runId) !== execution.runId;
        const request = requestIn(await decode<unknown>(begun.input));
        if (request === null) return [];
        known = {
          request,
          answers: createAnswerBook(),
          sends: new Map(),
          taken: new Set(),
          view: null,
          approvalDigest: null,
        };
      }
      if (known === null) return [];
      const records = await recordsOf(event, { ...execution, at }, known, decode);
      if (!copied) return records;
      const failed = event.workflowTaskFailedEventAttributes;
      if (failed?.cause === RESET && failed.newRunId === execution.runId) copied = false;
      return [];
    },
  };
}

async function recordsOf(
  event: HistoryEvent,
  now: Execution & { readonly at: number },
  known: Known,
  decode: Decode,
): Promise<AuditRecord[]> {
  const moment = (eventId: number) => ({ ...now, eventId, approvalDigest: known.approvalDigest });
  const ofAnswers = (settled: readonly SettledAnswer[]): AuditRecord[] =>
    settled.map((answer) => recordOf(moment(answer.eventId), known.request, answerFacts(answer)));
  const ofSend = (began: number, result: Broken): AuditRecord[] => {
    const sending = known.sends.get(began);
    if (sending === undefined) return [];
    known.sends.delete(began);
    return [recordOf(moment(began), known.request, sendFacts(sending, now.at, result))];
  };
  const eventId = Number(event.eventId);

  if (event.workflowExecutionStartedEventAttributes)
    return [recordOf(moment(eventId), known.request, acceptanceFacts(known.request))];

  await noteBegun(event, now.at, known, decode);
  const completed = event.activityTaskCompletedEventAttributes;
  if (completed) {
    const began = Number(completed.scheduledEventId);
    const result = await decode<unknown>(completed.result);
    if (known.sends.has(began)) return ofSend(began, result as SendResult);
    known.answers.sealChecked(began, result === true);
  }
  const broken =
    event.activityTaskTimedOutEventAttributes ??
    event.activityTaskFailedEventAttributes ??
    event.activityTaskCanceledEventAttributes;
  if (broken) {
    const began = Number(broken.scheduledEventId);
    return ofSend(began, known.taken.has(began) ? BROKEN_OFF : NEVER_BEGAN);
  }

  const memo = event.workflowPropertiesModifiedEventAttributes?.upsertedMemo?.fields?.[MEMO_KEY];
  if (memo) {
    known.view = (await decode<CommandView>({ payloads: [memo] })) ?? known.view;
    known.approvalDigest = known.view?.approval?.digest ?? known.approvalDigest;
    return known.view === null ? [] : ofAnswers(known.answers.told(known.view));
  }
  const answered = event.workflowExecutionUpdateCompletedEventAttributes;
  if (answered) {
    const receipt = (await decode<AnswerReceipt>(answered.outcome?.success)) ?? null;
    return ofAnswers(known.answers.receipted(Number(answered.acceptedEventId), receipt));
  }

  const status = closingStatus(event);
  if (status === null) return [];
  return [
    ...ofAnswers(known.answers.closed()),
    // A history doesn't tell whether a worker has taken what is still under way.
    ...[...known.sends.keys()].flatMap((began) => ofSend(began, BROKEN_OFF)),
    recordOf(moment(eventId), known.request, endFacts(status, known.view)),
  ];
}

/** Takes note of what begins with this event and is settled by a later one. */
async function noteBegun(
  event: HistoryEvent,
  at: number,
  { answers, sends, taken }: Known,
  decode: Decode,
): Promise<void> {
  const eventId = Number(event.eventId);
  const scheduled = event.activityTaskScheduledEventAttributes;
  if (scheduled?.activityType?.name === ACTIVITY.send) {
    const input = await decode<SendInput>(scheduled.input);
    if (input !== undefined) sends.set(eventId, { beganAt: at, input });
  }
  if (scheduled?.activityType?.name === 'checkSeal') {
    const input = await decode<{ readonly answer: ReceivedAnswer }>(scheduled.input);
    if (input !== undefined) answers.sealCheckBegan(eventId, input.answer);
  }
  const started = event.activityTaskStartedEventAttributes;
  if (started) taken.add(Number(started.scheduledEventId));
  const update = event.workflowExecutionUpdateAcceptedEventAttributes?.acceptedRequest?.input;
  if (update?.name === answerUpdate.name)
    answers.received(eventId, at, await answerIn(update.args, decode), 'update');
  const signal = event.workflowExecutionSignaledEventAttributes;
  if (signal?.signalName === answerSignal.name)
    answers.received(eventId, at, await answerIn(signal.input, decode), 'signal');
}

/** null: started by hand with something that no command is made of. */
function requestIn(input: unknown): CommandRequest | null {
  const request = input as Partial<CommandRequest> | null | undefined;
  const whole =
    typeof request?.device === 'string' &&
    typeof request.caller?.subject === 'string' &&
    typeof request.desired === 'object' &&
    request.desired !== null;
  return whole ? (request as CommandRequest) : null;
}

/** What can't be read was sent by hand: a record of it, without its words, is better than none. */
async function answerIn(payloads: Payloads, decode: Decode): Promise<ReceivedAnswer> {
  const answer = await decode<unknown>(payloads).catch(() => null);
  return typeof answer === 'object' && answer !== null ? answer : {};
}

function closingStatus(event: HistoryEvent): ClosingStatus | null {
  if (event.workflowExecutionCompletedEventAttributes) return 'completed';
  if (event.workflowExecutionCanceledEventAttributes) return 'cancelled';
  if (event.workflowExecutionFailedEventAttributes) return 'failed';
  if (event.workflowExecutionTerminatedEventAttributes) return 'terminated';
  return event.workflowExecutionTimedOutEventAttributes ? 'timedOut' : null;
}
