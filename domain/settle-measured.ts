/** How long a device took to show what it was sent, and the settle times that follow from it. */
import type { SettlePolicy } from './catalogue/definition.ts';
import type { SampleRun } from './outcome.ts';
import type { Value } from './values.ts';

/** One field on its way from one value to another, as its readbacks showed it. Milliseconds from the send. */
export interface Movement {
  readonly field: string;
  readonly to: Value;
  /** Until it first showed anything but the old value. */
  readonly stirredMs: number;
  /** Until it showed the value that it then kept. */
  readonly arrivedMs: number;
  /** By how much `arrivedMs` may be too long: nobody looked in between. */
  readonly blurMs: number;
  /** Longest time that it showed one value other than the old and the last one, as an echo or a pause on the way would look. */
  readonly paused: number;
}

/** The settle times of the catalogue that a measurement speaks for. */
export type SuggestedSettle = Pick<SettlePolicy, 'firstMs' | 'everyMs' | 'withinMs' | 'stableMs' | 'lagMs'>;

/** Somebody's network is slow on another day; three times what was seen still ends in a sensible time. */
const MARGIN = 3;
const SHORTEST_WITHIN_MS = 30_000;
const SHORTEST_STABLE_MS = 2_000;

/**
 * `samples` are those of a verified command, oldest first; `sends` are when it sent something, epoch ms. The last one before
 * the field stirred is the one that moved it: earlier steps were about other fields, earlier tries came to nothing.
 * null: the field shows no movement from one value to another.
 */
export function movementOf(
  samples: readonly SampleRun[],
  field: string,
  sends: readonly number[],
): Movement | null {
  const readings = samples.filter((run) => run.field === field && run.value !== null);
  const stirredAt = readings.find((run) => run.value !== readings[0]?.value)?.firstAt;
  const sentAt = sends.findLast((at) => stirredAt === undefined || at <= stirredAt) ?? sends[0];
  if (sentAt === undefined) return null;
  const runs = readings.filter((run) => run.lastAt >= sentAt);
  const last = runs.at(-1);
  if (last === undefined || last.value === null) return null;
  const old = readings.find((run) => run.value !== last.value)?.value;
  const stirred = runs.find((run) => run.value !== old) ?? last;
  const before = runs.at(-2);
  const between = runs.slice(0, -1).filter((run) => run.value !== old);
  return {
    field,
    to: last.value,
    stirredMs: Math.max(0, stirred.firstAt - sentAt),
    arrivedMs: Math.max(0, last.firstAt - sentAt),
    blurMs: last.firstAt - Math.max(sentAt, before?.lastAt ?? sentAt),
    paused: Math.max(0, ...between.map((run) => run.lastAt - run.firstAt)),
  };
}

/** null: nothing was measured. */
export function suggestedSettle(movements: readonly Movement[]): SuggestedSettle | null {
  if (movements.length === 0) return null;
  const most = (of: (movement: Movement) => number): number => Math.max(...movements.map(of));
  const soonest = Math.min(...movements.map(({ arrivedMs, blurMs }) => arrivedMs - blurMs));
  const arrivedMs = most((movement) => movement.arrivedMs);
  const stirredMs = most((movement) => movement.stirredMs);
  const stableMs = roundedUp(Math.max(SHORTEST_STABLE_MS, most((movement) => movement.paused) * 1.5));
  // Nothing may be sent again while the old value can still be what the API showed before.
  const lagMs = roundedUp(stirredMs * 2);
  return {
    firstMs: Math.max(500, roundedDown(soonest)),
    everyMs: Math.max(1_000, roundedDown(arrivedMs / 10)),
    withinMs: roundedUp(Math.max(SHORTEST_WITHIN_MS, arrivedMs * MARGIN, lagMs) + stableMs * 2),
    stableMs,
    lagMs,
  };
}

/** Times that people write. */
const STEPS_MS = [0.5, 1, 2, 3, 5, 10, 15, 20, 30, 45, 60, 90, 120, 180, 300, 480, 600, 900, 1800, 3600].map(
  (seconds) => seconds * 1000,
);

const roundedUp = (ms: number): number =>
  STEPS_MS.find((step) => step >= ms) ?? Math.ceil(ms / 3_600_000) * 3_600_000;

const roundedDown = (ms: number): number => STEPS_MS.findLast((step) => step <= ms) ?? 0;
