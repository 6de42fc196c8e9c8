/** What a command workflow knows of itself, and the one place that writes it into the memo. */
import {
  allHandlersFinished,
  condition,
  upsertMemo,
  upsertSearchAttributes,
  workflowInfo,
} from '@temporalio/workflow';
import {
  acceptedView,
  type CommandRequest,
  type CommandResult,
  type CommandView,
} from '../domain/command.ts';
import type { SendResult } from '../domain/exchange.ts';
import {
  type FieldResult,
  type Outcome,
  type SampleRun,
  safeToSendAgain,
  type Verdict,
} from '../domain/outcome.ts';
import { MEMO_KEY, SEARCH_ATTRIBUTE } from './messages.ts';

export interface Story {
  readonly request: CommandRequest;
  readonly commandId: string;
  view: CommandView;
  /** May what was sent so far be sent twice? Only while every sent step is repeatable. */
  repeatable: boolean;
  /** Something that may not be sent twice may have been carried out. */
  onceOnlySent: boolean;
  /** Another command took the device over; `by`: its id, where it is the same owner's. */
  superseded: { readonly by: string | null } | null;
}

/** How a command ends, before it is written down. */
export interface Ending {
  readonly outcome: Outcome;
  readonly detail: string;
  readonly fields?: Readonly<Record<string, FieldResult>>;
  readonly samples?: readonly SampleRun[];
  readonly joined?: string;
}

export function openStory(request: CommandRequest): Story {
  const { workflowId, startTime } = workflowInfo();
  const view = acceptedView(request, startTime.getTime());
  return { request, commandId: workflowId, view, repeatable: true, onceOnlySent: false, superseded: null };
}

/** Changes the view and writes it: one event. Call it in the workflow task that schedules what comes next. */
export function tell(story: Story, change: Partial<CommandView>): void {
  const phaseAt =
    change.phase === undefined || change.phase === story.view.phase ? story.view.phaseAt : Date.now();
  story.view = { ...story.view, phaseAt, ...change };
  upsertMemo({ [MEMO_KEY]: story.view });
}

/** Records a send that reached or may have reached the device; written down with the next `tell`. */
export function countSend(story: Story, sent: SendResult, repeatable: boolean): void {
  const doubtful = !sent.acknowledged && sent.class !== 'refused';
  const before = story.view.sent;
  story.repeatable &&= repeatable;
  story.onceOnlySent ||= !repeatable && sent.class !== 'refused';
  story.view = {
    ...story.view,
    sent: {
      count: before.count + 1,
      certain: before.certain && !doubtful,
      reply: sent.reply ?? before.reply,
    },
  };
}

/** The last words: view and outcome in one workflow task with the close. */
export async function end(story: Story, ending: Ending): Promise<CommandResult> {
  const fields = ending.fields ?? unsent(story, verdictOfUnsent(ending.outcome), ending.detail);
  const adjusted = Object.values(fields).some((field) => field.adjusted);
  const result: CommandResult = {
    outcome: ending.outcome,
    fields,
    detail: ending.detail,
    safeToSendAgain: isSafeAgain(story, ending.outcome),
    repeatable: story.repeatable,
    adjusted,
    samples: ending.samples ?? [],
    endedAt: Date.now(),
    joined: ending.joined ?? null,
  };
  await condition(allHandlersFinished);
  upsertSearchAttributes([{ key: SEARCH_ATTRIBUTE.outcome, value: ending.outcome }]);
  tell(story, { phase: 'ended', note: ending.detail, until: null, approval: null, result });
  return result;
}

/** Where certainly nothing was sent, a cancelled command is as if it had never been; and a refusal undoes no earlier send. */
function isSafeAgain({ view, repeatable, onceOnlySent }: Story, outcome: Outcome): boolean {
  if (outcome === 'cancelled' && view.sent.count === 0) return true;
  if (outcome === 'refused' && onceOnlySent) return false;
  return safeToSendAgain(outcome, repeatable);
}

/** Every asked field with one and the same verdict: what there is to say when nothing was read back. */
export function unsent(story: Story, verdict: Verdict, detail: string): Record<string, FieldResult> {
  const fields = Object.keys(story.request.desired);
  return Object.fromEntries(fields.map((field) => [field, unsentField(story, field, verdict, detail)]));
}

export const unsentField = (story: Story, field: string, verdict: Verdict, detail: string): FieldResult => ({
  requested: story.request.desired[field] ?? false,
  previous: story.view.previous[field] ?? null,
  observed: null,
  verdict,
  adjusted: false,
  detail,
});

function verdictOfUnsent(outcome: Outcome): Verdict {
  if (outcome === 'refused' || outcome === 'superseded') return outcome;
  return 'notSent';
}
