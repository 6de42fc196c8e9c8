/** The commands ahead in a lane, as Temporal shows them: nobody but Temporal says whether one is over. */
import { Context } from '@temporalio/activity';
import { type Client, type WorkflowExecutionDescription, WorkflowNotFoundError } from '@temporalio/client';
import { ApplicationFailure, ApplicationFailureCategory } from '@temporalio/common';
import type { CommandView } from '../domain/command.ts';
import type { TraceCarrier } from '../tracing/trace-context.ts';
import { FAILURE, MEMO_KEY, TRACE_MEMO_KEY } from '../workflows/messages.ts';

/** Well within the activity's own time-out; a waiting command then comes back by retry. */
const LONG_POLL_MS = 50_000;
/** Those further back only have to notice that they are next. */
const COME_BACK_AFTER_MS = 5000;

export type OtherCommand = WorkflowExecutionDescription;

/** null: unknown to Temporal, or past retention. */
export async function describeCommand(client: Client, commandId: string): Promise<OtherCommand | null> {
  try {
    return await client.workflow.getHandle(commandId).describe();
  } catch (error) {
    if (error instanceof WorkflowNotFoundError) return null;
    throw error;
  }
}

export const isOpen = (command: OtherCommand | null): boolean => command?.status.name === 'RUNNING';

export const viewOf = (command: OtherCommand | null): CommandView | undefined =>
  command?.memo?.[MEMO_KEY] as CommandView | undefined;

export const traceOf = (command: OtherCommand | null): TraceCarrier | undefined =>
  command?.memo?.[TRACE_MEMO_KEY] as TraceCarrier | undefined;

/** Its id, for its own owner; to anybody else a command is nobody's business. */
export function nameFor(owner: string, commandId: string, view: CommandView | undefined): string | null {
  return view?.owner === owner ? commandId : null;
}

/** Commands that are over → until when what they sent may still act on the device, epoch ms. */
export type ClosedCommands = Map<string, number>;

export interface Ahead {
  readonly ids: readonly string[];
  readonly closed: ClosedCommands;
  /** How long a send that was cut off may still be on its way. */
  readonly cutSendMs: number;
  /** How long the device may go on showing an old value. */
  readonly lagMs: number;
}

/**
 * Returns once all ahead are closed and nothing of theirs can still be on its way; else throws the benign failure that
 * brings this attempt back later. The result: until when what one of them sent may still act, epoch ms.
 */
export async function untilClosed(client: Client, { ids, closed, cutSendMs, lagMs }: Ahead): Promise<number> {
  const polledUntil = Date.now() + LONG_POLL_MS;
  for (;;) {
    const open: string[] = [];
    let quietAt = 0;
    for (const id of ids) {
      if (closed.has(id)) continue;
      const command = await describeCommand(client, id);
      const mayArriveUntil = sendMayArriveUntil(command, cutSendMs);
      if (isOpen(command)) open.push(id);
      else if (mayArriveUntil <= Date.now()) closed.set(id, mayActUntil(command, lagMs));
      quietAt = Math.max(quietAt, mayArriveUntil);
    }
    const [next] = open;
    if (next === undefined && quietAt <= Date.now())
      return Math.max(0, ...ids.map((id) => closed.get(id) ?? 0));
    if (next === undefined) throw waiting('a send that was cut off may still arrive', quietAt - Date.now());
    if (open.length > 1) throw waiting(aheadInWords(open), COME_BACK_AFTER_MS);
    if (Date.now() >= polledUntil) throw waiting(aheadInWords(open), 1000);
    await closeOf(client, next, polledUntil - Date.now());
  }
}

/** One that was cut off (terminated, timed out) may still have a send under way. */
function sendMayArriveUntil(command: OtherCommand | null, cutSendMs: number): number {
  if (command?.closeTime === undefined) return 0;
  const cut = ['TERMINATED', 'TIMED_OUT', 'FAILED'].includes(command.status.name);
  return cut ? command.closeTime.getTime() + cutSendMs : 0;
}

/** What was sent and never seen to settle may change the device for as long as it lags behind. */
function mayActUntil(command: OtherCommand | null, lagMs: number): number {
  const view = viewOf(command);
  if (command?.closeTime === undefined || view === undefined || view.sent.count === 0) return 0;
  const settled = view.result?.outcome === 'verified' || view.result?.outcome === 'refused';
  return settled ? 0 : command.closeTime.getTime() + lagMs;
}

/** Waits for the end of a command that was carried out; throws the benign failure while it is open. */
export async function endOf(client: Client, commandId: string): Promise<OtherCommand | null> {
  const command = await describeCommand(client, commandId);
  if (!isOpen(command)) return command;
  await closeOf(client, commandId, LONG_POLL_MS);
  const later = await describeCommand(client, commandId);
  if (isOpen(later)) throw waiting(aheadInWords([commandId]), 1000);
  return later;
}

/** Long-polls the close of a command, for at most `timeoutMs`; how it closed doesn't matter. */
async function closeOf(client: Client, commandId: string, timeoutMs: number): Promise<void> {
  const { cancellationSignal } = Context.current();
  const signal = AbortSignal.any([cancellationSignal, AbortSignal.timeout(timeoutMs)]);
  try {
    await client.withAbortSignal(signal, () => client.workflow.getHandle(commandId).result());
  } catch (error) {
    if (cancellationSignal.aborted) throw error;
    // A failed or cancelled command is closed too; an aborted poll is looked at again by the caller.
  }
}

const aheadInWords = (open: readonly string[]): string => `${open.length} ahead, first ${open[0]}`;

export function waiting(message: string, nextRetryDelay: number): ApplicationFailure {
  return ApplicationFailure.create({
    message,
    type: FAILURE.waitingForTurn,
    nextRetryDelay: Math.max(1, nextRetryDelay),
    category: ApplicationFailureCategory.BENIGN,
  });
}
