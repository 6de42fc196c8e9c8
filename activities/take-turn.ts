/**
 * A command's turn at its device: judged at the gate, placed in the lane, looked at, judged again. The lane hands out a place; going on is up to the command, once all ahead are closed.
 * Waiting costs no history: the next in line long-polls the one ahead, the others come back by retry.
 */
import { Context } from '@temporalio/activity';
import {
  WithStartWorkflowOperation,
  type WorkflowExecutionDescription,
  WorkflowNotFoundError,
} from '@temporalio/client';
import { ApplicationFailure, ApplicationFailureCategory } from '@temporalio/common';
import type { DeviceDefinition } from '../domain/catalogue/definition.ts';
import type { CommandView } from '../domain/command.ts';
import {
  enterUpdate,
  FAILURE,
  type LaneAnswer,
  type LaneEntry,
  laneWorkflowId,
  MEMO_KEY,
  supersedeSignal,
  TASK_QUEUE,
  type Turn,
  type TurnInput,
  WORKFLOW_TYPE,
} from '../workflows/messages.ts';
import { patientBaseline } from './baseline.ts';
import { type ActivityDependencies, deviceOf } from './dependencies.ts';
import { isCovered, judge, misfitOf, requirementFor } from './judge.ts';
import { lookAt } from './look.ts';

/** Well within the activity's own time-out; a waiting command then comes back by retry. */
const LONG_POLL_MS = 50_000;
const HEARTBEAT_EVERY_MS = 5000;
/** Those further back only have to notice that they are next. */
const COME_BACK_AFTER_MS = 5000;
/** Per lane, the commands that this worker knows to be closed: told to the lane with the next entry, which forgets them. */
const KNOWN_CLOSED_LIMIT = 1000;

/** What an attempt leaves to the next one. */
interface Place {
  readonly ahead: readonly string[];
}

type TakeTurn = (input: TurnInput) => Promise<Turn>;

export function createTakeTurn(dependencies: ActivityDependencies): TakeTurn {
  const closedIn = createClosedRegister();

  return async (input) => {
    const device = deviceOf(dependencies, input.request.device);
    const why = misfitOf(device, input.request);
    if (device === undefined || why !== null) return { kind: 'misfit', why: why ?? 'unknown device' };
    const context = Context.current();
    let place = context.info.heartbeatDetails as Place | null | undefined;
    const beat = setInterval(() => context.heartbeat(place), HEARTBEAT_EVERY_MS);
    try {
      if (place == null) {
        const asked = await judge(dependencies, device, input);
        if (asked !== null) return asked;
        const entered = await enter(dependencies, device, input, closedIn(device.id));
        if (entered.kind !== 'entered') return entered;
        place = { ahead: entered.ahead };
        context.heartbeat(place);
      }
      await untilClosed(dependencies, place.ahead, closedIn(device.id));
      const read = await patientBaseline(dependencies, device);
      const needed = await requirementFor(dependencies, device, input.request, read.sample.fields);
      if (!isCovered(needed, input.approved)) return { kind: 'void' };
      return { kind: 'ready', look: await lookAt(dependencies, input.request, read) };
    } finally {
      clearInterval(beat);
    }
  };
}

/** Which commands this worker has seen closed, per lane; bounded, oldest forgotten first. */
function createClosedRegister(): (device: string) => Set<string> {
  const lanes = new Map<string, Set<string>>();
  return (device) => {
    const closed = lanes.get(device) ?? new Set();
    lanes.set(device, closed);
    for (const oldest of closed) {
      if (closed.size <= KNOWN_CLOSED_LIMIT) break;
      closed.delete(oldest);
    }
    return closed;
  };
}

type Entered = Extract<LaneAnswer, { kind: 'entered' }> | Exclude<Turn, { kind: 'ready' }>;

/** Takes a place in the lane, or learns why there is none to take. */
async function enter(
  dependencies: ActivityDependencies,
  device: DeviceDefinition,
  input: TurnInput,
  closed: Set<string>,
): Promise<Entered> {
  const { request, acceptedAt } = input;
  const commandId = Context.current().info.workflowExecution?.workflowId ?? '';
  const entry: LaneEntry = {
    commandId,
    acceptedAt,
    fields: Object.keys(request.desired),
    contentKey: request.contentKey,
  };
  for (let round = 1; ; round += 1) {
    const told = [...closed];
    const answer = await askLane(dependencies, device.id, { entry, closed: told, round });
    // What the lane has been told it has forgotten, and so may we.
    for (const id of told) closed.delete(id);
    switch (answer.kind) {
      case 'overtaken':
        return answer;
      case 'entered':
        return await byPolicy(dependencies, device, answer, commandId);
      case 'duplicate': {
        const first = await describe(dependencies, answer.of);
        if (first !== null && !(first.closeTime !== undefined && first.closeTime.getTime() < acceptedAt)) {
          return await endOf(dependencies, answer.of);
        }
        // It had ended before this call was made: the same words again are a new command.
        closed.add(answer.of);
      }
    }
  }
}

async function askLane(
  { client }: ActivityDependencies,
  device: string,
  { entry, closed, round }: { entry: LaneEntry; closed: readonly string[]; round: number },
): Promise<LaneAnswer> {
  const startWorkflowOperation = new WithStartWorkflowOperation(WORKFLOW_TYPE.lane, {
    workflowId: laneWorkflowId(device),
    taskQueue: TASK_QUEUE,
    args: [],
    workflowIdConflictPolicy: 'USE_EXISTING',
  });
  return await client.workflow.executeUpdateWithStart(enterUpdate, {
    startWorkflowOperation,
    args: [entry, closed],
    // A repeated attempt gets the first answer instead of a second place.
    updateId: `${entry.commandId}/${round}`,
  });
}

/** What the device's `lane` says about a second command. */
async function byPolicy(
  dependencies: ActivityDependencies,
  device: DeviceDefinition,
  entered: Extract<LaneAnswer, { kind: 'entered' }>,
  commandId: string,
): Promise<Entered> {
  if (device.lane === 'queue') return entered;
  const open = [];
  for (const id of entered.ahead) if (isOpen(await describe(dependencies, id))) open.push(id);
  const [first] = open;
  if (first === undefined) return entered;
  if (device.lane === 'reject') return { kind: 'busy', ahead: first };
  for (const id of open) {
    await dependencies.client.workflow
      .getHandle(id)
      .signal(supersedeSignal, { by: commandId })
      .catch((error: unknown) => {
        // It closed meanwhile, which is all that was wanted.
        if (!(error instanceof WorkflowNotFoundError)) throw error;
      });
  }
  return entered;
}

/** Returns once all ahead are closed; else throws the benign failure that brings this attempt back later. */
async function untilClosed(
  dependencies: ActivityDependencies,
  ahead: readonly string[],
  closed: Set<string>,
): Promise<void> {
  const polledUntil = Date.now() + LONG_POLL_MS;
  for (;;) {
    const open: string[] = [];
    let quietAt = 0;
    for (const id of ahead) {
      if (closed.has(id)) continue;
      const description = await describe(dependencies, id);
      if (isOpen(description)) open.push(id);
      else {
        closed.add(id);
        quietAt = Math.max(quietAt, description === null ? 0 : sendMayArriveUntil(description));
      }
    }
    const [next] = open;
    if (next === undefined) {
      await Context.current().sleep(Math.max(0, quietAt - Date.now()));
      return;
    }
    if (open.length > 1) throw waiting(open, COME_BACK_AFTER_MS);
    if (Date.now() >= polledUntil) throw waiting(open, 1000);
    await closeOf(dependencies, next, polledUntil - Date.now());
  }
}

/** One that was terminated may still have a send under way: counted as pending for one send time-out more. */
function sendMayArriveUntil({ status, closeTime }: WorkflowExecutionDescription): number {
  const cut = status.name === 'TERMINATED' || status.name === 'TIMED_OUT' || status.name === 'FAILED';
  return cut && closeTime !== undefined ? closeTime.getTime() + CUT_SEND_MS : 0;
}
/** The default time-out of a request, and a little. */
const CUT_SEND_MS = 12_000;

/** Long-polls the close of a command, for at most `timeoutMs`; how it closed doesn't matter. */
async function closeOf(
  { client }: ActivityDependencies,
  commandId: string,
  timeoutMs: number,
): Promise<void> {
  const signal = AbortSignal.any([Context.current().cancellationSignal, AbortSignal.timeout(timeoutMs)]);
  try {
    await client.withAbortSignal(signal, () => client.workflow.getHandle(commandId).result());
  } catch (error) {
    if (Context.current().cancellationSignal.aborted) throw error;
    // A failed or cancelled command is closed too; an aborted poll is looked at again by the caller.
  }
}

/** Waits for the first of two equal calls, whose end is the second one's end too. */
async function endOf(
  dependencies: ActivityDependencies,
  commandId: string,
): Promise<Turn & { kind: 'duplicate' }> {
  for (let polls = 1; ; polls += 1) {
    const description = await describe(dependencies, commandId);
    const view = description?.memo?.[MEMO_KEY] as CommandView | undefined;
    if (description !== null && view !== undefined && !isOpen(description))
      return { kind: 'duplicate', of: commandId, view };
    if (description === null || polls > 1) throw waiting([commandId], 1000);
    await closeOf(dependencies, commandId, LONG_POLL_MS);
  }
}

/** null: unknown to Temporal, or past retention. */
async function describe(
  { client }: ActivityDependencies,
  commandId: string,
): Promise<WorkflowExecutionDescription | null> {
  try {
    return await client.workflow.getHandle(commandId).describe();
  } catch (error) {
    if (error instanceof WorkflowNotFoundError) return null;
    throw error;
  }
}

const isOpen = (description: WorkflowExecutionDescription | null): boolean =>
  description?.status.name === 'RUNNING';

function waiting(open: readonly string[], nextRetryDelay: number): ApplicationFailure {
  const message = `${open.length} ahead, first ${open[0]}`;
  return ApplicationFailure.create({
    message,
    type: FAILURE.waitingForTurn,
    nextRetryDelay,
    category: ApplicationFailureCategory.BENIGN,
  });
}
