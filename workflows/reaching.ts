/** Gets one send to the device: waits for what isn't there yet, and never sends what may have arrived a second time. */
import {
  ActivityCancellationType,
  ActivityFailure,
  ApplicationFailure,
  isCancellation,
  proxyActivities,
  sleep,
  TimeoutFailure,
} from '@temporalio/workflow';
import type { SendResult } from '../domain/exchange.ts';
import type { Activities, Look, StepPlan } from './activity-types.ts';
import { FAILURE } from './messages.ts';
import { nextPause } from './pauses.ts';
import { type Story, tell } from './story.ts';
import { type Waking, wakeUp } from './waking.ts';

/** What is sent to, and until when. */
export interface Target {
  readonly story: Story;
  readonly look: Look;
  readonly waking: Waking;
  readonly deliverUntil: number;
  /** Bindings of the approval that was given; empty where none was needed. */
  readonly approved: readonly string[];
}

/**
 * Sends once the API takes it: waits out absences, which certainly reached nothing, until the deadline. Its limits are waited
 * out by the activity itself; here they are over, or the deadline comes first.
 */
export async function reach(target: Target, step: StepPlan, sendNumber: number): Promise<SendResult> {
  const { story, look, waking, deliverUntil } = target;
  let pauseMs = 0;
  for (;;) {
    const sent = await sendOnce(target, step, sendNumber);
    if (sent.class !== 'unreached' && sent.class !== 'limited' && sent.class !== 'asleep') return sent;
    let giveUpAt = deliverUntil;
    if (sent.class === 'asleep' && look.wake != null) {
      // It said that it is awake, and the API has not noticed yet: that has as long as waking has.
      if (Date.now() < waking.until) giveUpAt = waking.until;
      else {
        const woken = await wakeUp(story, waking, look.wake, deliverUntil);
        if (!woken.ok) return { ...sent, detail: `${sent.detail}: ${woken.why}` };
        // What it showed in its sleep may be old: a toggle would undo now what it was to do.
        const isAsAsked = step.fields.every((field) => woken.look?.already.includes(field) === true);
        if (isAsAsked && sendNumber === 1)
          return {
            ...sent,
            class: 'notNeeded',
            detail: 'not sent: it was so already, as it showed once it was awake',
          };
        continue;
      }
    }
    pauseMs = nextPause(pauseMs, sent.retryAfterMs, story.request.deliverWithinMs);
    const leftMs = giveUpAt - Date.now();
    // A pause of our own may be shorter, for a last try; one that the API asks for may not.
    if (leftMs <= 0 || (sent.retryAfterMs ?? 0) > leftMs) return sent;
    tell(story, { phase: 'sending', note: `waiting to try again: ${sent.detail}` });
    await sleep(Math.min(pauseMs, leftMs));
  }
}

/**
 * One send. The activity is repeated by Temporal only after an attempt that held back, which it proves to itself; see
 * `activities/send.ts`.
 */
async function sendOnce(
  { story, look, deliverUntil, approved }: Target,
  step: StepPlan,
  sendNumber: number,
): Promise<SendResult> {
  const leftMs = Math.max(1000, deliverUntil - Date.now());
  const { send } = proxyActivities<Activities>({
    startToCloseTimeout: step.timeoutMs,
    // Not begun by the deadline: then never. Nobody wants the heating on because a worker came back at night.
    scheduleToStartTimeout: leftMs,
    // An attempt begins before the deadline or not at all, so that one which began has ended long before this.
    scheduleToCloseTimeout: leftMs + 2 * step.timeoutMs,
    heartbeatTimeout: '15 seconds',
    // A send under way is let finish and recorded, also when the command is cancelled meanwhile.
    cancellationType: ActivityCancellationType.WAIT_CANCELLATION_COMPLETED,
    retry: { initialInterval: '2 seconds', backoffCoefficient: 2, maximumInterval: '1 minute' },
  });
  const idempotencyKey = `${story.commandId}:${step.index}:${sendNumber}`;
  try {
    const { definitionDigest } = look;
    const { index, fields } = step;
    return await send({
      request: story.request,
      step: index,
      fields,
      idempotencyKey,
      definitionDigest,
      approved,
      deliverUntil,
    });
  } catch (error) {
    if (!(error instanceof ActivityFailure) || isCancellation(error)) throw error;
    return unanswered(error);
  }
}

/** What an attempt that brought no result proves. */
function unanswered({ cause }: ActivityFailure): SendResult {
  const none = { acknowledged: false, at: Date.now(), reply: null, retryAfterMs: null, kept: {} };
  const timeout = cause instanceof TimeoutFailure ? cause.timeoutType : null;
  const last = timeout === 'SCHEDULE_TO_CLOSE' ? cause?.cause : cause;
  if (last instanceof ApplicationFailure && last.type === FAILURE.waitingForApi) {
    const [retryAfterMs = null] = (last.details ?? []) as (number | null)[];
    return { ...none, class: 'limited', detail: last.message, retryAfterMs };
  }
  if (timeout === 'SCHEDULE_TO_START')
    return { ...none, class: 'unreached', detail: 'no worker took it in time' };
  return { ...none, class: 'lost', detail: 'the worker died or broke while sending' };
}
