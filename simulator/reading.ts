/** What a read of a device shows, which isn't always what the device does. */
import { entryOf, type FieldBehaviour, type Json, textOf } from './behaviour.ts';
import { lastChangeAt } from './course.ts';
import { actual, type Device, isAsleep, optionsOf, type Values } from './device.ts';

/** Every field as a read shows it now, with the device's labels. */
export function reading(device: Device, now: number): Values {
  const { labels, sleeps, offline, stamp } = device.definition;
  const fields: Record<string, Json> = { ...reportedFields(device, now) };
  if (offline) {
    const shows = offline === true ? 'unavailable' : offline.shows;
    for (const field of Object.keys(fields)) fields[field] = field === 'online' ? false : shows;
  }
  if (sleeps && 'untilWoken' in sleeps && sleeps.says)
    fields[sleeps.says.field] = isAsleep(device, now) ? sleeps.says.asleep : sleeps.says.awake;
  if (stamp) fields[stamp.field] = new Date(stampAt(device, stamp.moves, now)).toISOString();
  return { ...labels, ...fields };
}

/** A report that was asked for and is due by now becomes what reads show. */
export function takeReport(device: Device, now: number): void {
  if (device.reportDueAt === null || device.reportDueAt > now) return;
  device.reported = ownFields(device, device.reportDueAt);
  device.reportDueAt = null;
}

/** A device that reports only when asked shows its last report; any other shows itself. */
function reportedFields(device: Device, now: number): Values {
  const { reports, state } = device.definition;
  if (!reports) return ownFields(device, now);
  if (device.reported) return device.reported;
  return Object.fromEntries(
    Object.entries(state).map(([field, value]) => [field, reports.before === 'old' ? value : null]),
  );
}

function ownFields(device: Device, now: number): Values {
  return Object.fromEntries(
    Object.keys(device.definition.state).map((field) => [field, shown(device, field, now)]),
  );
}

function shown(device: Device, field: string, now: number): Json {
  const options = optionsOf(device, field);
  if (options.shows !== undefined) return options.shows;
  const blank = device.blanks.get(field);
  if (blank && blank.from <= now && now < blank.until) return blank.shows;
  const value = actual(device, options.mirrors ?? field, now);
  return value === null ? null : presented(value, options);
}

function presented(value: Json, options: FieldBehaviour): Json {
  const spelled = entryOf(options.spelling, value) ?? value;
  switch (options.as) {
    case undefined:
      return spelled;
    case 'text':
      return textOf(spelled);
    case 'decimal-text':
      return Number(spelled).toFixed(1);
    case 'number':
      return Number(spelled);
    case 'boolean':
      return ['on', 'true', '1'].includes(textOf(spelled).toLowerCase());
    case 'list':
      return [spelled];
  }
}

function stampAt(device: Device, moves: 'always' | 'on-change' | 'never', now: number): number {
  if (moves === 'always') return now;
  if (moves === 'never') return device.startedAt;
  const changes = [...device.courses.values()].map((course) => lastChangeAt(course, now) ?? 0);
  return Math.max(device.startedAt, ...changes);
}
