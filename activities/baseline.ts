/** One read of a device outside any command's settling: baseline, state, dry run. */
import { Context } from '@temporalio/activity';
import type { DeviceDefinition } from '../domain/catalogue/definition.ts';
import type { ReadResult } from './adapter.ts';
import type { ActivityDependencies } from './dependencies.ts';

/** Asks the device for a fresh report first, where its definition says how. Never throws but when cancelled. */
export async function baseline(
  { adapters }: ActivityDependencies,
  device: DeviceDefinition,
): Promise<ReadResult> {
  const signal = Context.current().cancellationSignal;
  const adapter = adapters(device);
  if (device.read?.refresh != null) await adapter.refresh(device, signal);
  return await adapter.read(
    device,
    { desired: null, before: null, kept: {}, baselineDeviceAt: null },
    signal,
  );
}
