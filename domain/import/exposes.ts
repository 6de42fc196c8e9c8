/** What zigbee2mqtt says that a device has (`exposes`), as fields of a catalogue, each written out in full. */
import { z } from 'zod';
import type { RawMap } from '../catalogue/merge.ts';
import { harmless, isHarmless } from './names.ts';

/** Bits of `access`. */
const SET = 2;
const GET = 4;

const scalar = z.union([z.string(), z.number(), z.boolean()]);
const feature = z.object({
  type: z.string(),
  name: z.string().optional(),
  property: z.string().optional(),
  endpoint: z.string().optional(),
  category: z.string().optional(),
  access: z.number().optional(),
  unit: z.string().optional(),
  value_on: scalar.optional(),
  value_off: scalar.optional(),
  value_min: z.number().optional(),
  value_max: z.number().optional(),
  value_step: z.number().optional(),
  values: z.array(scalar).optional(),
});
export const expose = feature.extend({ features: z.array(z.unknown()).optional() });
export type Expose = z.infer<typeof expose>;
type Feature = z.infer<typeof feature>;

export interface ExposedField {
  readonly name: string;
  /** What the device calls it. */
  readonly property: string;
  readonly field: RawMap;
  /** The device can be asked for it. */
  readonly isAsked: boolean;
  readonly isSet: boolean;
}

/** The kinds of device that zigbee2mqtt knows as such, with what they have in `features`. */
export type Kind = 'light' | 'switch' | 'cover' | 'lock' | 'climate' | 'fan';
const KINDS: readonly string[] = ['light', 'switch', 'cover', 'lock', 'climate', 'fan'] satisfies Kind[];

export const isKind = (type: string): type is Kind => KINDS.includes(type);

/**
 * The fields of one of `exposes`. Left out is what only configures or diagnoses the device, what is made of several values
 * (a colour), and text. A value that can be set but not asked for has no readback: zigbee2mqtt then shows what it sent.
 */
export function fieldsOf({ features, ...whole }: Expose): readonly ExposedField[] {
  if (!isKind(whole.type)) return fieldOf(null, whole);
  const kind = whole.type;
  const parts = (features ?? []).flatMap((part) => {
    const parsed = feature.safeParse(part);
    return parsed.success ? [parsed.data] : [];
  });
  const fields = parts.flatMap((part) =>
    fieldOf(kind, { ...part, endpoint: part.endpoint ?? whole.endpoint }),
  );
  const isPositioned = fields.some(({ name }) => name === 'position');
  // A cover's `state` tells its ends, which its position does better.
  return withConditions(fields.filter(({ name }) => !(kind === 'cover' && name === 'door' && isPositioned)));
}

type Naming = (part: Feature) => readonly [name: string, field: RawMap] | null;

/** Names of fields as everywhere in Readback, where zigbee2mqtt's differ. */
const NAMED: Readonly<Record<Kind, Readonly<Record<string, Naming>>>> = {
  light: {
    state: power,
    brightness: (part) => [
      'brightness',
      { type: 'percent', min: 1, device: { range: [0, part.value_max ?? 254] }, ...whileOn },
    ],
    color_temp: kelvin,
  },
  switch: { state: power },
  fan: { state: power, mode: (part) => named('mode', part) },
  cover: {
    state: () => ['door', { type: 'enum', values: { open: 'OPEN', closed: 'CLOSE' } }],
    position: () => ['position', { type: 'percent', tolerance: 2 }],
    tilt: () => ['tilt', { type: 'percent', tolerance: 2 }],
  },
  lock: { state: () => ['lock', { type: 'enum', values: { locked: 'LOCK', unlocked: 'UNLOCK' } }] },
  climate: {
    system_mode: (part) => named('mode', part),
    occupied_heating_setpoint: setpoint('temperature'),
    current_heating_setpoint: setpoint('temperature'),
    occupied_cooling_setpoint: setpoint('cooling_temperature'),
    local_temperature: () => ['current_temperature', { type: 'celsius', readOnly: true }],
    running_state: () => ['action', { type: 'text', readOnly: true }],
    preset: (part) => named('preset', part),
    fan_mode: (part) => named('fan_mode', part),
  },
};
const whileOn = { appliesWhen: { power: ['on'] } };

function fieldOf(kind: Kind | null, part: Feature): readonly ExposedField[] {
  const { property, access = 0 } = part;
  if (!isHarmless(property) || property.includes('`') || part.category !== undefined) return [];
  const [isSet, isAsked] = [(access & SET) !== 0, (access & GET) !== 0];
  const naming = kind === null ? undefined : NAMED[kind];
  const own =
    naming !== undefined && Object.hasOwn(naming, part.name ?? '') ? naming[part.name ?? ''] : undefined;
  // Of what nobody can ask for, only what the device reports by itself is of use; and `linkquality` is about the network.
  const isOfUse = kind !== null || isAsked || !isSet;
  const found = own !== undefined ? own(part) : kind === null && isOfUse ? named(nameOf(part), part) : null;
  if (found === null || property === 'linkquality') return [];
  const [name, field] = found;
  const key = property === name ? {} : { key: property };
  const reach = !isSet ? { readOnly: true } : isAsked ? {} : { readback: 'none' };
  const whole = part.endpoint === undefined ? name : `${name}_${part.endpoint}`;
  if (!/^[A-Za-z][A-Za-z0-9_]{0,63}$/.test(whole)) return [];
  return [{ name: whole, property, field: { ...field, ...key, ...reach }, isAsked, isSet }];
}

/** `power` is on or off here, not watts. */
const nameOf = ({ name, property = '' }: Feature): string => (name === 'power' ? 'load' : (name ?? property));

/** By its type alone; null: a catalogue has no such field. */
function named(name: string, part: Feature): readonly [string, RawMap] | null {
  if (part.type === 'binary') {
    const { value_on: on = true, value_off: off = false } = part;
    if (typeof on === 'string' && !isHarmless(on)) return null;
    if (typeof off === 'string' && !isHarmless(off)) return null;
    return [name, { type: 'onoff', values: { on, off } }];
  }
  if (part.type === 'enum') {
    const values = [...new Set((part.values ?? []).map(String).filter(isHarmless))];
    return values.length === 0 ? null : [name, { type: 'enum', values }];
  }
  if (part.type !== 'numeric') return null;
  const unit = harmless(part.unit, 16);
  if (unit === '°C') return [name, { type: 'celsius', ...limitsOf(part) }];
  if (unit === '%') return [name, { type: 'percent', ...partOfHundred(limitsOf(part)) }];
  return [name, { type: 'number', ...(unit === null ? {} : { unit }), ...limitsOf(part) }];
}

function power({ value_on: on = 'ON', value_off: off = 'OFF' }: Feature): readonly [string, RawMap] {
  return ['power', { type: 'onoff', values: { on, off } }];
}

function setpoint(name: string): Naming {
  return (part) => [name, { type: 'celsius', ...limitsOf(part) }];
}

/** The device counts in mired, which run the other way. */
function kelvin({ value_min: min, value_max: max }: Feature): readonly [string, RawMap] {
  const isKnown = min !== undefined && max !== undefined && min > 0 && max > min;
  return [
    'colour_temperature',
    {
      type: 'number',
      unit: 'K',
      ...(isKnown ? { min: Math.ceil(1e6 / max), max: Math.floor(1e6 / min) } : {}),
      device: { unit: 'mired', step: 1 },
      ...whileOn,
    },
  ];
}

function limitsOf({ value_min: min, value_max: max, value_step: step }: Feature): RawMap {
  const isRange = min !== undefined && max !== undefined && min < max;
  return {
    ...(isRange ? { min, max } : {}),
    ...(isRange && step !== undefined && step > 0 && step <= max - min ? { step } : {}),
  };
}

const partOfHundred = ({ min, max, ...rest }: RawMap): RawMap =>
  typeof min === 'number' && typeof max === 'number' && min >= 0 && max <= 100 && (min > 0 || max < 100)
    ? { min, max, ...rest }
    : rest;

/** A temperature means something only while a mode uses it; and no field depends on one that isn't there. */
function withConditions(fields: readonly ExposedField[]): readonly ExposedField[] {
  const values = fields.find(({ name }) => name === 'mode')?.field['values'];
  const modes = Array.isArray(values) ? values.map(String) : [];
  const heating = modes.filter((mode) => !['off', 'fan_only', 'dry'].includes(mode));
  return fields.map((one) => {
    const { appliesWhen, ...rest } = one.field;
    if (one.name === 'temperature' && heating.length > 0)
      return { ...one, field: { ...rest, appliesWhen: { mode: heating } } };
    const isThere = (name: string): boolean => fields.some((other) => other.name === name);
    return Object.keys(appliesWhen ?? {}).every(isThere) ? one : { ...one, field: rest };
  });
}
