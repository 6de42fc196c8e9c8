/** One read of a device outside any command's settling: baseline, state, dry run. */
import { Context } from '@temporalio/activity';
import { ApplicationFailure, ApplicationFailureCategory } from '@temporalio/common';
import type { DeviceDefinition } from '../domain/catalogue/definition.ts';
import type { Desired } from '../domain/values.ts';
import { FAILURE } from '../workflows/messages.ts';
import type { ReadResult } from './adapter.ts';
import type { ActivityDependencies } from './dependencies.ts';

/**
 * The baseline of a command, which can wait: while the API lets nothing be read, throws the benign failure that brings
 * this attempt back when it may be. A reading that wasn't made must not pass for an unreadable device.
 */
export async function patientBaseline(
  dependencies: ActivityDependencies,
  device: DeviceDefinition,
  desired: Desired,
): Promise<ReadResult> {
  const read = await baseline(dependencies, device, desired);
  const { trouble, retryAfterMs } = read.sample;
  if (trouble === null || retryAfterMs === null) return read;
  throw waitingForApi(trouble, retryAfterMs);
}

/** Not a failure but a pause: benign, and the next attempt is due when the API may be asked again. null: nobody knows when. */
export function waitingForApi(why: string, retryAfterMs: number | null): ApplicationFailure {
  return ApplicationFailure.create({
    message: why,
    type: FAILURE.waitingForApi,
    details: [retryAfterMs],
    category: ApplicationFailureCategory.BENIGN,
    ...(retryAfterMs !== null && { nextRetryDelay: Math.max(1, retryAfterMs) }),
  });
}

/**
 * Asks the device for a fresh report first, where its definition says how. `desired` is for confirmations, which may
 * compare with it; null: nothing is asked. Never throws but when cancelled.
 */
export async function baseline(
  { adapters }: ActivityDependencies,
  device: DeviceDefinition,
  desired: Desired | null,
): Promise<ReadResult> {
  const signal = Context.current().cancellationSignal;
  const adapter = adapters(device);
  if (device.read?.refresh != null) await adapter.refresh(device, 'look', signal);
  return await adapter.read(device, { desired, before: null, kept: {}, baselineDeviceAt: null }, signal);
}
