/** One send, once. Everything about repeating lives in the workflow, which alone knows when that is harmless. */
import { Context } from '@temporalio/activity';
import { needsReading } from '../domain/approval/rules.ts';
import type { DeviceDefinition, SendStep } from '../domain/catalogue/definition.ts';
import { isEqual } from '../domain/comparison.ts';
import type { SendResult } from '../domain/exchange.ts';
import { formatValue } from '../domain/text.ts';
import type { SendInput } from '../workflows/activity-types.ts';
import type { ReadResult } from './adapter.ts';
import { baseline } from './baseline.ts';
import { type ActivityDependencies, deviceOf } from './dependencies.ts';
import { notSent } from './http.ts';
import { isCovered, requirementFor } from './judge.ts';

const HEARTBEAT_EVERY_MS = 3000;

/**
 * Judges once more what is about to be sent: by the definition, the rules and, for a toggle, the state of this very
 * moment. Once the request is on its way it is let finish, so that it is known what it did; until then a cancel, or an
 * attempt whose time is over, stops it.
 */
export async function send(dependencies: ActivityDependencies, input: SendInput): Promise<SendResult> {
  const { request, idempotencyKey } = input;
  const device = deviceOf(dependencies, request.device);
  const step = device?.send[input.step];
  if (device === undefined || step === undefined || device.digest !== input.definitionDigest) {
    return notSent('void', `The definition of ${request.device} has changed since this command was judged`);
  }
  const context = Context.current();
  const beat = setInterval(() => context.heartbeat(), HEARTBEAT_EVERY_MS);
  try {
    const read = needsCurrent(dependencies, device, step)
      ? await baseline(dependencies, device, request.desired)
      : null;
    const current = read?.sample.fields ?? {};
    const needed = await requirementFor(dependencies, device, request, current);
    if (!isCovered(dependencies, device, request, { needed, approved: input.approved })) {
      return notSent(
        'void',
        'It needs an approval that was not given for it: a rule or the hour has changed since',
      );
    }
    const stopped = step.kind === 'set' ? null : whyNotNow(step, input, read);
    if (stopped !== null) return stopped;
    const asked = Object.fromEntries(
      Object.entries(request.desired).filter(([field]) => input.fields.includes(field)),
    );
    const signal = context.cancellationSignal;
    return await dependencies.adapters(device).send(device, step, asked, current, { idempotencyKey, signal });
  } finally {
    clearInterval(beat);
  }
}

function needsCurrent(
  { catalogue }: ActivityDependencies,
  device: DeviceDefinition,
  step: SendStep,
): boolean {
  const looks = step.fillFromCurrent || step.uses.length > 0 || Object.keys(step.when).length > 0;
  return looks || step.kind === 'toggle' || needsReading(catalogue(), device);
}

/** A toggle acts on what is: sent to a device that is as desired already, it would undo that. */
function whyNotNow(
  step: SendStep,
  { request, fields }: SendInput,
  read: ReadResult | null,
): SendResult | null {
  if (step.kind !== 'toggle' || read === null) return null;
  for (const name of fields) {
    const field = read.device.fields[name];
    const desired = request.desired[name];
    const reading = read.sample.fields[name];
    if (field === undefined || desired === undefined || !field.readback) continue;
    if (reading?.kind !== 'value') {
      const why = read.sample.trouble ?? reading?.why ?? 'no reading';
      return notSent(
        'unreached',
        `a toggle needs to know the present state, and ${name} can't be read: ${why}`,
      );
    }
    if (isEqual(field, desired, reading)) {
      return notSent(
        'notNeeded',
        `not sent: ${name} reads ${formatValue(reading.value, field.unit)} already`,
      );
    }
  }
  return null;
}
