/**
 * What an entity says about itself that it can do. Home Assistant doesn't check all of it: asked for too much it answers
 * 500 without a word, or 200 and takes a mode that the device hasn't got. So it is better not to ask.
 */
import type { DeviceDefinition, FieldDefinition } from '../domain/catalogue/definition.ts';
import { fromDevice, toDevice } from '../domain/device-scale.ts';
import { formatValue, plain } from '../domain/text.ts';
import type { Desired, Json, Value } from '../domain/values.ts';
import { toWire } from '../domain/wire.ts';
import { memberOf } from './home-assistant-units.ts';

/** One thing to look at before `field` of an entity of `domain` becomes `value`; null: nothing against it. */
type Check = (asked: Asked) => string | null;
interface Asked {
  readonly entity: string;
  readonly field: FieldDefinition;
  readonly value: Value;
  readonly desired: Desired;
  readonly attributes: Json;
}

/** Bits of `supported_features`, which each domain counts for itself. */
const CHECKS: Readonly<Record<string, Readonly<Record<string, readonly Check[]>>>> = {
  climate: {
    mode: [listed('hvac_modes')],
    temperature: [
      withinRange('min_temp', 'max_temp'),
      unlessModeChanges(supports(1, 'one target temperature')),
    ],
  },
  light: { brightness: [dimmable, unlessTurnedOff] },
  fan: { percentage: [supports(1, 'a speed'), unlessTurnedOff] },
  cover: {
    position: [supports(4, 'positions')],
    door: [
      ({ value, ...asked }) =>
        supports(value === 'open' ? 1 : 2, value === 'open' ? 'opening' : 'closing')({ value, ...asked }),
    ],
  },
};

/** What the entity has against `desired`, in one sentence; null: nothing. `device` has the instance's units. */
export function objectionOf(
  entity: string,
  attributes: Json,
  device: DeviceDefinition,
  desired: Desired,
): string | null {
  const checks = CHECKS[entity.slice(0, entity.indexOf('.'))] ?? {};
  const objections = Object.entries(desired).flatMap(([name, value]) => {
    const field = device.fields[name];
    if (field === undefined) return [];
    return (checks[name] ?? []).map((check) => check({ entity, field, value, desired, attributes }));
  });
  return objections.find((objection) => objection !== null) ?? null;
}

function listed(list: string): Check {
  return ({ entity, field, value, attributes }) => {
    const known = memberOf(attributes, list);
    if (!Array.isArray(known) || known.includes(toWire(field, value))) return null;
    return `${entity} has no ${field.name} ${formatValue(value, null)}; it has ${plain(known.join(' | '), 200)}`;
  };
}

function withinRange(lowest: string, highest: string): Check {
  return ({ entity, field, value, attributes }) => {
    const [min, max] = [memberOf(attributes, lowest), memberOf(attributes, highest)];
    if (typeof value !== 'number' || typeof min !== 'number' || typeof max !== 'number') return null;
    const onDevice = toDevice(field, value);
    if (onDevice >= min && onDevice <= max) return null;
    const [from, to] = [min, max].map((limit) => formatValue(fromDevice(field, limit), field.unit));
    return `${field.name} ${formatValue(value, field.unit)} is outside what ${entity} allows: ${from} to ${to}`;
  };
}

function supports(feature: number, what: string): Check {
  return ({ entity, field, attributes }) => {
    const features = memberOf(attributes, 'supported_features');
    if (typeof features !== 'number' || (features & feature) !== 0) return null;
    return `${entity} can't be given its ${field.name}: it doesn't support ${what}`;
  };
}

/** Some entities support other things in another mode: what it can't do now, it may once the mode is set. */
function unlessModeChanges(check: Check): Check {
  return (asked) => (asked.desired['mode'] === undefined ? check(asked) : null);
}

/** Giving it a value turns it on: both in one command contradict each other. */
function unlessTurnedOff({ entity, field, desired }: Asked): string | null {
  return desired['power'] === 'off'
    ? `${entity} can't be turned off and given a ${field.name} in one command`
    : null;
}

function dimmable({ entity, attributes }: Asked): string | null {
  const modes = memberOf(attributes, 'supported_color_modes');
  if (!Array.isArray(modes) || modes.some((mode) => mode !== 'onoff' && mode !== 'unknown')) return null;
  return `${entity} can't be dimmed: it only turns on and off`;
}
