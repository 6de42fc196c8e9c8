/** Looking at a device, alone or as a dry run. A worker does it: only workers can reach devices. */
import { randomBytes } from 'node:crypto';
import { setTimeout as sleep } from 'node:timers/promises';
import {
  type Client,
  type WorkflowExecutionDescription,
  WorkflowFailedError,
  type WorkflowHandle,
} from '@temporalio/client';
import proto from '@temporalio/proto';
import type { Catalogue, DeviceDefinition } from '../domain/catalogue/definition.ts';
import type { Probe } from '../domain/probe.ts';
import { longestReadMs } from '../domain/time-needed.ts';
import type {
  DeviceState as RawState,
  ReadInput,
  Rehearsal,
  RehearsalInput,
} from '../workflows/activity-types.ts';
import { TASK_QUEUE, WORKFLOW_TYPE } from '../workflows/messages.ts';
import { type DeviceState, type DryRun, EngineUnreachable, InputError, type Submission } from './commands.ts';
import { demand } from './engine.ts';
import { accept, deviceNamed } from './submit.ts';

/** Twice this long without anybody at it, and none is there: a worker that runs takes a step within milliseconds. */
const LOOK_EVERY_MS = 1200;
/** Started, and its first step scheduled. */
const EVENTS_BEFORE_A_WORKER = 2;
const SCHEDULED = proto.temporal.api.enums.v1.PendingActivityState.PENDING_ACTIVITY_STATE_SCHEDULED;

export async function readState(client: Client, catalogue: Catalogue, name: string): Promise<DeviceState> {
  const device = deviceNamed(catalogue, name);
  const input: ReadInput = { device: device.id, withinMs: withinMsOf(catalogue, device) };
  const state = await execute<RawState>(client, WORKFLOW_TYPE.readDevice, input);
  return stateOf(device, state);
}

/** What of the device's entry one read of it bears out. */
export async function probe(client: Client, catalogue: Catalogue, name: string): Promise<Probe> {
  const device = deviceNamed(catalogue, name);
  const input: ReadInput = { device: device.id, withinMs: withinMsOf(catalogue, device) };
  return await execute<Probe>(client, WORKFLOW_TYPE.probeDevice, input);
}

/** Nothing is started but the looking. Throws `InputError` like a submission would. */
export async function dryRun(client: Client, catalogue: Catalogue, submission: Submission): Promise<DryRun> {
  const { device, desired, coerced, request } = accept(catalogue, submission);
  const input: RehearsalInput = { request, withinMs: withinMsOf(catalogue, device) };
  const { state, look, requirement, requests } = await execute<Rehearsal>(
    client,
    WORKFLOW_TYPE.rehearseCommand,
    input,
  );
  return {
    device: device.id,
    desired,
    previous: look.previous,
    coerced,
    requests,
    objection: look.objection,
    state: stateOf(device, state),
    approval: requirement === null ? null : { by: requirement.by, reason: requirement.reason },
    already: Object.keys(desired).every((field) => look.already.includes(field)),
  };
}

function stateOf(device: DeviceDefinition, { readings, ...state }: RawState): DeviceState {
  const fields = Object.fromEntries(
    Object.entries(readings).map(([name, reading]) => [
      name,
      { ...reading, unit: device.fields[name]?.unit ?? null },
    ]),
  );
  return { device: device.id, deviceName: device.name, ...state, fields };
}

/** Longest that a worker needs for it; beyond that none is there. */
const withinMsOf = ({ connections }: Catalogue, device: DeviceDefinition): number =>
  longestReadMs(device, connections[device.connection]?.timeoutMs ?? 0);

async function execute<T>(client: Client, type: string, input: { readonly withinMs: number }): Promise<T> {
  const { withinMs } = input;
  const handle = await demand(() =>
    client.workflow.start<(input: object) => Promise<T>>(type, {
      workflowId: `read/${randomBytes(12).toString('hex')}`,
      taskQueue: TASK_QUEUE,
      args: [input],
      workflowExecutionTimeout: withinMs,
    }),
  );
  const over = new AbortController();
  const untaken = abandoned(handle, over.signal);
  const giveUp = AbortSignal.any([AbortSignal.timeout(withinMs), untaken]);
  try {
    return await demand<T>(() => client.withAbortSignal(giveUp, () => handle.result()));
  } catch (error) {
    if (giveUp.aborted || timedOut(error)) {
      // Nobody waits for it any more.
      await handle.terminate('no worker took it in time').catch(() => undefined);
      const waitedMs = untaken.aborted ? 2 * LOOK_EVERY_MS : withinMs;
      throw new EngineUnreachable(
        `No worker took the read within ${waitedMs / 1000} s. Is one running? \`readback doctor\` tells.`,
      );
    }
    if (error instanceof WorkflowFailedError) {
      throw new InputError(`The device could not be read: ${innermost(error).message}.`);
    }
    throw error;
  } finally {
    over.abort();
  }
}

/** Aborts when two looks in a row find the same step waiting for a worker. Ends with `over`. */
function abandoned(handle: WorkflowHandle, over: AbortSignal): AbortSignal {
  const untaken = new AbortController();
  const watch = async (): Promise<void> => {
    for (let before: string | null = null; !over.aborted; ) {
      await sleep(LOOK_EVERY_MS, undefined, { signal: over });
      const waiting = stepWaiting(await handle.describe());
      if (waiting !== null && waiting === before) return untaken.abort();
      before = waiting;
    }
  };
  // Whatever keeps it from being looked at is told to whoever waits for the result.
  void watch().catch(() => undefined);
  return untaken.signal;
}

/** What no worker has begun yet; null: one is at it. */
function stepWaiting({ historyLength, raw }: WorkflowExecutionDescription): string | null {
  const [activity] = raw.pendingActivities ?? [];
  if (activity == null) return historyLength <= EVENTS_BEFORE_A_WORKER ? 'workflow' : null;
  return activity.state === SCHEDULED ? `activity, attempt ${activity.attempt}` : null;
}

const timedOut = (error: unknown): boolean =>
  error instanceof WorkflowFailedError && error.cause?.name === 'TimeoutFailure';

/** The failure at the bottom of Temporal's wrappings: the one with words for people. */
function innermost(error: Error): Error {
  return error.cause instanceof Error ? innermost(error.cause) : error;
}
