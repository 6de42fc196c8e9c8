/**
 * What an entity says about itself that it can do. Home Assistant doesn't check all of it: asked for too much it answers
 * 500 without a word, or 200 and takes a mode that the device hasn't got. So it is better not to ask.
 */
import type { DeviceDefinition, FieldDefinition } from '../domain/catalogue/definition.ts';
import { domainOf } from '../domain/catalogue/home-assistant.ts';
import type { Ability } from '../domain/catalogue/home-assistant-domain.ts';
import { fromDevice, toDevice } from '../domain/device-scale.ts';
import { formatValue, plain } from '../domain/text.ts';
import type { Desired, Json, Value } from '../domain/values.ts';
import { toWire } from '../domain/wire.ts';
import { memberOf } from './home-assistant-units.ts';

/** One thing to look at before `field` of `entity` becomes `value`; null: nothing against it. */
type Check = (ability: Ability, asked: Asked) => string | null;
interface Asked {
  readonly entity: string;
  readonly field: FieldDefinition;
  readonly value: Value;
  readonly desired: Desired;
  readonly attributes: Json;
}

/** What the entity has against `desired`, in one sentence; null: nothing. `device` has the instance's units. */
export function objectionOf(
  entity: string,
  attributes: Json,
  device: DeviceDefinition,
  desired: Desired,
): string | null {
  const abilities = domainOf(entity)?.abilities ?? {};
  const objections = Object.entries(desired).flatMap(([name, value]) => {
    const [field, ability] = [device.fields[name], abilities[name]];
    if (field === undefined || ability === undefined) return [];
    return CHECKS.map((check) => check(ability, { entity, field, value, desired, attributes }));
  });
  return objections.find((objection) => objection !== null) ?? null;
}

const CHECKS: readonly Check[] = [listed, withinRange, supports, dimmable, unlessTurnedOff];

function supports({ feature, what, changesWithMode }: Ability, asked: Asked): string | null {
  const { entity, field, value, desired, attributes } = asked;
  const bit = typeof feature === 'object' ? feature[String(value)] : feature;
  const features = memberOf(attributes, 'supported_features');
  if (bit === undefined || typeof features !== 'number' || (features & bit) !== 0) return null;
  if (changesWithMode && desired['mode'] !== undefined) return null;
  const unsupported = typeof what === 'object' ? what[String(value)] : what;
  return `${entity} can't be given its ${field.name}: it doesn't support ${unsupported}`;
}

function dimmable({ colourModes }: Ability, { entity, attributes }: Asked): string | null {
  const modes = memberOf(attributes, 'supported_color_modes');
  if (colourModes === undefined || !Array.isArray(modes)) return null;
  if (modes.some((mode) => !colourModes.none.includes(String(mode)))) return null;
  return `${entity} can't ${colourModes.what}: it only turns on and off`;
}

function listed({ list }: Ability, { entity, field, value, attributes }: Asked): string | null {
  const known = list === undefined ? undefined : memberOf(attributes, list);
  if (!Array.isArray(known) || known.includes(toWire(field, value))) return null;
  return `${entity} has no ${field.name} ${formatValue(value, null)}; it has ${plain(known.join(' | '), 200)}`;
}

function withinRange({ range }: Ability, { entity, field, value, attributes }: Asked): string | null {
  const [min, max] = (range ?? []).map((name) => memberOf(attributes, name));
  if (typeof value !== 'number' || typeof min !== 'number' || typeof max !== 'number') return null;
  const onDevice = toDevice(field, value);
  if (onDevice >= min && onDevice <= max) return null;
  const [from, to] = [min, max].map((limit) => formatValue(fromDevice(field, limit), field.unit));
  return `${field.name} ${formatValue(value, field.unit)} is outside what ${entity} allows: ${from} to ${to}`;
}

/** Giving it a value turns it on: both in one command contradict each other. */
function unlessTurnedOff({ turnsOn }: Ability, { entity, field, desired }: Asked): string | null {
  return turnsOn && desired['power'] === 'off'
    ? `${entity} can't be turned off and given a ${field.name} in one command`
    : null;
}
