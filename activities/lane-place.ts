/** A command's place in the lane of its device, or why there is none to take. */
import { Context } from '@temporalio/activity';
import { WithStartWorkflowOperation, WorkflowNotFoundError } from '@temporalio/client';
import type { DeviceDefinition } from '../domain/catalogue/definition.ts';
import { linkTo } from '../tracing/trace-context.ts';
import { type Turn, type TurnInput } from '../workflows/activity-types.ts';
import {
  enterUpdate,
  type LaneAnswer,
  type LaneEntry,
  type LaneNews,
  laneWorkflowId,
  supersedeSignal,
  TASK_QUEUE,
  WORKFLOW_TYPE,
} from '../workflows/messages.ts';
import type { ActivityDependencies } from './dependencies.ts';
import {
  type ClosedCommands,
  describeCommand,
  endOf,
  isOpen,
  nameFor,
  type OtherCommand,
  traceOf,
  viewOf,
} from './other-commands.ts';

export type Place = Extract<LaneAnswer, { kind: 'entered' }> | Exclude<Turn, { kind: 'ready' }>;

/** `closed`: commands that this worker knows to be over; the lane is told, and forgets them. */
export async function enterLane(
  dependencies: ActivityDependencies,
  device: DeviceDefinition,
  { request, acceptedAt }: TurnInput,
  closed: ClosedCommands,
): Promise<Place> {
  const { client } = dependencies;
  const owner = request.caller.subject;
  const commandId = Context.current().info.workflowExecution?.workflowId ?? '';
  const fields = Object.keys(request.desired);
  const entry: LaneEntry = { commandId, acceptedAt, fields, contentKey: request.contentKey };
  const withdrawn: string[] = [];
  for (let round = 1; ; round += 1) {
    const over = [...closed].filter(([, mayActUntil]) => mayActUntil <= Date.now()).map(([id]) => id);
    const news: LaneNews = { closed: over, withdrawn: [...withdrawn] };
    const answer = await askLane(dependencies, device.id, { entry, news, round });
    // What the lane has been told it has forgotten, and so may we.
    for (const id of news.closed) closed.delete(id);
    switch (answer.kind) {
      case 'entered':
        return await byPolicy(dependencies, device, answer, { commandId, owner, fields });
      case 'overtaken': {
        const later = await describeCommand(client, answer.by);
        if (!isWithdrawn(later)) return { kind: 'overtaken', by: nameFor(owner, answer.by, viewOf(later)) };
        withdrawn.push(answer.by);
        break;
      }
      case 'duplicate': {
        const first = await endOf(client, answer.of);
        const view = viewOf(first);
        const stands = first?.status.name === 'COMPLETED' && (first.closeTime?.getTime() ?? 0) >= acceptedAt;
        if (stands && view !== undefined) {
          linkTo(traceOf(first));
          return { kind: 'duplicate', of: answer.of, view };
        }
        // It had ended before this call was made, or was cancelled: the same words again are a command of their own.
        closed.set(answer.of, 0);
      }
    }
  }
}

/** A later word that ended without being given to the device has not overtaken anybody. */
function isWithdrawn(command: OtherCommand | null): boolean {
  const view = viewOf(command);
  if (isOpen(command) || view === undefined) return false;
  return view.sent.count === 0 && view.result?.outcome !== 'already';
}

async function askLane(
  { client }: ActivityDependencies,
  device: string,
  { entry, news, round }: { entry: LaneEntry; news: LaneNews; round: number },
): Promise<LaneAnswer> {
  const startWorkflowOperation = new WithStartWorkflowOperation(WORKFLOW_TYPE.lane, {
    workflowId: laneWorkflowId(device),
    taskQueue: TASK_QUEUE,
    args: [],
    workflowIdConflictPolicy: 'USE_EXISTING',
  });
  return await client.workflow.executeUpdateWithStart(enterUpdate, {
    startWorkflowOperation,
    args: [entry, news],
    // A repeated attempt gets the first answer instead of a second place.
    updateId: `${entry.commandId}/${round}`,
  });
}

/** What the device's `lane` says about a second command. */
async function byPolicy(
  { client }: ActivityDependencies,
  device: DeviceDefinition,
  entered: Extract<LaneAnswer, { kind: 'entered' }>,
  { commandId, owner, fields }: { commandId: string; owner: string; fields: readonly string[] },
): Promise<Place> {
  if (device.lane === 'queue') return entered;
  const ahead = await Promise.all(
    entered.ahead.map(async (id) => ({ id, command: await describeCommand(client, id) })),
  );
  const open = ahead.filter(({ command }) => isOpen(command));
  const [first] = open;
  if (first === undefined) return entered;
  if (device.lane === 'reject')
    return { kind: 'busy', ahead: nameFor(owner, first.id, viewOf(first.command)) };
  // The rest is waited for: it sets other fields.
  const sameFields = open.filter(({ command }) =>
    fields.some((field) => Object.hasOwn(viewOf(command)?.desired ?? {}, field)),
  );
  for (const { id, command } of sameFields) {
    const by = viewOf(command)?.owner === owner ? commandId : null;
    await client.workflow
      .getHandle(id)
      .signal(supersedeSignal, { by })
      .catch((error: unknown) => {
        // It closed meanwhile, which is all that was wanted.
        if (!(error instanceof WorkflowNotFoundError)) throw error;
      });
  }
  return entered;
}
