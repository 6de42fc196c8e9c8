/** Looking at a device, alone or as a dry run. A worker does it: only workers can reach devices. */
import { randomBytes } from 'node:crypto';
import { type Client, WorkflowFailedError } from '@temporalio/client';
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
  const workflowId = `read/${randomBytes(12).toString('hex')}`;
  const giveUp = AbortSignal.timeout(withinMs);
  try {
    return await demand<T>(() =>
      client.withAbortSignal(giveUp, () =>
        client.workflow.execute<(input: object) => Promise<T>>(type, {
          workflowId,
          taskQueue: TASK_QUEUE,
          args: [input],
          workflowExecutionTimeout: withinMs,
        }),
      ),
    );
  } catch (error) {
    if (giveUp.aborted || timedOut(error)) {
      throw new EngineUnreachable(
        `No worker took the read within ${withinMs / 1000} s. Is one running? \`readback doctor\` tells.`,
      );
    }
    if (error instanceof WorkflowFailedError) {
      throw new InputError(`The device could not be read: ${innermost(error).message}.`);
    }
    throw error;
  }
}

const timedOut = (error: unknown): boolean =>
  error instanceof WorkflowFailedError && error.cause?.name === 'TimeoutFailure';

/** The failure at the bottom of Temporal's wrappings: the one with words for people. */
function innermost(error: Error): Error {
  return error.cause instanceof Error ? innermost(error.cause) : error;
}
