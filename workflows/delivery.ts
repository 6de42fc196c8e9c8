/** Sends the steps of a command in order, reads each back, and repeats only what may be repeated. */
import {
  ActivityCancellationType,
  ActivityFailure,
  isCancellation,
  proxyActivities,
  sleep,
} from '@temporalio/workflow';
import type { SendResult } from '../domain/exchange.ts';
import type { Value } from '../domain/values.ts';
import type { Activities, Look, Seen, Settled, StepPlan } from './activity-types.ts';
import {
  conclude,
  type Evidence,
  isGood,
  noEvidence,
  observe,
  record,
  recordSent,
  recordSettled,
  recordUnreached,
} from './evidence.ts';
import { reach, type Target } from './reaching.ts';
import { countSend, type Ending, tell } from './story.ts';

/** An attempt of `settle` stays up to 20 s between reads before it gives its slot back. */
const SETTLE_STAYS_MS = 30_000;
/** Whoever starts a worker again within a day still learns what became of the device. */
const WORKER_AWAY_UP_TO_MS = 24 * 3_600_000;

const { lookAgain } = proxyActivities<Activities>({
  startToCloseTimeout: '1 minute',
  scheduleToCloseTimeout: '5 minutes',
});

interface Delivery extends Target, Evidence {
  /** What replies have left for later reads (`keep`). */
  kept: Readonly<Record<string, Value>>;
  /** Why what was judged and approved is not what would have been sent. */
  void: string | null;
}

export async function deliver(target: Target): Promise<Ending> {
  const { look } = target;
  const delivery: Delivery = { ...target, ...noEvidence(target.story), kept: {}, void: null };
  for (const step of look.steps) {
    if (isAlready(look, step)) record(delivery, step.fields, 'already', 'it was so already');
  }
  const toSend = look.steps.filter((step) => !isAlready(look, step));
  for (const [position, step] of toSend.entries()) {
    // With the last one everything is read back, also what was as asked before: a send may have changed it.
    const isLast = position === toSend.length - 1;
    if (!(await carryOutStep(delivery, step, isLast))) break;
  }
  // The step that would have shown them was not sent, or refused.
  if (delivery.unread.length > 0) await readBack(delivery, delivery.unread);
  if (delivery.void !== null && delivery.story.view.sent.count === 0)
    return {
      ...conclude(delivery),
      outcome: 'expired',
      detail: `${delivery.void}. Nothing was sent; ask again.`,
    };
  return conclude(delivery);
}

/** A step whose fields are all as desired is left out: a set would prove nothing, and a toggle would undo it. */
const isAlready = (look: Look, step: StepPlan): boolean =>
  step.fields.every((field) => look.already.includes(field));

/** One step, sent as often as is allowed and needed. True: the next step may follow. */
async function carryOutStep(delivery: Delivery, step: StepPlan, isLast: boolean): Promise<boolean> {
  const { story, look } = delivery;
  for (let sends = 1; ; sends += 1) {
    const sent = await reach(delivery, step, sends);
    switch (sent.class) {
      case 'unreached':
      case 'limited':
      case 'asleep':
        return recordUnreached(delivery, step, 'notSent', `could not be delivered in time: ${sent.detail}`);
      case 'signedOut':
        return recordUnreached(
          delivery,
          step,
          'refused',
          `the API does not accept Readback's credentials (${sent.detail}); sign in again or mend the token`,
        );
      case 'void':
        delivery.void = sent.detail;
        return recordUnreached(delivery, step, 'notSent', sent.detail);
      case 'notNeeded':
        recordSent(delivery, step, sent);
        await readBack(delivery, isLast ? fieldsToJudge(delivery, step) : step.verifiable);
        return step.fields.every((field) => isGood(delivery.results[field]?.verdict));
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
    recordSent(delivery, step, sent);
    if (!isLast && step.then.kind === 'pause') await sleep(step.then.ms);
    if (!isLast && step.then.kind !== 'verify') return true;

    const settled = await readBack(delivery, isLast ? fieldsToJudge(delivery, step) : step.verifiable);
    if (!mayRepeat(step, settled) || sends >= look.policy.maxSends) {
      return step.fields.every((field) => isGood(delivery.results[field]?.verdict));
    }
  }
}

/** Reads these fields back after the last send, and records what they show. */
async function readBack(delivery: Delivery, fields: readonly string[]): Promise<Settled> {
  const { story, look, lastSent: sent } = delivery;
  const note =
    sent?.class === 'accepted'
      ? 'acknowledged; reading back'
      : `${sent?.detail}; reading back to see whether it acted`;
  const sentAt = sent?.at ?? Date.now();
  tell(story, { phase: 'settling', note, until: sentAt + look.policy.withinMs });
  delivery.unread = delivery.unread.filter((field) => !fields.includes(field));
  if (fields.length === 0) return { fields: {}, samples: [] };
  const settled = await settledOrUnread(delivery, fields, sentAt);
  recordSettled(delivery, settled);
  return settled;
}

async function settledOrUnread(
  { story, look, kept }: Delivery,
  fields: readonly string[],
  sentAt: number,
): Promise<Settled> {
  const { settle } = proxyActivities<Activities>({
    startToCloseTimeout: look.readWithinMs + SETTLE_STAYS_MS,
    // The activity ends by itself at its deadline. This is for a worker that can't get there, or that is away for long.
    scheduleToCloseTimeout: look.policy.withinMs + story.request.deliverWithinMs + WORKER_AWAY_UP_TO_MS,
    heartbeatTimeout: '30 seconds',
    cancellationType: ActivityCancellationType.TRY_CANCEL,
    retry: { initialInterval: '1 second', maximumInterval: '30 seconds' },
  });
  try {
    return await settle({
      request: story.request,
      fields,
      readings: look.readings,
      before: look.before,
      baselineDeviceAt: look.deviceAt,
      kept,
      policy: look.policy,
      sentAt,
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
  // It read otherwise before, so it was not so already: whatever it said, the device may have acted.
  if (asDesired && step.fields.some((field) => delivery.look.previous[field] !== null)) {
    recordSent(delivery, step, sent);
    await readBack(delivery, step.verifiable);
    return step.fields.every((field) => isGood(delivery.results[field]?.verdict));
  }
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
