/** Looking at a device, alone or as a dry run. A worker does it: only workers can reach devices. */
import { randomBytes } from 'node:crypto';
import { type Client, WorkflowFailedError } from '@temporalio/client';
import type { Catalogue, DeviceDefinition } from '../domain/catalogue/definition.ts';
import type { DeviceState as RawState, Rehearsal } from '../workflows/messages.ts';
import { TASK_QUEUE, WORKFLOW_TYPE } from '../workflows/messages.ts';
import { type DeviceState, type DryRun, EngineUnreachable, InputError, type Submission } from './commands.ts';
import { demand } from './engine.ts';
import { accept, deviceNamed } from './submit.ts';

/** Longer than any read may take; beyond it no worker is there. */
const ANSWER_WITHIN_MS = 40_000;

export async function readState(
  client: Client,
  catalogue: Catalogue,
  name: string,
  withReplies: boolean,
): Promise<DeviceState> {
  const device = deviceNamed(catalogue, name);
  const state = await execute<RawState>(client, WORKFLOW_TYPE.readDevice, { device: device.id, withReplies });
  return stateOf(device, state);
}

/** Nothing is started but the looking. Throws `InputError` like a submission would. */
export async function dryRun(client: Client, catalogue: Catalogue, submission: Submission): Promise<DryRun> {
  const { device, desired, coerced, request } = accept(catalogue, submission);
  const { state, look, requirement, requests } = await execute<Rehearsal>(
    client,
    WORKFLOW_TYPE.rehearseCommand,
    {
      request,
    },
  );
  return {
    device: device.id,
    desired,
    coerced,
    requests,
    objection: look.objection,
    state: stateOf(device, state),
    approval: requirement === null ? null : { by: requirement.by, reason: requirement.reason },
    already: Object.keys(desired).every((field) => look.already.includes(field)),
  };
}

function stateOf(device: DeviceDefinition, { readings, replies, ...state }: RawState): DeviceState {
  const fields = Object.fromEntries(
    Object.entries(readings).map(([name, reading]) => [
      name,
      { ...reading, unit: device.fields[name]?.unit ?? null },
    ]),
  );
  return { device: device.id, deviceName: device.name, ...state, fields, raw: replies };
}

async function execute<T>(client: Client, type: string, input: object): Promise<T> {
  const workflowId = `read/${randomBytes(12).toString('hex')}`;
  const giveUp = AbortSignal.timeout(ANSWER_WITHIN_MS);
  try {
    return await demand<T>(() =>
      client.withAbortSignal(giveUp, () =>
        client.workflow.execute<(input: object) => Promise<T>>(type, {
          workflowId,
          taskQueue: TASK_QUEUE,
          args: [input],
          workflowExecutionTimeout: ANSWER_WITHIN_MS,
        }),
      ),
    );
  } catch (error) {
    if (giveUp.aborted || timedOut(error)) {
      throw new EngineUnreachable(
        `No worker took the read within ${ANSWER_WITHIN_MS / 1000} s. Is one running? \`readback doctor\` tells.`,
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
