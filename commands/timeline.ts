/** What happened to a command, in order, from its workflow's history. */
import type { Client } from '@temporalio/client';
import type { CommandView } from '../domain/command.ts';
import type { SendResult } from '../domain/exchange.ts';
import { ACTIVITY } from '../workflows/activity-types.ts';
import {
  type Answer,
  type AnswerReceipt,
  answerSignal,
  answerUpdate,
  MEMO_KEY,
} from '../workflows/messages.ts';
import type { TimelineEntry } from './commands.ts';
import { ask } from './engine.ts';
import { type Decode, decoderOf, type HistoryEvent, timeOf } from './history.ts';

/** undefined: no such workflow, or past retention. */
export async function timelineOf(client: Client, commandId: string): Promise<TimelineEntry[] | undefined> {
  const history = await ask(() => client.workflow.getHandle(commandId).fetchHistory());
  if (history === undefined) return undefined;
  const decode = decoderOf(client);
  const timeline: TimelineEntry[] = [];
  /** By the number of the event that began it: index of its entry. */
  const begun = new Map<string, number>();
  for (const event of history.events ?? []) {
    const entry = await entryOf(event, timeline, begun, decode);
    if (entry !== null) timeline.push(entry);
  }
  return timeline;
}

/** A new entry, or null where the event adds nothing or completes an earlier entry. */
async function entryOf(
  event: HistoryEvent,
  timeline: TimelineEntry[],
  begun: Map<string, number>,
  decode: Decode,
): Promise<TimelineEntry | null> {
  const at = timeOf(event);
  const complete = (began: unknown, change: (entry: TimelineEntry) => TimelineEntry): null => {
    const index = begun.get(String(began));
    const entry = index === undefined ? undefined : timeline[index];
    if (index !== undefined && entry !== undefined) timeline[index] = change(entry);
    return null;
  };
  const begin = (entry: TimelineEntry): TimelineEntry => {
    begun.set(String(event.eventId), timeline.length);
    return entry;
  };

  if (event.workflowExecutionStartedEventAttributes) return { kind: 'accepted', at };
  const memo = event.workflowPropertiesModifiedEventAttributes?.upsertedMemo?.fields?.[MEMO_KEY];
  if (memo) {
    const view = await decode<CommandView>({ payloads: [memo] });
    return view === undefined ? null : toldEntry(view, at);
  }
  if (event.activityTaskScheduledEventAttributes?.activityType?.name === ACTIVITY.send)
    return begin({ kind: 'send', at, endedAt: null, result: null });
  const sent = event.activityTaskCompletedEventAttributes;
  if (sent) {
    const result = await decode<SendResult>(sent.result);
    return complete(sent.scheduledEventId, (entry) =>
      entry.kind === 'send' ? { ...entry, endedAt: at, result: result ?? null } : entry,
    );
  }
  const broken = event.activityTaskTimedOutEventAttributes ?? event.activityTaskFailedEventAttributes;
  if (broken)
    return complete(broken.scheduledEventId, (entry) =>
      entry.kind === 'send' ? { ...entry, endedAt: at } : entry,
    );
  const accepted = event.workflowExecutionUpdateAcceptedEventAttributes;
  if (accepted?.acceptedRequest?.input?.name === answerUpdate.name) {
    const answer = await decode<Answer>(accepted.acceptedRequest.input.args);
    return answer === undefined ? null : begin(answerEntry(answer, at));
  }
  const answered = event.workflowExecutionUpdateCompletedEventAttributes;
  if (answered) {
    const receipt = await decode<AnswerReceipt>(answered.outcome?.success);
    return complete(answered.acceptedEventId, (entry) =>
      entry.kind === 'answer' ? { ...entry, taken: receipt?.taken ?? null } : entry,
    );
  }
  const signal = event.workflowExecutionSignaledEventAttributes;
  if (signal?.signalName === answerSignal.name) {
    const answer = await decode<Answer>(signal.input);
    return answer == null ? null : answerEntry(answer, at);
  }
  if (event.workflowExecutionCancelRequestedEventAttributes) return { kind: 'cancelRequested', at };
  return null;
}

function toldEntry({ phase, note, approval, result }: CommandView, at: number): TimelineEntry {
  if (result !== null) return { kind: 'ended', at, outcome: result.outcome, detail: result.detail };
  return { kind: 'phase', at, phase, note, expiresAt: approval?.expiresAt ?? null };
}

/** The seal stays behind: it is nobody's business but the workflow's. */
const answerEntry = ({ decision, by, via, comment, seal }: Answer, at: number): TimelineEntry => ({
  kind: 'answer',
  at,
  decision,
  by,
  via,
  comment,
  sealed: seal !== null,
  taken: null,
});
