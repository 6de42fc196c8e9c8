/** Sends the steps of a command in order, reads each back, and repeats only what may be repeated. */
import {
  ActivityCancellationType,
  ActivityFailure,
  isCancellation,
  proxyActivities,
  sleep,
  TimeoutFailure,
} from '@temporalio/workflow';
import type { SendResult } from '../domain/exchange.ts';
import { type FieldResult, outcomeOf, type SampleRun, type Verdict } from '../domain/outcome.ts';
import type { Value } from '../domain/values.ts';
import type { Activities, Look, Seen, Settled, StepPlan } from './messages.ts';
import { nextPause } from './pauses.ts';
import { countSend, type Ending, type Story, tell } from './story.ts';
import { type Waking, wakeUp } from './waking.ts';

const { settle } = proxyActivities<Activities>({
  startToCloseTimeout: '1 minute',
  heartbeatTimeout: '30 seconds',
  cancellationType: ActivityCancellationType.TRY_CANCEL,
  // The activity says by itself when the next read is due and when it is enough; this is only for a broken worker.
  retry: { initialInterval: '1 second', maximumInterval: '30 seconds' },
});
const { lookAgain } = proxyActivities<Activities>({
  startToCloseTimeout: '1 minute',
  scheduleToCloseTimeout: '5 minutes',
});

interface Delivery {
  readonly story: Story;
  readonly look: Look;
  readonly waking: Waking;
  readonly deliverUntil: number;
  readonly results: Record<string, FieldResult>;
  samples: readonly SampleRun[];
  kept: Readonly<Record<string, Value>>;
}

export async function deliver(
  story: Story,
  look: Look,
  waking: Waking,
  deliverUntil: number,
): Promise<Ending> {
  const delivery: Delivery = { story, look, waking, deliverUntil, results: {}, samples: [], kept: {} };
  for (const [position, step] of look.steps.entries()) {
    const isLast = position === look.steps.length - 1;
    const goOn = isAlready(look, step)
      ? record(delivery, step.fields, 'already', 'it was so already')
      : await carryOutStep(delivery, step, isLast);
    if (!goOn) break;
  }
  return conclude(delivery);
}

/** A step whose fields are all as desired is left out: sending it again would prove nothing. */
const isAlready = (look: Look, step: StepPlan): boolean =>
  step.kind === 'set' && step.fields.every((field) => look.already.includes(field));

/** One step, sent as often as is allowed and needed. True: the next step may follow. */
async function carryOutStep(delivery: Delivery, step: StepPlan, isLast: boolean): Promise<boolean> {
  const { story, look } = delivery;
  for (let sends = 1; ; sends += 1) {
    const sent = await reach(delivery, step, sends);
    switch (sent.class) {
      case 'unreached':
      case 'limited':
      case 'asleep':
        return record(delivery, step.fields, 'notSent', `could not be delivered in time: ${sent.detail}`);
      case 'signedOut':
        return record(
          delivery,
          step.fields,
          'refused',
          `the API does not accept Readback's credentials (${sent.detail}); sign in again or mend the token`,
        );
      case 'refused':
        countSend(story, sent, step.repeatable);
        return await afterRefusal(delivery, step, sent);
      case 'accepted':
      case 'already':
      case 'maybe':
      case 'lost':
        break;
    }
    countSend(story, sent, step.repeatable);
    delivery.kept = { ...delivery.kept, ...sent.kept };
    if (!isLast && step.then.kind === 'pause') await sleep(step.then.ms);
    if (!isLast && step.then.kind !== 'verify')
      return record(delivery, step.fields, 'unverifiable', 'sent; read back with the last step');

    const settled = await readBack(delivery, step, sent, isLast);
    recordSettled(delivery, step, sent, settled);
    if (!mayRepeat(step, settled) || sends >= look.policy.maxSends) {
      return step.fields.every((field) => isGood(delivery.results[field]?.verdict));
    }
  }
}

const isGood = (verdict: Verdict | undefined): boolean =>
  verdict === 'verified' || verdict === 'already' || verdict === 'unverifiable';

/** Sends once the API takes it: waits out limits and absences, which certainly reached nothing, until the deadline. */
async function reach(delivery: Delivery, step: StepPlan, sendNumber: number): Promise<SendResult> {
  const { story, look, waking } = delivery;
  let pauseMs = 0;
  for (;;) {
    const sent = await sendOnce(delivery, step, sendNumber);
    if (sent.class !== 'unreached' && sent.class !== 'limited' && sent.class !== 'asleep') return sent;
    let giveUpAt = delivery.deliverUntil;
    if (sent.class === 'asleep' && look.wake != null) {
      // It said that it is awake, and the API has not noticed yet: that has as long as waking has.
      if (Date.now() < waking.until) giveUpAt = waking.until;
      else {
        const woken = await wakeUp(story, waking, look.wake, delivery.deliverUntil);
        if (!woken.ok) return { ...sent, detail: `${sent.detail}: ${woken.why}` };
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

/** One attempt, ever: Temporal must not repeat it, since only the loop above knows when that is harmless. */
async function sendOnce(delivery: Delivery, step: StepPlan, sendNumber: number): Promise<SendResult> {
  const { story, deliverUntil } = delivery;
  const { send } = proxyActivities<Activities>({
    startToCloseTimeout: step.timeoutMs,
    // Not begun by the deadline: then never. Nobody wants the heating on because a worker came back at night.
    scheduleToStartTimeout: Math.max(1000, deliverUntil - Date.now()),
    heartbeatTimeout: '15 seconds',
    // A send under way is let finish and recorded, also when the command is cancelled meanwhile.
    cancellationType: ActivityCancellationType.WAIT_CANCELLATION_COMPLETED,
    retry: { maximumAttempts: 1 },
  });
  const idempotencyKey = `${story.commandId}:${step.index}:${sendNumber}`;
  try {
    return await send({ request: story.request, step: step.index, fields: step.fields, idempotencyKey });
  } catch (error) {
    if (!(error instanceof ActivityFailure) || isCancellation(error)) throw error;
    const neverBegan =
      error.cause instanceof TimeoutFailure && error.cause.timeoutType === 'SCHEDULE_TO_START';
    const detail = neverBegan ? 'no worker took it in time' : 'the worker died or broke while sending';
    return {
      class: neverBegan ? 'unreached' : 'lost',
      at: Date.now(),
      reply: null,
      detail,
      retryAfterMs: null,
      kept: {},
    };
  }
}

async function readBack(
  delivery: Delivery,
  step: StepPlan,
  sent: SendResult,
  isLast: boolean,
): Promise<Settled> {
  const { story, look, kept } = delivery;
  const fields = isLast ? fieldsToJudge(delivery, step) : step.verifiable;
  const note =
    sent.class === 'accepted'
      ? 'acknowledged; reading back'
      : `${sent.detail}; reading back to see whether it acted`;
  tell(story, { phase: 'settling', note, until: sent.at + look.policy.withinMs });
  if (fields.length === 0) return { fields: {}, samples: [] };
  try {
    return await settle({
      request: story.request,
      fields,
      readings: look.readings,
      before: look.before,
      baselineDeviceAt: look.deviceAt,
      kept,
      policy: look.policy,
      sentAt: sent.at,
    });
  } catch (error) {
    if (!(error instanceof ActivityFailure) || isCancellation(error)) throw error;
    return unread(fields, error.cause?.message ?? error.message);
  }
}

/** What was sent stays sent, also where nobody can read it back any more. */
function unread(fields: readonly string[], why: string): Settled {
  const verdict = {
    verdict: 'unreadable',
    observed: null,
    adjusted: false,
    detail: `no usable reading: ${why}`,
  } as const;
  return { fields: Object.fromEntries(fields.map((field) => [field, verdict])), samples: [] };
}

/** With the last step everything asked is read back once more: an earlier step may have been undone by a later one. */
function fieldsToJudge(delivery: Delivery, last: StepPlan): readonly string[] {
  const earlier = delivery.look.steps
    .filter((step) => step.index !== last.index)
    .flatMap((step) => step.verifiable);
  return [...earlier, ...last.verifiable];
}

function recordSettled(delivery: Delivery, step: StepPlan, sent: SendResult, settled: Settled): void {
  delivery.samples = [...delivery.samples, ...settled.samples];
  for (const field of step.fields) {
    if (!step.verifiable.includes(field)) {
      const acknowledged = sent.class === 'accepted' || sent.class === 'already';
      record(
        delivery,
        [field],
        acknowledged ? 'unverifiable' : 'unknown',
        acknowledged
          ? 'acknowledged; this field has no readback'
          : `${sent.detail}; this field has no readback`,
      );
    }
  }
  for (const [field, found] of Object.entries(settled.fields)) {
    const unit = delivery.story.request.units[field] ?? null;
    const verdict = honest(found.verdict, sent, delivery.results[field]?.verdict);
    const observed = found.observed === null ? null : { ...found.observed, unit };
    const detail = verdict === 'unknown' ? `${sent.detail}; ${found.detail}` : found.detail;
    delivery.results[field] = {
      ...blank(delivery, field),
      verdict,
      observed,
      adjusted: found.adjusted,
      detail,
    };
  }
}

/**
 * What a verdict is worth after this send. Without an acknowledgement a device that doesn't move says nothing: the
 * request may still be on its way. And what the API called "already so" was not our doing.
 */
function honest(verdict: Verdict, sent: SendResult, earlier: Verdict | undefined): Verdict {
  const acknowledged = sent.reply !== null && sent.reply.status >= 200 && sent.reply.status < 300;
  if (verdict === 'verified' && (sent.class === 'already' || earlier === 'already')) return 'already';
  if (acknowledged || sent.class === 'accepted' || sent.class === 'already') return verdict;
  return verdict === 'unchanged' || verdict === 'unreadable' ? 'unknown' : verdict;
}

/** Again only what is declared repeatable, and only while the device stands still at the old value. */
function mayRepeat(step: StepPlan, settled: Settled): boolean {
  const open = step.verifiable.filter((field) => settled.fields[field]?.verdict !== 'verified');
  return (
    step.repeatable &&
    open.length > 0 &&
    open.every((field) => settled.fields[field]?.verdict === 'unchanged')
  );
}

/** Some APIs refuse what is so already. A refusal with the desired reading is that, and nothing else is. */
async function afterRefusal(delivery: Delivery, step: StepPlan, sent: SendResult): Promise<boolean> {
  const seen = await seenAgain(delivery);
  const asDesired = step.verifiable.length > 0 && step.fields.every((field) => seen.already.includes(field));
  const words = sent.reply === null ? sent.detail : `HTTP ${sent.reply.status} ${sent.reply.body}`.trim();
  const goOn = record(
    delivery,
    step.fields,
    asDesired ? 'already' : 'refused',
    asDesired ? `the API refused (${words}) since it is so already` : `the API refused: ${words}`,
  );
  for (const field of step.fields) observe(delivery, field, seen.observed[field] ?? null, seen.at);
  return goOn;
}

/** A device that can't be looked at shows nothing; the refusal stands. */
async function seenAgain({ story }: Delivery): Promise<Seen> {
  try {
    return await lookAgain({ request: story.request });
  } catch (error) {
    if (!(error instanceof ActivityFailure) || isCancellation(error)) throw error;
    return { at: Date.now(), observed: {}, already: [] };
  }
}

function observe(delivery: Delivery, field: string, value: Value | null, at: number): void {
  const result = delivery.results[field];
  if (result === undefined || value === null) return;
  const unit = delivery.story.request.units[field] ?? null;
  delivery.results[field] = { ...result, observed: { value, unit, at } };
}

/** Returns whether the next step may follow. */
function record(delivery: Delivery, fields: readonly string[], verdict: Verdict, detail: string): boolean {
  for (const field of fields) delivery.results[field] = { ...blank(delivery, field), verdict, detail };
  return isGood(verdict);
}

function blank(delivery: Delivery, field: string): FieldResult {
  const { story } = delivery;
  const requested = story.request.desired[field] ?? false;
  return {
    requested,
    previous: story.view.previous[field] ?? null,
    observed: null,
    verdict: 'notSent',
    adjusted: false,
    detail: 'not sent',
  };
}

function conclude(delivery: Delivery): Ending {
  const fields: Record<string, FieldResult> = {};
  for (const field of Object.keys(delivery.story.request.desired)) {
    fields[field] = delivery.results[field] ?? {
      ...blank(delivery, field),
      detail: 'not sent: an earlier step did not succeed',
    };
  }
  const outcome = outcomeOf(Object.values(fields).map((field) => field.verdict));
  const detail = Object.entries(fields)
    .map(([name, field]) => `${name}: ${field.detail}`)
    .join('; ');
  return { outcome, detail, fields, samples: delivery.samples };
}
