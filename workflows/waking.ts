/** Wakes a sleeping device before a send, no more often than its definition allows. Neither a send nor a read: it counts as neither. */
import {
  ActivityCancellationType,
  ActivityFailure,
  isCancellation,
  proxyActivities,
  sleep,
  TimeoutFailure,
} from '@temporalio/workflow';
import { formatDuration } from '../domain/text.ts';
import type { Activities, Look, Woken } from './activity-types.ts';
import { nextPause } from './pauses.ts';
import { type Story, tell } from './story.ts';

/** How often this command has asked its device to wake, and until when the last time may take. */
export interface Waking {
  asked: number;
  until: number;
}

/** Beyond the time that the device has for waking: its last read, a busy worker. */
const SLACK_MS = 60_000;

export type Wakened =
  /** It says that it is awake; `look`: what it showed then. null: nobody knows, a send has to tell. */
  { readonly ok: true; readonly look: Look | null } | { readonly ok: false; readonly why: string };

export async function wakeUp(
  story: Story,
  waking: Waking,
  policy: NonNullable<Look['wake']>,
  deliverUntil: number,
): Promise<Wakened> {
  tell(story, { phase: 'sending', note: 'waiting for the device to wake' });
  let pauseMs = 0;
  while (waking.asked < policy.atMost && Date.now() < deliverUntil) {
    waking.until = Math.min(Date.now() + policy.withinMs, deliverUntil);
    const woken = await ask(story, policy, deliverUntil);
    if (woken.asked) waking.asked += 1;
    if (woken.asked && (woken.look !== null || woken.lost)) return { ok: true, look: woken.look };
    if (woken.asked) continue;
    pauseMs = nextPause(pauseMs, woken.retryAfterMs, story.request.deliverWithinMs);
    if (Date.now() + pauseMs > deliverUntil)
      return { ok: false, why: `the device sleeps and could not be asked to wake: ${woken.detail}` };
    await sleep(pauseMs);
  }
  const times = waking.asked === 1 ? 'once' : `${waking.asked} times`;
  return {
    ok: false,
    why: `the device sleeps, and did not wake within ${formatDuration(policy.withinMs)} of being asked ${times}`,
  };
}

/** `lost`: the worker went away meanwhile; the device may have been asked. Never repeated, so that it is asked once at most. */
async function ask(
  story: Story,
  { withinMs }: NonNullable<Look['wake']>,
  deliverUntil: number,
): Promise<Woken & { readonly lost: boolean }> {
  const { wake } = proxyActivities<Activities>({
    startToCloseTimeout: withinMs + SLACK_MS,
    scheduleToStartTimeout: Math.max(1000, deliverUntil - Date.now()),
    heartbeatTimeout: '15 seconds',
    cancellationType: ActivityCancellationType.TRY_CANCEL,
    retry: { maximumAttempts: 1 },
  });
  try {
    return { ...(await wake({ request: story.request })), lost: false };
  } catch (error) {
    if (!(error instanceof ActivityFailure) || isCancellation(error)) throw error;
    const began = !(error.cause instanceof TimeoutFailure && error.cause.timeoutType === 'SCHEDULE_TO_START');
    const detail = began ? 'the worker died or broke meanwhile' : 'no worker took it in time';
    return { asked: began, lost: began, look: null, detail, retryAfterMs: null };
  }
}
