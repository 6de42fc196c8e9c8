/** The series of one field since a send: what it showed, for how long, and whether that was what was asked. Bounded. */
import type { FieldDefinition } from './catalogue/definition.ts';
import { type Comparison, compare, sameValue } from './comparison.ts';
import { shownValue } from './device-scale.ts';
import type { Sample } from './exchange.ts';
import type { SampleRun } from './outcome.ts';
import type { Reading, Value } from './values.ts';

/** What a series is judged by. */
export interface Aim {
  readonly field: FieldDefinition;
  readonly desired: Value;
  /** Before the first send; unreadable: not known. */
  readonly before: Reading | undefined;
}

export interface Track {
  readonly runs: readonly SampleRun[];
  /** Runs left out of the middle, to keep the story small. */
  readonly dropped: number;
  /** How often a readable value gave way to another one; numbers that go on in one direction have changed once. */
  readonly swings: number;
  /** In which direction a number went last: -1 or 1; 0: it hasn't, or it is no number. */
  readonly heading: number;
  /** The present unbroken stretch of readings equal to the desired value. */
  readonly matching: Stretch | null;
  /** The present unbroken stretch of one value. */
  readonly holding: Stretch | null;
  /** Reads in the longest stretch at the desired value that the device has left again; 0 once that turned out to be an echo. */
  readonly reachedReads: number;
  readonly moved: boolean;
  readonly adjusted: boolean;
  readonly last: { readonly value: Value; readonly at: number } | null;
}

/** An unbroken stretch of readings. */
export interface Stretch {
  readonly value: Value;
  readonly since: number;
  readonly until: number;
  readonly reads: number;
}

/** First and last runs of a field are evidence; a flapping device must not grow the history. */
const RUNS_KEPT_FIRST = 6;
const RUNS_KEPT_LAST = 14;

export const EMPTY_TRACK: Track = {
  runs: [],
  dropped: 0,
  swings: 0,
  heading: 0,
  matching: null,
  holding: null,
  reachedReads: 0,
  moved: false,
  adjusted: false,
  last: null,
};

/** The series with one more sample. */
export function withSample(track: Track, aim: Aim, sample: Sample): Track {
  const { field, before } = aim;
  const reading = readingOf(sample, field.name);
  const run = runOf(field.name, reading, sample.at);
  const { runs, dropped } = appendRun(track, run, field);
  const base = { ...track, runs, dropped };
  // Nothing was read, so nothing is known to have changed: a stretch goes on behind it, if the next reading says so.
  if (isPause(sample)) return base;
  if (reading.kind !== 'value')
    return { ...base, matching: null, reachedReads: reached(track), holding: null };

  const comparison = compareWithConfirm(aim, reading, sample);
  const matches = comparison === 'equal' || comparison === 'adjusted';
  const heading = headingOf(track, field, reading.value);
  const continues = track.last !== null && sameValue(field, track.last.value, reading.value);
  return {
    ...base,
    swings: track.swings + (continues || track.last === null || onward(track, heading) ? 0 : 1),
    heading,
    matching: matches ? extend(track.matching, reading.value, sample.at) : null,
    holding: extend(continues ? track.holding : null, reading.value, sample.at),
    reachedReads: matches ? track.reachedReads : setsOut(track, aim, reading.value) ? 0 : reached(track),
    moved: track.moved || (before?.kind === 'value' && !sameValue(field, before.value, reading.value)),
    adjusted: comparison === 'adjusted',
    last: { value: reading.value, at: sample.at },
  };
}

/** The API let nothing be read for a while. That says nothing about the device. */
export const isPause = ({ trouble, retryAfterMs }: Sample): boolean =>
  trouble !== null && retryAfterMs !== null;

export function readingOf(sample: Sample, field: string): Reading {
  return sample.fields[field] ?? { kind: 'unreadable', why: sample.trouble ?? 'not in the reply' };
}

function compareWithConfirm({ field, desired }: Aim, reading: Reading, sample: Sample): Comparison {
  const confirmed = field.confirm === null || sample.confirmed[field.name] === true;
  return confirmed ? compare(field, desired, reading) : 'unequal';
}

function headingOf({ last, heading }: Track, field: FieldDefinition, value: Value): number {
  if (typeof value !== 'number' || typeof last?.value !== 'number') return 0;
  return sameValue(field, last.value, value) ? heading : Math.sign(value - last.value);
}

const onward = (track: Track, heading: number): boolean => heading !== 0 && heading === track.heading;

/**
 * A device that begins its way to the desired value had not been there, whatever it showed before: that was an echo.
 * Numbers come nearer without arriving; other values leave the one from before.
 */
function setsOut({ last }: Track, { field, desired, before }: Aim, value: Value): boolean {
  if (last === null || sameValue(field, last.value, value)) return false;
  if (typeof desired === 'number' && typeof value === 'number' && typeof last.value === 'number')
    return Math.abs(value - desired) < Math.abs(last.value - desired);
  return before?.kind === 'value' && sameValue(field, before.value, last.value);
}

/** Reads in the longest stretch at the desired value, the present one included. */
export const reached = (track: Track): number => Math.max(track.reachedReads, track.matching?.reads ?? 0);

function extend(stretch: Stretch | null, value: Value, at: number): Stretch {
  if (stretch === null) return { value, since: at, until: at, reads: 1 };
  return { value, since: stretch.since, until: at, reads: stretch.reads + 1 };
}

function runOf(field: string, reading: Reading, at: number): SampleRun {
  const shown =
    reading.kind === 'value' ? { value: reading.value, note: null } : { value: null, note: reading.why };
  return { field, ...shown, firstAt: at, lastAt: at, reads: 1 };
}

function appendRun(track: Track, run: SampleRun, field: FieldDefinition): Pick<Track, 'runs' | 'dropped'> {
  const last = track.runs.at(-1);
  const same =
    last !== undefined &&
    (last.value === null || run.value === null
      ? last.value === run.value && last.note === run.note
      : shownValue(field, last.value) === shownValue(field, run.value));
  if (same) {
    const longer = { ...last, lastAt: run.lastAt, reads: last.reads + 1 };
    return { runs: [...track.runs.slice(0, -1), longer], dropped: track.dropped };
  }
  const runs = [...track.runs, run];
  if (runs.length <= RUNS_KEPT_FIRST + RUNS_KEPT_LAST) return { runs, dropped: track.dropped };
  return {
    runs: [...runs.slice(0, RUNS_KEPT_FIRST), ...runs.slice(RUNS_KEPT_FIRST + 1)],
    dropped: track.dropped + 1,
  };
}
