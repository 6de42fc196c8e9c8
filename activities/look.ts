/** The look: the last reading before a send, and what has to be sent because of it. */

import type { DeviceDefinition, SendStep, SettlePolicy } from '../domain/catalogue/definition.ts';
import { expressionReferences } from '../domain/catalogue/expressions.ts';
import type { CommandRequest } from '../domain/command.ts';
import { isEqual } from '../domain/comparison.ts';
import { shownValue } from '../domain/device-scale.ts';
import type { RawRead } from '../domain/exchange.ts';
import { renderSend } from '../domain/rendering.ts';
import { type PlannedStep, planSteps } from '../domain/steps.ts';
import { longestReadMs, longestSendMs } from '../domain/time-needed.ts';
import type { Value } from '../domain/values.ts';
import { saysAsleep } from '../domain/waking.ts';
import type { CommandInput, Look, Seen, StepPlan } from '../workflows/activity-types.ts';
import type { ReadResult } from './adapter.ts';
import { patientBaseline } from './baseline.ts';
import { type ActivityDependencies, deviceOf, timeoutOf } from './dependencies.ts';

/** A raw baseline goes into the history; what is bigger can't be `$before`. */
const RAW_BASELINE_LIMIT_BYTES = 32_768;

/** After a refusal: is it so already? A device that the worker no longer knows shows nothing. */
export async function lookAgain(
  dependencies: ActivityDependencies,
  { request }: CommandInput,
): Promise<Seen> {
  const device = deviceOf(dependencies, request.device);
  if (device === undefined) return { at: Date.now(), observed: {}, already: [] };
  const read = await patientBaseline(dependencies, device, request.desired);
  const asked = Object.keys(request.desired);
  return {
    at: read.sample.at,
    observed: Object.fromEntries(asked.map((field) => [field, shownIn(read.device, field, read)])),
    already: asked.filter((field) => isAsDesired(read.device, request, field, read)),
  };
}

/** The look on a reading that has been made already. `read.device` is the definition as the device itself completes it. */
export async function lookAt(
  dependencies: ActivityDependencies,
  request: CommandRequest,
  read: ReadResult,
): Promise<Look> {
  const { sample, device } = read;
  const { desired } = request;
  const asked = Object.keys(desired);
  const plan = planSteps(device, desired, sample.fields);
  const objection = plan.ok
    ? (dependencies.adapters(device).objection(device, desired, read) ??
      (await unwritable(plan.steps, request, read)))
    : plan.why;
  const timeoutMs = timeoutOf(dependencies, device);
  return {
    at: sample.at,
    readings: sample.fields,
    deviceAt: sample.deviceAt,
    trouble: sample.trouble,
    before: looksAtBaseline(device) ? bounded(read.raw) : null,
    previous: Object.fromEntries(asked.map((field) => [field, shownIn(device, field, read)])),
    already: asked.filter((field) => isAsDesired(device, request, field, read)),
    steps: plan.ok ? plan.steps.map(({ step, fields }) => stepPlan(device, step, fields, timeoutMs)) : [],
    policy: policyFor(device, asked),
    readWithinMs: longestReadMs(device, timeoutMs),
    definitionDigest: deviceOf(dependencies, request.device)?.digest ?? '',
    objection,
    asleep: await saysAsleep(device, read.replies),
    wake: device.wake === null ? null : { atMost: device.wake.atMost, withinMs: device.wake.withinMs },
  };
}

/** A request that can't be written will not be writable later either, unless only a reading is missing. */
async function unwritable(
  steps: readonly PlannedStep[],
  request: CommandRequest,
  { sample, device }: ReadResult,
): Promise<string | null> {
  if (sample.trouble !== null) return null;
  for (const { step, fields } of steps) {
    const rendered = await renderSend(device, step, fields, request.desired, sample.fields);
    if (!rendered.ok) return rendered.why;
  }
  return null;
}

function shownIn(device: DeviceDefinition, name: string, { sample }: ReadResult): Value | null {
  const reading = sample.fields[name];
  return reading?.kind === 'value' ? shownValue(device.fields[name], reading.value) : null;
}

/** Equal before anything was sent. Faults, movement and confirmations count: "already" must claim no more than "verified". */
function isAsDesired(
  device: DeviceDefinition,
  request: CommandRequest,
  name: string,
  { sample }: ReadResult,
): boolean {
  const field = device.fields[name];
  const desired = request.desired[name];
  if (field === undefined || desired === undefined || field.type === 'action') return false;
  if (sample.moving || Object.values(sample.faults).some((state) => state !== 'clear')) return false;
  if (field.confirm !== null && sample.confirmed[name] !== true) return false;
  return isEqual(field, desired, sample.fields[name] ?? { kind: 'unreadable', why: 'not read' });
}

/** A send may need a fresh read first; its time-out covers both, so that none is cut off in the middle. */
function stepPlan(
  device: DeviceDefinition,
  step: SendStep,
  fields: readonly string[],
  timeoutMs: number,
): StepPlan {
  const { index, kind, repeatable, then } = step;
  const verifiable = fields.filter(
    (field) => device.fields[field]?.readback === true && device.read !== null,
  );
  return { index, fields, kind, repeatable, then, verifiable, timeoutMs: longestSendMs(device, timeoutMs) };
}

/** The device's policy with the asked fields' own; where several differ, the more patient one. */
export function policyFor(device: DeviceDefinition, asked: readonly string[]): SettlePolicy {
  let policy = device.settle;
  for (const name of asked) {
    const own = device.fields[name]?.settle;
    if (own == null) continue;
    const merged = { ...device.settle, ...own };
    policy = merged.withinMs >= policy.withinMs || policy === device.settle ? merged : policy;
  }
  return policy;
}

function looksAtBaseline(device: DeviceDefinition): boolean {
  const expressions = [
    ...Object.values(device.fields).flatMap((field) => [field.read, field.confirm]),
    device.read?.available,
    device.read?.fresh,
    device.read?.moving,
    ...Object.values(device.faults),
  ];
  return expressions.some(
    (source) =>
      source != null && expressionReferences(source).variables.some(({ name }) => name === 'before'),
  );
}

const bounded = (raw: RawRead): RawRead | null =>
  Buffer.byteLength(JSON.stringify(raw)) <= RAW_BASELINE_LIMIT_BYTES ? raw : null;
