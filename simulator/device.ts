/** One simulated device: what it is told, and what it does about it as time goes by. What it shows is in reading.ts. */
import {
  type Conduct,
  type DeviceDefinition,
  entryOf,
  type FieldBehaviour,
  fieldOptions,
  type Json,
  type Refusal,
  type ScriptEvent,
} from './behaviour.ts';
import { type Course, type Leg, plan, valueAt } from './course.ts';
import { checkDevice, mergeOver, type WrittenDevice } from './devices-file.ts';

export type Values = Readonly<Record<string, Json>>;

/** All times are epoch milliseconds of the simulator's clock. */
export interface Device {
  readonly id: string;
  /** As in the devices file, for a reset. */
  readonly original: WrittenDevice;
  /** As changed since, without defaults. */
  written: WrittenDevice;
  definition: DeviceDefinition;
  startedAt: number;
  courses: Map<string, Course>;
  /** What each field was last told to become. */
  aims: Map<string, Json>;
  blanks: Map<string, { readonly from: number; readonly until: number; readonly shows: Json }>;
  /** What the script has yet to do, soonest first. */
  agenda: { readonly at: number; readonly event: ScriptEvent }[];
  /** When a report that was asked for will be there. */
  reportDueAt: number | null;
  /** The last report, for a device that reports only when asked. */
  reported: Values | null;
  awake: { readonly from: number; readonly until: number } | null;
  /** How often each list of conducts was used. */
  conductsUsed: Map<string, number>;
}

/** Throws DevicesFileError. */
export function createDevice(id: string, original: WrittenDevice, now: number): Device {
  return { id, original, ...startingCondition(id, original, now) };
}

/** As at the start. */
export function resetDevice(device: Device, now: number): void {
  Object.assign(device, startingCondition(device.id, device.original, now));
}

function startingCondition(
  id: string,
  original: WrittenDevice,
  now: number,
): Omit<Device, 'id' | 'original'> {
  const definition = checkDevice(id, original);
  return {
    written: original,
    definition,
    startedAt: now,
    courses: new Map(
      Object.entries(definition.state).map(([field, value]) => [field, { start: value, legs: [] }]),
    ),
    aims: new Map(),
    blanks: new Map(),
    agenda: onAgenda(
      definition.script.filter((event) => event.from === 'start'),
      now,
    ),
    reportDueAt: null,
    reported: null,
    awake: null,
    conductsUsed: new Map(),
  };
}

/** A field's behaviour: what is written at the device holds for all fields, what is written at the field goes before it. */
export function optionsOf({ definition }: Device, field: string): FieldBehaviour {
  const shared = Object.entries(definition).filter(([name]) => name in fieldOptions);
  return { ...(Object.fromEntries(shared) as FieldBehaviour), ...definition.fields[field] };
}

/** A field's value in the device itself, whatever a read would show. */
export function actual(device: Device, field: string, now: number): Json {
  const course = device.courses.get(field);
  return course ? valueAt(course, now) : null;
}

/** `idle`: the API took it and the device did nothing. */
export type Taken =
  | { readonly kind: 'acted' | 'idle' }
  | { readonly kind: 'refused'; readonly refusal: Refusal; readonly field: string };

/** A send arrives with these fields. All are taken or, where one is refused, none. */
export function take(device: Device, asked: Values, now: number): Taken {
  const values = Object.fromEntries(
    Object.entries(asked).map(([field, value]) => [
      field,
      entryOf(optionsOf(device, field).understands, value) ?? value,
    ]),
  );
  for (const [field, value] of Object.entries(values)) {
    const refusal = optionsOf(device, field).refuses?.find((one) => refuses(device, one, field, value, now));
    if (refusal) return { kind: 'refused', refusal, field };
  }
  schedule(
    device,
    device.definition.script.filter((event) => event.from === 'send'),
    now,
  );
  if (device.definition.offline) return { kind: 'idle' };
  const acted = Object.entries(values).map(([field, value]) => begin(device, field, value, now));
  return { kind: acted.includes(true) ? 'acted' : 'idle' };
}

function begin(device: Device, field: string, asked: Json, now: number): boolean {
  const options = optionsOf(device, field);
  const planned = plan(asked, actual(device, field, now), options, now, nextWakeAt(device, now));
  for (const [other, legs] of Object.entries(planned.others)) embark(device, other, legs, now);
  embark(device, field, planned.own, now);
  device.aims.set(field, planned.aim);
  if (options.blank) {
    const from = now + options.blank.after;
    device.blanks.set(field, { from, until: from + options.blank.for, shows: options.blank.shows });
  }
  return !options.ignores;
}

function refuses(device: Device, refusal: Refusal, field: string, asked: Json, now: number): boolean {
  const { same, unless, outside, notIn } = refusal;
  if (same && asked !== actual(device, field, now)) return false;
  if (unless && Object.entries(unless).every(([other, value]) => actual(device, other, now) === value))
    return false;
  if (outside && typeof asked === 'number' && asked >= outside[0] && asked <= outside[1]) return false;
  return !notIn?.some((allowed) => allowed === asked);
}

/** What `pulse`, `toggle` or another action would set now. undefined: the device has no such action. */
export function valuesOfAction(device: Device, name: string, now: number): Values | undefined {
  const action = entryOf(device.definition.actions, name);
  if (!action) return undefined;
  const aim = (field: string) => device.aims.get(field) ?? actual(device, field, now);
  if ('sets' in action) return action.sets;
  if ('counts' in action) return { [action.counts]: Number(aim(action.counts)) + 1 };
  return Object.fromEntries(
    Object.entries(action.toggles).map(([field, [one, other]]) => [field, aim(field) === one ? other : one]),
  );
}

export function refresh(device: Device, now: number): void {
  const { reports } = device.definition;
  if (reports) device.reportDueAt = now + reports.takes;
}

export function wake(device: Device, now: number): void {
  const { sleeps } = device.definition;
  if (!sleeps || !('untilWoken' in sleeps) || (device.awake && now < device.awake.until)) return;
  const from = now + sleeps.wakingTakes;
  device.awake = { from, until: from + (sleeps.awakeFor ?? Number.POSITIVE_INFINITY) };
}

export function isAsleep({ definition: { sleeps }, awake }: Device, now: number): boolean {
  if (!sleeps || !('untilWoken' in sleeps)) return false;
  return !awake || now < awake.from || now >= awake.until;
}

function nextWakeAt({ definition: { sleeps }, startedAt }: Device, now: number): number {
  if (!sleeps || !('every' in sleeps)) return now;
  return startedAt + (Math.floor((now - startedAt) / sleeps.every) + 1) * sleeps.every;
}

/** Somebody at the device changes these at once. */
export function setByHand(device: Device, values: Values, now: number): void {
  for (const [field, value] of Object.entries(values)) {
    embark(device, field, [{ at: now, to: value }], now);
    device.aims.delete(field);
    device.blanks.delete(field);
  }
}

/** Lays options over those that hold; null removes one. Throws DevicesFileError, and then nothing has changed. */
export function behave(device: Device, change: WrittenDevice): void {
  const next = mergeOver(device.written, change);
  device.definition = checkDevice(device.id, next);
  device.written = next;
  device.conductsUsed.clear();
}

/** Adds to what the device's script will do; times count from now. */
export function schedule(device: Device, events: readonly ScriptEvent[], now: number): void {
  device.agenda = [...device.agenda, ...onAgenda(events, now)].sort((a, b) => a.at - b.at);
}

/** Which conduct of a list is next: each counts as often as it says, then ordinary behaviour. */
export function nextConduct(device: Device, name: string, list: readonly Conduct[]): Conduct {
  const used = device.conductsUsed.get(name) ?? 0;
  device.conductsUsed.set(name, used + 1);
  let upTo = 0;
  for (const conduct of list) {
    upTo += conduct.times ?? Number.POSITIVE_INFINITY;
    if (used < upTo) return conduct;
  }
  return {};
}

function embark(device: Device, field: string, legs: readonly Leg[], now: number): void {
  device.courses.set(field, { start: actual(device, field, now), legs });
}

function onAgenda(events: readonly ScriptEvent[], now: number): Device['agenda'] {
  return events.map((event) => ({ at: now + event.after, event })).sort((a, b) => a.at - b.at);
}
