/**
 * What a field shows over time. A course is planned when a value is taken and then only looked up,
 * so a reading depends on the clock alone and needs no timers.
 */
import { entryOf, type FieldBehaviour, type Json } from './behaviour.ts';

/** From `at` on the field shows `to`. */
export interface Leg {
  /** Epoch milliseconds. */
  readonly at: number;
  readonly to: Json;
  /** It gets there evenly in this time, seen in steps of `step`. */
  readonly ramp?: { readonly overMs: number; readonly step: number };
  /** It changes between `to` and `other`, again and again. */
  readonly flap?: { readonly everyMs: number; readonly other: Json };
}

export interface Course {
  readonly start: Json;
  readonly legs: readonly Leg[];
}

export function valueAt(course: Course, now: number): Json {
  let value = course.start;
  for (const leg of course.legs) {
    if (leg.at > now) break;
    const until = Math.min(now, nextLegAt(course, leg));
    value = along(leg, value, until);
  }
  return value;
}

/** When the shown value last changed, if it has since the course began. */
export function lastChangeAt(course: Course, now: number): number | undefined {
  const leg = course.legs.findLast((one) => one.at <= now);
  if (!leg) return undefined;
  if (leg.ramp) return Math.min(now, leg.at + leg.ramp.overMs);
  if (leg.flap) return now - ((now - leg.at) % leg.flap.everyMs);
  return leg.at;
}

function nextLegAt(course: Course, leg: Leg): number {
  return course.legs[course.legs.indexOf(leg) + 1]?.at ?? Number.POSITIVE_INFINITY;
}

function along(leg: Leg, before: Json, until: number): Json {
  const elapsedMs = until - leg.at;
  if (leg.flap) return Math.floor(elapsedMs / leg.flap.everyMs) % 2 === 0 ? leg.to : leg.flap.other;
  if (!leg.ramp || elapsedMs >= leg.ramp.overMs || typeof before !== 'number' || typeof leg.to !== 'number')
    return leg.to;
  const gone = ((leg.to - before) * elapsedMs) / leg.ramp.overMs;
  return tidy(before + Math.trunc(gone / leg.ramp.step) * leg.ramp.step);
}

/** What a taken value does: legs of the field itself, and those of others that go with it. */
export interface Plan {
  readonly own: readonly Leg[];
  readonly others: Readonly<Record<string, readonly Leg[]>>;
  /** The value that it aims at. */
  readonly aim: Json;
}

/** `startAt`: the earliest moment at which the device can begin, e.g. when it next wakes. */
export function plan(
  asked: Json,
  shown: Json,
  behaviour: FieldBehaviour,
  now: number,
  startAt: number,
): Plan {
  const own: Leg[] = [];
  let beginAt = Math.max(startAt, now + (behaviour.follows ?? 0));
  if (behaviour.echoes) {
    const echoAt = now + behaviour.echoes.after;
    own.push({ at: echoAt, to: asked }, { at: echoAt + behaviour.echoes.for, to: shown });
    beginAt = Math.max(beginAt, echoAt + behaviour.echoes.for);
  }
  if (behaviour.ignores) return { own, others: {}, aim: shown };
  const aim = asStored(asked, behaviour);
  const { legs, words, arrivesAt, endsAs } = travel(aim, shown, behaviour, beginAt);
  own.push(...legs);
  if (arrivesAt === undefined) return { own, others: words, aim };
  const others: Record<string, Leg[]> = { ...words };
  for (const [field, value] of Object.entries(entryOf(behaviour.also, endsAs) ?? {}))
    others[field] = [...(others[field] ?? []), { at: arrivesAt, to: value }];
  if (behaviour.flaps) {
    own.push({ at: arrivesAt, to: endsAs, flap: { everyMs: behaviour.flaps.every, other: shown } });
    if (behaviour.flaps.for !== undefined) own.push({ at: arrivesAt + behaviour.flaps.for, to: endsAs });
  }
  if (behaviour.overridden)
    own.push({ at: arrivesAt + behaviour.overridden.after, to: behaviour.overridden.to });
  return { own, others, aim };
}

interface Travel {
  readonly legs: readonly Leg[];
  readonly words: Record<string, Leg[]>;
  /** undefined: never. */
  readonly arrivesAt: number | undefined;
  readonly endsAs: Json;
}

function travel(aim: Json, shown: Json, behaviour: FieldBehaviour, beginAt: number): Travel {
  const { ramps, travels } = behaviour;
  if (ramps && typeof aim === 'number' && typeof shown === 'number')
    return rampTo(aim, shown, ramps, beginAt);
  const word = entryOf(travels?.shows, aim);
  if (travels && word !== undefined && aim !== shown) {
    const onTheWay = { at: beginAt, to: word };
    if (travels.stuck) return { legs: [onTheWay], words: {}, arrivesAt: undefined, endsAs: word };
    const arrivesAt = beginAt + travels.takes;
    return { legs: [onTheWay, { at: arrivesAt, to: aim }], words: {}, arrivesAt, endsAs: aim };
  }
  return { legs: [{ at: beginAt, to: aim }], words: {}, arrivesAt: beginAt, endsAs: aim };
}

function rampTo(
  aim: number,
  shown: number,
  ramps: NonNullable<FieldBehaviour['ramps']>,
  beginAt: number,
): Travel {
  const onTheWay = (at: number | undefined) => at !== undefined && (at - shown) * (at - aim) < 0;
  const stuck = onTheWay(ramps.stuckAt);
  const end = (stuck ? ramps.stuckAt : onTheWay(ramps.stopsAt) ? ramps.stopsAt : aim) as number;
  const overMs = (Math.abs(end - shown) / ramps.perSecond) * 1000;
  const arrivesAt = beginAt + overMs;
  const words: Record<string, Leg[]> = {};
  if (ramps.says && end !== shown) {
    const said = [{ at: beginAt, to: end > shown ? ramps.says.up : ramps.says.down }];
    words[ramps.says.field] = stuck ? said : [...said, { at: arrivesAt, to: ramps.says.still }];
  }
  const legs = [{ at: beginAt, to: end, ramp: { overMs, step: ramps.step } }];
  return { legs, words, arrivesAt: stuck ? undefined : arrivesAt, endsAs: end };
}

/** The value as the device itself keeps it. */
function asStored(asked: Json, behaviour: FieldBehaviour): Json {
  if (behaviour.settlesAt !== undefined) return behaviour.settlesAt;
  if (typeof asked !== 'number') return asked;
  let value = asked;
  if (behaviour.convert === 'fahrenheit-to-celsius') value = ((value - 32) * 5) / 9;
  if (behaviour.convert === 'celsius-to-fahrenheit') value = (value * 9) / 5 + 32;
  if (behaviour.round) {
    const rounding = { nearest: Math.round, down: Math.floor, up: Math.ceil }[behaviour.round.to];
    // tidy: 22.7 / 0.1 must not count as 226.99999.
    value = tidy(rounding(tidy(value / behaviour.round.step)) * behaviour.round.step);
  }
  if (behaviour.clamp) value = Math.min(Math.max(value, behaviour.clamp[0]), behaviour.clamp[1]);
  return tidy(value + (behaviour.offBy ?? 0));
}

/** Without the noise of binary fractions. */
function tidy(value: number): number {
  return Number(value.toFixed(6));
}
