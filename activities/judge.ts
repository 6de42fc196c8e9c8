/** The judgement at the gate, repeated just before the send: does a person have to approve this command? */
import { needsReading, requiredApproval } from '../domain/approval/rules.ts';
import type { ApprovalRule, DeviceDefinition } from '../domain/catalogue/definition.ts';
import { digestOf } from '../domain/catalogue/digest.ts';
import type { CommandRequest } from '../domain/command.ts';
import { parseDesired } from '../domain/desired.ts';
import { shownValue } from '../domain/device-scale.ts';
import type { Reading, Value } from '../domain/values.ts';
import type { Requirement, Turn, TurnInput } from '../workflows/activity-types.ts';
import { patientBaseline } from './baseline.ts';
import type { ActivityDependencies } from './dependencies.ts';

/** At the gate, before the lane: what has to be decided by a person, if anything. */
export async function judge(
  dependencies: ActivityDependencies,
  device: DeviceDefinition,
  { request, approved }: TurnInput,
): Promise<Extract<Turn, { kind: 'needsApproval' }> | null> {
  const read = needsReading(dependencies.catalogue(), device)
    ? (await patientBaseline(dependencies, device, request.desired)).sample.fields
    : null;
  const requirement = await requirementFor(dependencies, device, request, read ?? {});
  if (requirement === null) return null;
  if (isCovered(dependencies, device, request, { needed: requirement, approved })) return null;
  // Who decides wants to see before → after, also where no rule needed the reading.
  const readings = read ?? (await patientBaseline(dependencies, device, request.desired)).sample.fields;
  const before = Object.keys(request.desired).map((field): [string, Value | null] => {
    const reading = readings[field];
    return [field, reading?.kind === 'value' ? shownValue(device.fields[field], reading.value) : null];
  });
  const rings = dependencies.catalogue().settings.webhook !== null;
  return { kind: 'needsApproval', requirement, before: Object.fromEntries(before), rings };
}

/**
 * Does what was approved cover what is needed now? An approval of anything else is void; so is one whose rule, or whose
 * device's definition, is no longer what it was given for, also where no approval would be needed any more.
 */
export function isCovered(
  dependencies: ActivityDependencies,
  device: DeviceDefinition,
  request: CommandRequest,
  { needed, approved }: { readonly needed: Requirement | null; readonly approved: readonly string[] },
): boolean {
  const isGiven = needed === null || needed.bindings.every((binding) => approved.includes(binding));
  // Most commands need no approval and were given none.
  if (!isGiven || approved.length === 0) return isGiven;
  const standing = dependencies.catalogue().approvals.map((rule) => bindingOf(device, request, rule));
  return approved.every((binding) => standing.includes(binding));
}

/** Command, definition and rule in one digest. A rule's place in the list is no part of what it says. */
function bindingOf(device: DeviceDefinition, { desired }: CommandRequest, rule: ApprovalRule): string {
  return digestOf([device.id, device.digest, desired, { ...rule, index: null }]);
}

/** A catalogue may have changed since the command was accepted: what no longer fits must not be sent. */
export function misfitOf(device: DeviceDefinition, request: CommandRequest): string | null {
  if (device.digest === request.definitionDigest) return null;
  const parsed = parseDesired(device, request.desired);
  return parsed.ok ? null : `the definition of ${device.id} has changed: ${parsed.problems.join(' ')}`;
}

/** The approval that is needed as things are now, bound to command, definition and rules by its digest. */
export async function requirementFor(
  dependencies: ActivityDependencies,
  device: DeviceDefinition,
  request: CommandRequest,
  before: Readonly<Record<string, Reading>>,
): Promise<Requirement | null> {
  const { desired, caller } = request;
  const needed = await requiredApproval(dependencies.catalogue(), {
    device,
    desired,
    caller,
    before,
    batchSize: 1,
    now: Date.now(),
  });
  if (needed === null) return null;
  const bindings = needed.rules.map((rule) => bindingOf(device, request, rule));
  const { by, reason, expiresMs } = needed;
  return { by, reason, expiresMs, bindings, digest: digestOf([by, bindings]) };
}
