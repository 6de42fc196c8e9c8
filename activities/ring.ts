/** Rings for an approval that waits, once; Temporal repeats it until it is heard, decided or too late. */
import { ApplicationFailure } from '@temporalio/common';
import { approvalRing } from '../domain/approval/ring.ts';
import { type RingInput } from '../workflows/activity-types.ts';
import { FAILURE } from '../workflows/messages.ts';
import type { ActivityDependencies } from './dependencies.ts';

/** Does nothing where the catalogue has lost its webhook meanwhile. */
export async function ring(
  { catalogue, webhook, consoleUrl }: ActivityDependencies,
  input: RingInput,
): Promise<void> {
  const message = approvalRing(catalogue(), input, consoleUrl);
  if (webhook === null || message === null) return;
  const delivery = await webhook.deliver(message);
  if (delivery.taken) return;
  const { why, again, retryAfterMs } = delivery;
  throw ApplicationFailure.create({
    message: why,
    type: FAILURE.notRung,
    nonRetryable: !again,
    ...(retryAfterMs === null ? {} : { nextRetryDelay: retryAfterMs }),
  });
}
