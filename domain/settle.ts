/**
 * Tells from the samples of a device what became of a command: verified, unchanged, different, unsettled, …
 * Pure: `absorb` folds one sample into the story so far, `judge` says whether that is enough. The story is bounded
 * and plain JSON, so that it can travel from one read to the next.
 */
import type { FieldDefinition, SettlePolicy } from './catalogue/definition.ts';
import { sameValue } from './comparison.ts';
import { shownValue } from './device-scale.ts';
import type { Sample } from './exchange.ts';
import type { SampleRun, Verdict } from './outcome.ts';
import { progress, waitingFor } from './progress.ts';
import { EMPTY_TRACK, isPause, reached, readingOf, type Stretch, type Track, withSample } from './series.ts';
import { formatDuration, formatValue } from './text.ts';
import type { Desired, Reading, Value } from './values.ts';

export interface SettleQuestion {
  readonly desired: Desired;
  /** The fields to judge; all of them have a readback. */
  readonly fields: Readonly<Record<string, FieldDefinition>>;
  /** What the device showed before the first send; absent or unreadable: not known. */
  readonly before: Readonly<Record<string, Reading>>;
  readonly policy: SettlePolicy;
  /** When the last send ended, epoch ms: the deadline runs from here. */
  readonly sentAt: number;
  /** Pauses that the API itself asks for put the deadline off by at most so much in all. */
  readonly patienceMs: number;
}

export interface SettleStory {
  readonly reads: number;
  readonly lastSample: Sample | null;
  /** Time in which the API let nothing be read, ms. */
  readonly pausedMs: number;
  readonly tracks: Readonly<Record<string, Track>>;
}

export interface FieldVerdict {
  readonly verdict: Verdict;
  readonly observed: { readonly value: Value; readonly at: number } | null;
  readonly adjusted: boolean;
  readonly detail: string;
}

export type Judgement =
  | {
      readonly kind: 'wait';
      readonly nextReadAt: number;
      /** When it ends at the latest, as far as one can tell now. */
      readonly until: number;
      readonly note: string;
      /** Why it takes its time, as far as that is known. */
      readonly why: string | null;
    }
  | { readonly kind: 'done'; readonly fields: Readonly<Record<string, FieldVerdict>> };

/** Two reads at the desired value are more than an echo: leaving it again is somebody's doing. */
const READS_THAT_COUNT_AS_REACHED = 2;
/** A device that changed its mind this often is not still, however its last reads look. */
const SWINGS_OF_A_RESTLESS_DEVICE = 4;

export const emptyStory: SettleStory = { reads: 0, lastSample: null, pausedMs: 0, tracks: {} };

export function absorb(question: SettleQuestion, story: SettleStory, sample: Sample): SettleStory {
  const tracks: Record<string, Track> = {};
  for (const [name, field] of Object.entries(question.fields)) {
    const desired = question.desired[name];
    if (desired === undefined) continue;
    const aim = { field, desired, before: question.before[name] };
    tracks[name] = withSample(story.tracks[name] ?? EMPTY_TRACK, aim, sample);
  }
  const last = story.lastSample;
  // From the last read to one that was held, and from there to the next: neither showed anything in between.
  const isPaused = isPause(sample) || (last !== null && isPause(last));
  const since = last?.at ?? question.sentAt + question.policy.firstMs;
  const paused = isPaused ? Math.max(0, sample.at - since) : 0;
  return { reads: story.reads + 1, lastSample: sample, pausedMs: story.pausedMs + paused, tracks };
}

/**
 * Enough seen? Done when every field is verified, or when the deadline is over. A value that turned right just before
 * the deadline still gets its stable window: stopping there would call a success unsettled. So does one that could be
 * read only then (a single reading tells neither "unchanged" nor "unsettled"), and one whose last read got lost.
 */
export function judge(question: SettleQuestion, story: SettleStory, now: number): Judgement {
  const { policy, sentAt } = question;
  if (story.reads === 0) {
    return {
      kind: 'wait',
      nextReadAt: sentAt + policy.firstMs,
      until: sentAt + policy.withinMs,
      note: `waiting ${formatDuration(policy.firstMs)} before the first read`,
      why: waitingFor(question, story, now),
    };
  }
  const isAllVerified = Object.values(question.fields).every((field) => isVerified(question, story, field));
  if (isAllVerified) return done(question, story, now);
  const deadline = sentAt + policy.withinMs + putOff(question, story);
  const latest = deadline + grace(question, story, deadline);
  if (now >= latest) return done(question, story, now);
  return {
    kind: 'wait',
    nextReadAt: nextReadAt(question, story, now, latest),
    until: latest,
    note: progress(question, story, now),
    why: waitingFor(question, story, now),
  };
}

/** Nothing is learnt while the API lets nothing be read, so that time isn't the device's to answer for. */
function putOff({ patienceMs }: SettleQuestion, { pausedMs, lastSample }: SettleStory): number {
  return Math.min(patienceMs, pausedMs + (lastSample?.retryAfterMs ?? 0));
}

/**
 * How long past the deadline a stretch of readings may go on that can't be judged yet: one window from its last reading,
 * or from the pause that keeps the next one, as far as there is patience for it.
 */
function grace({ patienceMs, policy, sentAt }: SettleQuestion, story: SettleStory, deadline: number): number {
  const { lastSample: last, pausedMs } = story;
  const windowMs = policy.stableMs + policy.everyMs;
  const isWaiting = last !== null && isPause(last) && pausedMs < patienceMs;
  const longest = sentAt + policy.withinMs + patienceMs;
  const pausedUntil = isWaiting ? Math.min(longest, last.at + (last.retryAfterMs ?? 0)) : deadline;
  const pastDeadline = (stretch: Stretch | null) =>
    windowMs + Math.max(deadline, pausedUntil, stretch?.until ?? deadline) - deadline;
  const tracks = Object.values(story.tracks);
  if (tracks.every((track) => track.matching !== null) && (isWaiting || !isRestrained(story)))
    return Math.max(...tracks.map((track) => pastDeadline(track.matching)));
  if (tracks.every((track) => isFirstSeen(policy, track)))
    return Math.max(...tracks.map((track) => pastDeadline(track.holding)));
  return tracks.some((track) => track.last !== null && track.holding === null) ? windowMs : 0;
}

/** The API may ask for a pause; else the next read is due one interval after the last, and the last one at the deadline. */
function nextReadAt(question: SettleQuestion, story: SettleStory, now: number, latest: number): number {
  const last = story.lastSample;
  const due = (last?.at ?? now) + Math.max(question.policy.everyMs, last?.retryAfterMs ?? 0);
  return Math.max(now, Math.min(due, latest));
}

const isRestrained = ({ lastSample }: SettleStory): boolean =>
  lastSample === null || lastSample.moving || isPause(lastSample) || faultsOf(lastSample).length > 0;

const faultsOf = (sample: Sample | null): string[] =>
  Object.entries(sample?.faults ?? {})
    .filter(([, state]) => state !== 'clear')
    .map(([name]) => name);

function isVerified(question: SettleQuestion, story: SettleStory, field: FieldDefinition): boolean {
  const stretch = story.tracks[field.name]?.matching;
  if (stretch == null || isRestrained(story)) return false;
  return isStable(question.policy, stretch);
}

const isStable = (policy: SettlePolicy, stretch: Stretch): boolean =>
  stretch.reads >= policy.reads && stretch.until - stretch.since >= policy.stableMs;

/** One value so far, and not for long enough to say that the device stands still. */
const isFirstSeen = (policy: SettlePolicy, { swings, holding }: Track): boolean =>
  swings === 0 && holding !== null && !isStable(policy, holding);

function done(question: SettleQuestion, story: SettleStory, now: number): Judgement {
  const fields: Record<string, FieldVerdict> = {};
  for (const field of Object.values(question.fields))
    fields[field.name] = fieldVerdict(question, story, field, now);
  return { kind: 'done', fields };
}

/** The heart of it: one field's verdict from its series. Each branch claims no more than the readings show. */
function fieldVerdict(
  question: SettleQuestion,
  story: SettleStory,
  field: FieldDefinition,
  now: number,
): FieldVerdict {
  const track = story.tracks[field.name] ?? EMPTY_TRACK;
  const asked = formatValue(question.desired[field.name] ?? null, field.unit);
  const took = formatDuration(now - question.sentAt);
  const shown =
    track.last === null ? 'nothing readable' : formatValue(shownValue(field, track.last.value), field.unit);
  const say = (verdict: Verdict, detail: string): FieldVerdict => ({
    verdict,
    observed: track.last === null ? null : { ...track.last, value: shownValue(field, track.last.value) },
    adjusted: verdict === 'verified' && track.adjusted,
    detail,
  });
  const lastReading = story.lastSample === null ? undefined : readingOf(story.lastSample, field.name);
  const word = lastReading?.kind === 'unreadable' ? lastReading.word : undefined;

  if (lastReading?.kind === 'notApplicable') return say('notApplicable', lastReading.why);
  if (word !== undefined && story.lastSample?.moving === true)
    return say('unsettled', `asked ${asked}, still ${word} after ${took}`);
  if (track.last === null || isTooOld(question, story, { readAt: track.last.at, now })) {
    const why = lastReading?.kind === 'unreadable' ? lastReading.why : 'no reading';
    const told = `asked ${asked}; no usable reading: ${why}`;
    // A lock that says "jammed" in place of its state has answered: nothing may be sent again before somebody has looked.
    const raised = Object.entries(story.lastSample?.faults ?? {}).filter(([, state]) => state === 'raised');
    if (raised.length === 0) return say('unreadable', told);
    const names = raised.map(([name]) => name).join(', ');
    return say('fault', `${told}; the device reports ${names}, and a person is needed`);
  }
  const faults = faultsOf(story.lastSample);
  if (track.matching !== null && faults.length > 0) {
    return say('fault', `reads ${shown}, but the device reports ${faults.join(', ')}; a person is needed`);
  }
  if (isVerified(question, story, field))
    return say(
      'verified',
      `reads ${shown}${track.adjusted ? `, the device's nearest step to ${asked}` : ''}`,
    );
  if (story.lastSample?.moving === true)
    return say('unsettled', `asked ${asked}, still moving after ${took}, last at ${shown}`);
  const still = track.holding !== null && isStable(question.policy, track.holding);
  const restless = track.swings >= SWINGS_OF_A_RESTLESS_DEVICE;
  if (!still || track.matching !== null || restless) {
    return say('unsettled', `asked ${asked}, not steady after ${took}, last at ${shown}`);
  }
  // From here on the device stands still, and not as asked.
  const alarm =
    faults.length === 0 ? '' : `; the device reports ${faults.join(', ')}, and a person is needed`;
  if (
    field.confirm !== null &&
    field.read !== null &&
    sameValue(field, track.last.value, question.desired[field.name] ?? false)
  ) {
    return say('different', `reads ${shown}, but its confirmation does not hold`);
  }
  if (reached(track) >= READS_THAT_COUNT_AS_REACHED)
    return say('superseded', `reached ${asked}, then ${shown}`);
  const knownBefore = question.before[field.name]?.kind === 'value';
  if (knownBefore && !track.moved)
    return say('unchanged', `still ${shown} after ${story.reads} reads${alarm}`);
  return say('different', `asked ${asked}, got ${shown}${alarm}`);
}

/** A reading from before a long silence says nothing about now. A pause of the API is silence until it is over. */
function isTooOld(
  { policy }: SettleQuestion,
  { lastSample }: SettleStory,
  { readAt, now }: { readonly readAt: number; readonly now: number },
): boolean {
  const heardAt = lastSample !== null && isPause(lastSample) ? now : (lastSample?.at ?? 0);
  return heardAt - readAt > Math.max(2 * policy.everyMs, policy.stableMs);
}

/** All runs of all fields, oldest first: the evidence of an outcome. */
export function samplesOf(story: SettleStory): readonly SampleRun[] {
  return Object.values(story.tracks)
    .flatMap((track) => track.runs)
    .sort((a, b) => a.firstAt - b.firstAt);
}
