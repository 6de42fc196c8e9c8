/** The bell beside the gate: tells the outside that an approval waits. Nobody waits for it, and nothing hangs on it. */
import { ActivityCancellationType, CancellationScope, proxyActivities } from '@temporalio/workflow';
import { type Activities } from './activity-types.ts';
import { RINGS_TASK_QUEUE } from './messages.ts';
import type { Story } from './story.ts';

/** Rings for what `story` asks now, until it is heard or `stop` is called. Three events and a workflow task. */
export function startRinging({ commandId, view }: Story, withinMs: number): { stop(): void } {
  const { ring } = proxyActivities<Activities>({
    taskQueue: RINGS_TASK_QUEUE,
    scheduleToCloseTimeout: withinMs,
    startToCloseTimeout: '30 seconds',
    cancellationType: ActivityCancellationType.TRY_CANCEL,
    // Soon at first, since a person is waited for; a receiver that stays away is asked for some hours, not for ever.
    retry: { initialInterval: '2 seconds', maximumInterval: '5 minutes', maximumAttempts: 100 },
  });
  const ringing = new CancellationScope();
  // What became of it is in the history. The approval waits in the queue all the same.
  ringing.run(() => ring({ commandId, view })).catch(() => {});
  return { stop: () => ringing.cancel() };
}
