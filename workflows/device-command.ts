/** A device command: gate → lane → look → send → settle → outcome. Its workflow ID is the MCP taskId. */
import {
  ActivityCancellationType,
  ActivityFailure,
  ApplicationFailure,
  CancellationScope,
  isCancellation,
  proxyActivities,
  setHandler,
} from '@temporalio/workflow';
import type { CommandRequest, CommandResult } from '../domain/command.ts';
import { sentForGood } from '../domain/sent.ts';
import { formatValue } from '../domain/text.ts';
import type { Value } from '../domain/values.ts';
import { type Activities, type Look, type Turn } from './activity-types.ts';
import { deliver } from './delivery.ts';
import { closeGate, type Gate, openGate, waitForApproval } from './gate.ts';
import { FAILURE, supersedeSignal, TURNS_TASK_QUEUE } from './messages.ts';
import type { Target } from './reaching.ts';
import { type Ending, end, openStory, type Story, tell, unsent } from './story.ts';
import { type Waking, wakeUp } from './waking.ts';

export async function deviceCommand(request: CommandRequest): Promise<CommandResult> {
  const story = openStory(request);
  const gate = openGate(story);
  const work = new CancellationScope();
  setHandler(supersedeSignal, (newer) => {
    story.superseded ??= newer;
    work.cancel();
  });

  try {
    return await end(story, await work.run(() => carryOut(story, gate)));
  } catch (error) {
    if (!isCancellation(error)) throw error;
    closeGate(story, gate);
    if (story.superseded !== null) return await end(story, superseded(story, story.superseded));
    await CancellationScope.nonCancellable(() => end(story, cancelled(story)));
    throw error;
  }
}

async function carryOut(story: Story, gate: Gate): Promise<Ending> {
  let acceptedAt = story.view.phaseAt;
  let approved: readonly string[] = [];
  let deliverUntil = acceptedAt + story.request.deliverWithinMs;
  let turn = await takeTurn(story, { acceptedAt, approved, deliverUntil });
  if (turn.kind === 'needsApproval') {
    const ending = await waitForApproval(story, gate, turn);
    if (ending !== null) return ending;
    // An approved word counts as given now, not when it was first asked for.
    acceptedAt = Date.now();
    approved = turn.requirement.bindings;
    deliverUntil = acceptedAt + story.request.deliverWithinMs;
    tell(story, { phase: 'waiting_for_turn', note: 'approved; waiting for the device', until: deliverUntil });
    turn = await takeTurn(story, { acceptedAt, approved, deliverUntil });
  }
  switch (turn.kind) {
    case 'late':
      return { outcome: 'undelivered', detail: `${turn.why}. Nothing was sent.` };
    case 'misfit':
      return { outcome: 'refused', detail: `${turn.why}. Nothing was sent.` };
    case 'needsApproval':
    case 'void':
      return { outcome: 'expired', detail: `${NOT_AS_JUDGED}. Nothing was sent; ask again.` };
    case 'busy':
      return {
        outcome: 'refused',
        detail: `Another command${named(turn.ahead)} works on this device, and its lane takes one at a time. Nothing was sent.`,
      };
    case 'overtaken':
      return {
        outcome: 'superseded',
        detail: `A command accepted later${named(turn.by)} came first; the last word given stands. Nothing was sent.`,
      };
    case 'duplicate':
      return joined(story, turn);
    case 'ready':
      return await onTurn(story, turn.look, { deliverUntil, approved });
  }
}

const NOT_AS_JUDGED =
  'It needs an approval that was not given for it: the device, its definition, a rule or the hour has changed since';

/** Its time was over before it was its turn. */
interface Late {
  readonly kind: 'late';
  readonly why: string;
}

async function takeTurn(
  story: Story,
  {
    acceptedAt,
    approved,
    deliverUntil,
  }: { acceptedAt: number; approved: readonly string[]; deliverUntil: number },
): Promise<Turn | Late> {
  const { takeTurn: take } = proxyActivities<Activities>({
    taskQueue: TURNS_TASK_QUEUE,
    scheduleToCloseTimeout: Math.max(1000, deliverUntil - Date.now()),
    startToCloseTimeout: '2 minutes',
    heartbeatTimeout: '20 seconds',
    cancellationType: ActivityCancellationType.TRY_CANCEL,
    retry: { initialInterval: '1 second', maximumInterval: '20 seconds', backoffCoefficient: 1.5 },
  });
  try {
    return await take({ request: story.request, acceptedAt, approved });
  } catch (error) {
    if (!(error instanceof ActivityFailure) || isCancellation(error)) throw error;
    // Its time is over. Anything that broke in there was retried until then.
    return { kind: 'late', why: whyLate(error) };
  }
}

/** The last thing that kept it from its turn. */
function whyLate({ cause }: ActivityFailure): string {
  const last = cause instanceof ApplicationFailure ? cause : cause?.cause;
  if (!(last instanceof ApplicationFailure)) return 'No worker took it in time';
  switch (last.type) {
    case FAILURE.waitingForTurn:
      return `The device was not free in time (${last.message})`;
    case FAILURE.waitingForApi:
      return `The device could not be read in time: ${last.message}`;
    default:
      return `Readback could not get to the device in time: ${last.message}`;
  }
}

const named = (commandId: string | null): string => (commandId === null ? '' : ` (${commandId})`);

/** It is this command's turn: decide from the look whether anything has to be, and may be, sent. */
async function onTurn(
  story: Story,
  found: Look,
  { deliverUntil, approved }: Pick<Target, 'deliverUntil' | 'approved'>,
): Promise<Ending> {
  const { desired } = story.request;
  const waking: Waking = { asked: 0, until: 0 };
  let look = found;
  if (look.asleep && look.wake != null) {
    const woken = await wakeUp(story, waking, look.wake, deliverUntil);
    if (!woken.ok)
      return { outcome: 'undelivered', detail: `It could not be delivered: ${woken.why}. Nothing was sent.` };
    look = woken.look ?? look;
  }
  const { previous } = look;
  story.view = { ...story.view, previous };
  if (look.objection !== null) return { outcome: 'refused', detail: `${look.objection}. Nothing was sent.` };
  if (Object.keys(desired).every((field) => look.already.includes(field))) return already(story, look);
  const blind = look.steps.find(
    (step) => step.kind !== 'set' && step.verifiable.some((field) => previous[field] == null),
  );
  if (blind !== undefined) {
    return {
      outcome: 'undelivered',
      detail: `A ${blind.kind} is sent only where it can be seen what it does, and the device can't be read: ${look.trouble ?? 'no reading'}. Nothing was sent.`,
    };
  }
  return await deliver({ story, look, waking, deliverUntil, approved });
}

function already(story: Story, look: Look): Ending {
  const detail = 'It was so already; nothing was sent.';
  const fields = Object.fromEntries(
    Object.entries(unsent(story, 'already', detail)).map(([name, field]) => {
      const value = look.previous[name] ?? null;
      const adjusted = typeof value === 'number' && value !== field.requested;
      return [
        name,
        {
          ...field,
          adjusted,
          detail: wasSo(value, field.requested, story.request.units[name] ?? null),
          observed: value === null ? null : { value, unit: story.request.units[name] ?? null, at: look.at },
        },
      ];
    }),
  );
  return { outcome: 'already', detail, fields };
}

function wasSo(value: Value | null, requested: Value, unit: string | null): string {
  if (value === null) return 'was so already';
  const nearest =
    typeof value === 'number' && value !== requested
      ? `, the device's nearest step to ${formatValue(requested, unit)}`
      : '';
  return `reads ${formatValue(value, unit)}${nearest}, and did before`;
}

/** The same call was made twice: this one ends with what the first one showed. */
function joined(story: Story, { of, view }: Extract<Turn, { kind: 'duplicate' }>): Ending {
  story.view = { ...story.view, previous: view.previous, sent: view.sent };
  if (view.result === null) {
    return {
      outcome: 'unknown',
      detail: `Joined the same call ${of}, which ended without an outcome.`,
      joined: of,
    };
  }
  const { outcome, detail, fields, samples } = view.result;
  return { outcome, detail, fields, samples, joined: of };
}

function superseded(story: Story, { by }: { readonly by: string | null }): Ending {
  return {
    outcome: 'superseded',
    detail: `A newer command${named(by)} took the device over. ${sentForGood(story.view)}`,
  };
}

function cancelled(story: Story): Ending {
  return { outcome: 'cancelled', detail: `The caller stopped waiting. ${sentForGood(story.view)}` };
}
