/** One simulated device: takes values, and shows what its behaviour makes of them as time goes by. */
import {
  type DeviceDefinition,
  type FieldBehaviour,
  fieldOptions,
  type Json,
  type Refusal,
  type ScriptEvent,
} from './behaviour.ts';
import { type Course, lastChangeAt, plan, valueAt } from './course.ts';
import { checkDevice, mergeOver, type WrittenDevice } from './devices-file.ts';

export type Values = Readonly<Record<string, Json>>;

/** `idle`: the API took it and the device did nothing. */
export type Taken =
  | { readonly kind: 'acted' | 'idle' }
  | { readonly kind: 'refused'; readonly refusal: Refusal; readonly field: string };

export interface Device {
  readonly id: string;
  readonly definition: DeviceDefinition;
  /** The options as written and changed since, without defaults. */
  readonly written: WrittenDevice;
  /** A send arrives with these fields. All are taken or, where one is refused, none. */
  take(values: Values, now: number): Taken;
  /** What `pulse`, `toggle` or an action of the device's own would set now. undefined: there is no such action. */
  valuesOfAction(name: string, now: number): Values | undefined;
  refresh(now: number): void;
  wake(now: number): void;
  asleep(now: number): boolean;
  /** Every field as a read shows it. */
  reading(now: number): Values;
  /** Somebody at the device changes these at once. */
  set(values: Values, now: number): void;
  /** Merges options in; null removes one. Throws DevicesFileError, and then nothing has changed. */
  behave(change: WrittenDevice): void;
  plan(events: readonly ScriptEvent[], now: number): void;
  /** Lets everything happen that is due. Called before anything else is asked of the device. */
  catchUp(now: number): void;
  /** As at the start. */
  reset(now: number): void;
}

interface Condition {
  startedAt: number;
  courses: Map<string, Course>;
  aims: Map<string, Json>;
  blanks: Map<string, { readonly from: number; readonly until: number; readonly shows: Json }>;
  agenda: { readonly at: number; readonly event: ScriptEvent }[];
  report: { readonly dueAt: number } | null;
  reported: Values | null;
  awake: { readonly from: number; readonly until: number } | null;
}

export function createDevice(id: string, original: WrittenDevice, startedAt: number): Device {
  let written = original;
  let definition = checkDevice(id, written);
  let condition = freshCondition(definition, startedAt);

  const optionsOf = (field: string): FieldBehaviour => ({
    ...ownOptions(definition),
    ...definition.fields[field],
  });
  const actual = (field: string, now: number): Json => {
    const course = condition.courses.get(field);
    return course ? valueAt(course, now) : null;
  };
  const change = (field: string, legs: Course['legs'], now: number) =>
    condition.courses.set(field, { start: actual(field, now), legs });

  function set(values: Values, now: number): void {
    for (const [field, value] of Object.entries(values)) {
      change(field, [{ at: now, to: value }], now);
      condition.aims.delete(field);
      condition.blanks.delete(field);
    }
  }

  function behave(changed: WrittenDevice): void {
    const next = mergeOver(written, changed);
    definition = checkDevice(id, next);
    written = next;
  }

  function addToAgenda(events: readonly ScriptEvent[], now: number): void {
    condition.agenda.push(...events.map((event) => ({ at: now + event.after, event })));
    condition.agenda.sort((a, b) => a.at - b.at);
  }

  function refusalOf(values: Values, now: number): Extract<Taken, { kind: 'refused' }> | undefined {
    for (const [field, value] of Object.entries(values))
      for (const refusal of optionsOf(field).refuses ?? [])
        if (holds(refusal, value, actual(field, now), (other) => actual(other, now)))
          return { kind: 'refused', refusal, field };
    return undefined;
  }

  function begin(field: string, asked: Json, now: number): boolean {
    const options = optionsOf(field);
    const startAt =
      definition.sleeps && 'every' in definition.sleeps
        ? nextWakeAt(condition.startedAt, definition.sleeps.every, now)
        : now;
    const planned = plan(asked, actual(field, now), options, now, startAt);
    for (const [other, legs] of Object.entries(planned.others)) change(other, legs, now);
    change(field, planned.own, now);
    condition.aims.set(field, planned.aim);
    if (options.blank) {
      const from = now + options.blank.after;
      condition.blanks.set(field, { from, until: from + options.blank.for, shows: options.blank.shows });
    }
    return !options.ignores;
  }

  function shown(field: string, now: number): Json {
    const options = optionsOf(field);
    if (options.mirrors !== undefined && options.mirrors !== field) return shown(options.mirrors, now);
    if (options.shows !== undefined) return options.shows;
    const blank = condition.blanks.get(field);
    if (blank && blank.from <= now && now < blank.until) return blank.shows;
    const value = actual(field, now);
    return value === null ? null : presented(value, options);
  }

  function shownByDevice(now: number): Values {
    return Object.fromEntries(Object.keys(definition.state).map((field) => [field, shown(field, now)]));
  }

  const device: Device = {
    id,
    get definition() {
      return definition;
    },
    get written() {
      return written;
    },
    take(asked, now) {
      const values = Object.fromEntries(
        Object.entries(asked).map(([field, value]) => [
          field,
          optionsOf(field).understands?.[String(value)] ?? value,
        ]),
      );
      const refused = refusalOf(values, now);
      if (refused) return refused;
      addToAgenda(
        definition.script.filter((event) => event.from === 'send'),
        now,
      );
      if (definition.offline) return { kind: 'idle' };
      const moved = Object.entries(values).map(([field, value]) => begin(field, value, now));
      return { kind: moved.includes(true) ? 'acted' : 'idle' };
    },
    valuesOfAction(name, now) {
      const action = definition.actions[name];
      if (!action) return undefined;
      const aim = (field: string) => condition.aims.get(field) ?? actual(field, now);
      if ('sets' in action) return action.sets;
      if ('counts' in action) return { [action.counts]: Number(aim(action.counts)) + 1 };
      return Object.fromEntries(
        Object.entries(action.toggles).map(([field, [one, other]]) => [
          field,
          aim(field) === one ? other : one,
        ]),
      );
    },
    refresh(now) {
      if (definition.reports) condition.report = { dueAt: now + definition.reports.takes };
    },
    wake(now) {
      const { sleeps } = definition;
      if (!sleeps || !('untilWoken' in sleeps) || (condition.awake && now < condition.awake.until)) return;
      const from = now + sleeps.wakingTakes;
      condition.awake = { from, until: from + (sleeps.awakeFor ?? Number.POSITIVE_INFINITY) };
    },
    asleep(now) {
      const { sleeps } = definition;
      if (!sleeps || !('untilWoken' in sleeps)) return false;
      return !condition.awake || now < condition.awake.from || now >= condition.awake.until;
    },
    reading(now) {
      const fields: Record<string, Json> = definition.reports
        ? { ...beforeReport(definition), ...condition.reported }
        : { ...shownByDevice(now) };
      const { sleeps, offline, stamp } = definition;
      if (offline) {
        const shows = offline === true ? 'unavailable' : offline.shows;
        for (const field of Object.keys(fields)) fields[field] = field === 'online' ? false : shows;
      }
      if (sleeps && 'untilWoken' in sleeps && sleeps.says)
        fields[sleeps.says.field] = device.asleep(now) ? sleeps.says.asleep : sleeps.says.awake;
      if (stamp) fields[stamp.field] = new Date(stampAt(stamp.moves, condition, now)).toISOString();
      return { ...definition.labels, ...fields };
    },
    set,
    behave,
    plan: addToAgenda,
    catchUp(now) {
      const { report } = condition;
      while (condition.agenda[0] && condition.agenda[0].at <= now) {
        const { at, event } = condition.agenda.shift() as (typeof condition.agenda)[number];
        if (event.set) set(event.set, at);
        if (event.behaviour) behave(event.behaviour);
      }
      if (report && report.dueAt <= now) {
        condition.reported = shownByDevice(report.dueAt);
        condition.report = null;
      }
    },
    reset(now) {
      written = original;
      definition = checkDevice(id, written);
      condition = freshCondition(definition, now);
    },
  };
  return device;
}

function freshCondition(definition: DeviceDefinition, now: number): Condition {
  const atStart = definition.script.filter((event) => event.from === 'start');
  return {
    startedAt: now,
    courses: new Map(
      Object.entries(definition.state).map(([field, value]) => [field, { start: value, legs: [] }]),
    ),
    aims: new Map(),
    blanks: new Map(),
    agenda: atStart.map((event) => ({ at: now + event.after, event })).sort((a, b) => a.at - b.at),
    report: null,
    reported: null,
    awake: null,
  };
}

/** The field options that are written at the device and hold for all of its fields. */
function ownOptions(definition: DeviceDefinition): FieldBehaviour {
  return Object.fromEntries(
    Object.entries(definition).filter(([name]) => name in fieldOptions),
  ) as FieldBehaviour;
}

function holds(refusal: Refusal, asked: Json, shown: Json, other: (field: string) => Json): boolean {
  if (refusal.same && asked !== shown) return false;
  if (refusal.unless && Object.entries(refusal.unless).every(([field, value]) => other(field) === value))
    return false;
  if (
    refusal.outside &&
    typeof asked === 'number' &&
    asked >= refusal.outside[0] &&
    asked <= refusal.outside[1]
  )
    return false;
  return !refusal.notIn?.some((allowed) => allowed === asked);
}

function presented(value: Json, options: FieldBehaviour): Json {
  const spelled = options.spelling?.[String(value)] ?? value;
  switch (options.as) {
    case undefined:
      return spelled;
    case 'text':
      return String(spelled);
    case 'decimal-text':
      return Number(spelled).toFixed(1);
    case 'number':
      return Number(spelled);
    case 'boolean':
      return ['on', 'true', '1'].includes(String(spelled).toLowerCase());
    case 'list':
      return [spelled];
  }
}

function beforeReport(definition: DeviceDefinition): Record<string, Json> {
  const { before } = definition.reports ?? {};
  return Object.fromEntries(
    Object.entries(definition.state).map(([field, value]) => [field, before === 'old' ? value : null]),
  );
}

function stampAt(moves: 'always' | 'on-change' | 'never', condition: Condition, now: number): number {
  if (moves === 'always') return now;
  if (moves === 'never') return condition.startedAt;
  const changes = [...condition.courses.values()].map(
    (course) => lastChangeAt(course, now) ?? condition.startedAt,
  );
  return Math.max(condition.startedAt, ...changes);
}

function nextWakeAt(startedAt: number, everyMs: number, now: number): number {
  return startedAt + (Math.floor((now - startedAt) / everyMs) + 1) * everyMs;
}
