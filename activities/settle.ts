/**
 * Reads a device back until it is verified or the deadline is over. One activity, polled by Temporal's own retry: a
 * read costs no history, survives every crash, and holds no slot while it waits. The story so far travels in the
 * heartbeat, where `describe` shows it to whoever asks.
 */

import { Context } from '@temporalio/activity';
import { ApplicationFailure, ApplicationFailureCategory } from '@temporalio/common';
import type { DeviceDefinition, FieldDefinition } from '../domain/catalogue/definition.ts';
import { troubledSample } from '../domain/interpretation.ts';
import { absorb, emptyStory, judge, type SettleQuestion, samplesOf } from '../domain/settle.ts';
import { plain } from '../domain/text.ts';
import { type Settled, type SettleHeartbeat, type SettleInput } from '../workflows/activity-types.ts';
import { FAILURE } from '../workflows/messages.ts';
import type { ReadResult } from './adapter.ts';
import { type ActivityDependencies, deviceOf } from './dependencies.ts';

/** Shorter waits are slept here: the server rounds a retry delay up to a second. */
const WAIT_HERE_UP_TO_MS = 1500;
/** Then the slot is given back, well before the attempt's own time-out. */
const STAY_UP_TO_MS = 20_000;
const HEARTBEAT_EVERY_MS = 5000;

export async function settle(dependencies: ActivityDependencies, input: SettleInput): Promise<Settled> {
  const device = deviceOf(dependencies, input.request.device);
  if (device === undefined || input.fields.some((field) => device.fields[field] === undefined))
    throw mismatch(input);
  let question = questionOf(device, input);
  const leaveAt = Date.now() + STAY_UP_TO_MS;
  let beat = Context.current().info.heartbeatDetails as SettleHeartbeat | null | undefined;
  let story = beat?.story ?? emptyStory;
  // A slow read says nothing for a while; the worker is alive all the same.
  const alive = setInterval(() => Context.current().heartbeat(beat), HEARTBEAT_EVERY_MS);
  try {
    for (;;) {
      const judgement = judge(question, story, Date.now());
      if (judgement.kind === 'done') return { fields: judgement.fields, samples: samplesOf(story) };
      const waitMs = judgement.nextReadAt - Date.now();
      if (waitMs > WAIT_HERE_UP_TO_MS || Date.now() > leaveAt)
        throw notSettled(judgement.note, Math.max(1, waitMs));
      if (waitMs > 0) await Context.current().sleep(waitMs);
      const read = await readOnce(dependencies, device, input);
      // By the definition that the device itself has completed: its unit, its steps.
      question = questionOf(read.device, input);
      story = absorb(question, story, read.sample);
      const next = judge(question, story, Date.now());
      const told =
        next.kind === 'wait'
          ? { note: next.note, why: next.why, until: next.until }
          : { note: 'settled', why: null, until: null };
      beat = { story, ...told };
      Context.current().heartbeat(beat);
    }
  } finally {
    clearInterval(alive);
  }
}

function questionOf(device: DeviceDefinition, input: SettleInput): SettleQuestion {
  const fields: Record<string, FieldDefinition> = {};
  for (const name of input.fields) {
    const field = device.fields[name];
    if (field !== undefined) fields[name] = field;
  }
  const { request, readings, policy, sentAt } = input;
  const patienceMs = request.deliverWithinMs;
  return { desired: request.desired, fields, before: readings, policy, sentAt, patienceMs };
}

async function readOnce(
  { adapters }: ActivityDependencies,
  device: DeviceDefinition,
  input: SettleInput,
): Promise<Pick<ReadResult, 'sample' | 'device'>> {
  const signal = Context.current().cancellationSignal;
  const { request, before, kept, baselineDeviceAt, sentAt } = input;
  const adapter = adapters(device);
  try {
    if (device.read?.refresh != null) await adapter.refresh(device, 'readback', signal);
    const context = { desired: request.desired, before, kept, baselineDeviceAt, sentAt };
    return await adapter.read(device, context, signal);
  } catch (error) {
    if (signal.aborted) throw error;
    // A read that breaks is a reading that can't be used, not a reason to lose the command.
    const why = `the reply could not be interpreted: ${plain(error instanceof Error ? error.message : String(error), 200)}`;
    return { device, sample: troubledSample(device, Date.now(), why) };
  }
}

/** Not a failure but a pause: benign, so that nobody is alarmed, and due exactly when the next read is. */
function notSettled(note: string, nextRetryDelay: number): ApplicationFailure {
  return ApplicationFailure.create({
    message: note,
    type: FAILURE.notSettled,
    nextRetryDelay,
    category: ApplicationFailureCategory.BENIGN,
  });
}

function mismatch({ request, sentAt, policy }: SettleInput): ApplicationFailure {
  const message = `${request.device}, or a field of it, is not in the catalogue that the worker has loaded`;
  return ApplicationFailure.create({
    message,
    type: FAILURE.catalogueMismatch,
    nonRetryable: Date.now() > sentAt + policy.withinMs,
  });
}
