/** The gate's judgement: does this command fit the catalogue, and does a person have to approve it? */
import { createHash } from 'node:crypto';
import { needsReading, requiredApproval } from '../domain/approval/rules.ts';
import type { DeviceDefinition } from '../domain/catalogue/definition.ts';
import type { CommandRequest } from '../domain/command.ts';
import { parseDesired } from '../domain/desired.ts';
import type { Reading, Value } from '../domain/values.ts';
import type { CommandInput, Judged, Requirement } from '../workflows/messages.ts';
import { baseline } from './baseline.ts';
import { type ActivityDependencies, deviceOf } from './dependencies.ts';

/** `deliver` of a device that this worker doesn't know: the default of the catalogue. */
const DELIVER_WITHIN_MS = 15 * 60_000;

export async function judge(dependencies: ActivityDependencies, { request }: CommandInput): Promise<Judged> {
  const device = deviceOf(dependencies, request.device);
  const misfit = misfitOf(device, request);
  if (device === undefined || misfit !== null) {
    return { requirement: null, before: {}, deliverWithinMs: DELIVER_WITHIN_MS, misfit };
  }
  const before = needsReading(dependencies.catalogue(), device)
    ? (await baseline(dependencies, device)).sample.fields
    : {};
  const requirement = await requirementFor(dependencies, device, request, before);
  return {
    requirement,
    before: await seenByApprover(dependencies, device, request, requirement, before),
    deliverWithinMs: device.deliverWithinMs,
    misfit: null,
  };
}

/** A catalogue may have changed since the command was accepted: what no longer fits must not be sent. */
export function misfitOf(device: DeviceDefinition | undefined, request: CommandRequest): string | null {
  if (device === undefined) {
    return `${request.device} is not in the catalogue that the worker has loaded. Start the worker with the same catalogue as the server`;
  }
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
  const bound = JSON.stringify([
    device.id,
    device.digest,
    Object.entries(desired).sort(),
    needed.by,
    needed.rules,
  ]);
  const digest = createHash('sha256').update(bound).digest('base64url');
  return { by: needed.by, reason: needed.reason, expiresMs: needed.expiresMs, digest };
}

/** Who decides wants to see before → after, also where no rule needed the reading. */
async function seenByApprover(
  dependencies: ActivityDependencies,
  device: DeviceDefinition,
  request: CommandRequest,
  requirement: Requirement | null,
  read: Readonly<Record<string, Reading>>,
): Promise<Record<string, Value | null>> {
  if (requirement === null) return {};
  const readings = Object.keys(read).length > 0 ? read : (await baseline(dependencies, device)).sample.fields;
  return Object.fromEntries(
    Object.keys(request.desired).map((field) => {
      const reading = readings[field];
      return [field, reading?.kind === 'value' ? reading.value : null];
    }),
  );
}
