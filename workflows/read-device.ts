/** Short workflows that only look: so that reads, too, go through the workers, which alone can reach devices. */
import { proxyActivities } from '@temporalio/workflow';
import type { Activities, CommandInput, DeviceState, Rehearsal } from './messages.ts';

const { readState, rehearse } = proxyActivities<Activities>({
  startToCloseTimeout: '90 seconds',
  // A failed read is an answer, not a failure; only a worker's death is worth another try.
  retry: { maximumAttempts: 2 },
});

export async function readDevice(input: { device: string; withReplies: boolean }): Promise<DeviceState> {
  return await readState(input);
}

export async function rehearseCommand(input: CommandInput): Promise<Rehearsal> {
  return await rehearse(input);
}
