/** Short workflows that only look: so that reads, too, go through the workers, which alone can reach devices. */
import { proxyActivities } from '@temporalio/workflow';
import type { Probe } from '../domain/probe.ts';
import type { Activities, DeviceState, ReadInput, Rehearsal, RehearsalInput } from './activity-types.ts';

export async function readDevice({ withinMs, ...input }: ReadInput): Promise<DeviceState> {
  return await looking(withinMs).readState(input);
}

export async function probeDevice({ withinMs, ...input }: ReadInput): Promise<Probe> {
  return await looking(withinMs).probe(input);
}

export async function rehearseCommand({ withinMs, ...input }: RehearsalInput): Promise<Rehearsal> {
  return await looking(withinMs).rehearse(input);
}

const looking = (withinMs: number) =>
  proxyActivities<Activities>({
    startToCloseTimeout: withinMs,
    // A failed read is an answer, not a failure; only a worker's death is worth another try.
    retry: { maximumAttempts: 2 },
  });
