/** One send, once. Everything about repeating lives in the workflow, which alone knows when that is harmless. */
import { Context } from '@temporalio/activity';
import { needsReading } from '../domain/approval/rules.ts';
import type { DeviceDefinition, SendStep } from '../domain/catalogue/definition.ts';
import { isEqual } from '../domain/comparison.ts';
import type { SendResult } from '../domain/exchange.ts';
import { isPause } from '../domain/series.ts';
import { formatValue } from '../domain/text.ts';
import type { SendInput } from '../workflows/activity-types.ts';
import type { ReadResult } from './adapter.ts';
import { baseline, waitingForApi } from './baseline.ts';
import { type ActivityDependencies, deviceOf } from './dependencies.ts';
import { notSent } from './http.ts';
import { isCovered, requirementFor } from './judge.ts';

const HEARTBEAT_EVERY_MS = 3000;

/** What an attempt that sent nothing leaves to the next one: only then may there be a next one that sends. */
interface HeldBack {
  readonly attempt: number;
  readonly why: string;
}

/**
 * Sends once. While the API takes nothing, the attempt leaves word that it held back, and ends with the benign failure that
 * brings the next one when it may be. An attempt that finds no such word knows that the one before it died, perhaps after
 * it had sent; it sends nothing.
 */
export async function send(dependencies: ActivityDependencies, input: SendInput): Promise<SendResult> {
  const context = Context.current();
  const { attempt } = context.info;
  const before = context.info.heartbeatDetails as HeldBack | null | undefined;
  if (attempt > 1 && before?.attempt !== attempt - 1)
    return notSent('lost', 'the worker died or broke while sending');
  const { deliverUntil } = input;
  const isLate = deliverUntil !== undefined && Date.now() > deliverUntil;
  if (attempt > 1 && isLate) return notSent('limited', before?.why ?? 'too late');
  const sent = await sendNow(dependencies, input);
  if (sent.class !== 'limited' || deliverUntil === undefined) return sent;
  const { detail, retryAfterMs } = sent;
  context.heartbeat({ attempt, why: detail } satisfies HeldBack);
  throw waitingForApi(detail, retryAfterMs);
}

/**
 * Judges once more what is about to be sent: by the definition, the rules and, for a toggle, the state of this very
 * moment. Once the request is on its way it is let finish, so that it is known what it did; until then a cancel, or an
 * attempt whose time is over, stops it.
 */
async function sendNow(dependencies: ActivityDependencies, input: SendInput): Promise<SendResult> {
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
    // Not read is not unreadable: it waits as the send itself would.
    if (read !== null && isPause(read.sample)) {
      const { trouble, retryAfterMs } = read.sample;
      return { ...notSent('limited', `${trouble}; not sent yet`), retryAfterMs };
    }
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
