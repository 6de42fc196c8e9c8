/** The fields of one device. */
import { conversionProblem } from '../units.ts';
import type { Value } from '../values.ts';
import { declaredValue, parseNumber } from '../wire.ts';
import type { FieldCondition, FieldDefinition, FieldType } from './definition.ts';
import type { RawField } from './device-schema.ts';
import type { RawMap } from './merge.ts';
import { didYouMean, listed, type Path, type Report } from './problems.ts';
import { partialSettle } from './settle-policy.ts';
import { resolveValues } from './spellings.ts';

export interface FieldContext {
  /** Is the whole device never read? */
  readonly unread: boolean;
  /** Several requests: then there is no single body to look in. */
  readonly severalRequests: boolean;
}

/** All fields, checked by themselves and against each other; what is wrong is reported below `fields`. */
export function resolveFields(
  raw: Readonly<Record<string, RawMap>>,
  context: FieldContext,
  report: Report,
): Readonly<Record<string, FieldDefinition>> {
  const fields: Record<string, FieldDefinition> = Object.create(null) as Record<string, FieldDefinition>;
  for (const [name, content] of Object.entries(raw)) {
    fields[name] = resolveField(name, content, context, (path, message) =>
      report(['fields', name, ...path], message),
    );
  }
  for (const field of Object.values(fields)) {
    const path: Path = ['fields', field.name];
    fields[field.name] = {
      ...field,
      appliesWhen: resolveCondition(field.appliesWhen, fields, [...path, 'appliesWhen'], report),
    };
    for (const other of field.requires) {
      if (!fields[other]) report([...path, 'requires'], unknownField(other, fields));
    }
  }
  checkCircles(fields, report);
  return fields;
}

function resolveField(name: string, raw: RawField, context: FieldContext, report: Report): FieldDefinition {
  const type = raw.type ?? 'text';
  if (!raw.type) report(['type'], 'is missing: give onoff, percent, celsius, number, enum, text or action');
  const values = resolveValues(raw, type, report);
  const key = raw.key ?? name;
  const readOnly = raw.readOnly ?? false;
  const readback = raw.readback !== 'none';
  const read = readback ? (raw.read ?? defaultRead(key, type, context)) : null;
  if (!readback && raw.read) report(['readback'], 'readback: none contradicts "read": give one of them');
  if (!readback && readOnly)
    report(['readback'], 'a readOnly field with readback: none could neither be set nor read');
  const field: FieldDefinition = {
    name,
    type,
    unit: unitOf(raw, type, report),
    key,
    read,
    missing: null,
    invalid: list(raw.invalid),
    values,
    min: raw.min ?? (type === 'percent' ? 0 : null),
    max: raw.max ?? (type === 'percent' ? 100 : null),
    step: raw.step ?? null,
    device: {
      unit: raw.device?.unit ?? null,
      range: (raw.device?.range as [number, number] | null | undefined) ?? null,
      step: raw.device?.step ?? null,
      round: raw.device?.round ?? 'nearest',
    },
    tolerance: raw.tolerance ?? null,
    appliesWhen: (raw.appliesWhen ?? {}) as FieldCondition,
    requires: list(raw.requires),
    confirm: raw.confirm ?? null,
    readOnly,
    readback,
    settle: raw.settle ? partialSettle(raw.settle) : null,
    hint: raw.hint ?? null,
  };
  checkNumbers(field, raw, report);
  checkReadback(field, context, report);
  if (raw.missing === undefined || raw.missing === null) return field;
  const missing = ownValue(field, raw.missing);
  if (missing === undefined)
    report(
      ['missing'],
      `${JSON.stringify(raw.missing)} is no value of this field; allowed: ${allowedValues(field)}`,
    );
  return { ...field, missing: missing ?? null };
}

const list = <Item>(value: Item | readonly Item[] | null | undefined): readonly Item[] =>
  value === undefined || value === null
    ? []
    : Array.isArray(value)
      ? (value as readonly Item[])
      : [value as Item];

function defaultRead(key: string, type: FieldType, { unread, severalRequests }: FieldContext): string | null {
  if (unread || severalRequests || type === 'action') return null;
  const plainName = /^[A-Za-z_]\w*$/.test(key) && !['and', 'or', 'in', 'true', 'false', 'null'].includes(key);
  return plainName ? `body.${key}` : `body.\`${key}\``;
}

const NUMERIC: readonly FieldType[] = ['percent', 'celsius', 'number'];
const OWN_UNITS: Partial<Record<FieldType, string>> = { percent: '%', celsius: '°C' };

function unitOf(raw: RawField, type: FieldType, report: Report): string | null {
  const own = OWN_UNITS[type];
  if (own !== undefined && raw.unit && raw.unit !== own)
    report(['unit'], `${type} is in ${own}: for ${raw.unit} write type: number`);
  return own ?? raw.unit ?? null;
}

function checkNumbers(field: FieldDefinition, raw: RawField, report: Report): void {
  const { min, max, step, tolerance, type, device } = field;
  if (!NUMERIC.includes(type)) {
    for (const key of ['unit', 'min', 'max', 'step', 'tolerance', 'device'] as const) {
      if (raw[key] !== undefined && raw[key] !== null)
        report([key], `only percent, celsius and number fields have ${key}; this one is ${type}`);
    }
    return;
  }
  if (min !== null && max !== null && min >= max) report(['min'], `${min} is not below max ${max}`);
  if (type === 'percent' && ((min ?? 0) < 0 || (max ?? 100) > 100))
    report([(min ?? 0) < 0 ? 'min' : 'max'], 'a percentage lies between 0 and 100');
  if (step !== null && min !== null && max !== null && min < max && step > max - min)
    report(['step'], `${step} is more than the whole range from ${min} to ${max}`);
  if (step !== null && tolerance !== null && tolerance >= step) {
    report(
      ['tolerance'],
      `${tolerance} is a whole step (${step}) or more, so a neighbouring value would count: give less than ${step}`,
    );
  }
  if (device.unit !== null && device.range !== null) report(['device'], 'give a unit or a range, not both');
  const conversion =
    device.unit === null
      ? null
      : field.unit === null
        ? 'this field has no unit of its own to convert to: give "unit"'
        : conversionProblem(field.unit, device.unit);
  if (conversion !== null) report(['device', 'unit'], conversion);
  if (device.range !== null && device.range[0] === device.range[1])
    report(['device', 'range'], 'both ends are the same');
  if (device.range !== null && type !== 'percent' && (min === null || max === null))
    report(['device', 'range'], 'needs min and max of ours, for which it stands');
}

function checkReadback(field: FieldDefinition, { severalRequests }: FieldContext, report: Report): void {
  if (field.read !== null || !field.readback) return;
  if (field.confirm !== null) return;
  if (severalRequests)
    report(['read'], 'is missing: with several requests say where this field is, e.g. name.body.state');
  else if (field.readOnly)
    report(['read'], 'is missing: a field that is only read needs "read" here or on the device');
  else
    report(
      ['read'],
      'is missing: give "read" (here or on the device), "confirm", or readback: none if it can never be read back',
    );
}

/** A value from the file as a value of the field; any case and any spelling of the device will do. undefined: it is none. */
export function ownValue(field: FieldDefinition, raw: Value): Value | undefined {
  switch (field.type) {
    case 'onoff':
    case 'enum': {
      const text = String(raw).trim().toLowerCase();
      const named = field.values?.find(({ value }) => value.toLowerCase() === text)?.value;
      return (
        named ??
        (field.values ? declaredValue(field.values, raw) : undefined) ??
        (field.type === 'onoff' ? onoff(text) : undefined)
      );
    }
    case 'percent':
    case 'celsius':
    case 'number':
      return parseNumber(raw);
    case 'text':
      return String(raw);
    case 'action':
      return raw === true ? true : undefined;
  }
}

const onoff = (text: string): string | undefined =>
  ['true', '1'].includes(text) ? 'on' : ['false', '0'].includes(text) ? 'off' : undefined;

/** `on or off`, `a number`: for errors. */
export function allowedValues(field: FieldDefinition): string {
  if (field.values !== null) return listed(field.values.map(({ value }) => value));
  return NUMERIC.includes(field.type) ? 'a number' : field.type === 'action' ? 'true' : 'text';
}

/** A condition with every value in the fields' own terms. */
export function resolveCondition(
  condition: FieldCondition,
  fields: Readonly<Record<string, FieldDefinition>>,
  path: Path,
  report: Report,
): FieldCondition {
  return Object.fromEntries(
    Object.entries(condition).map(([name, wanted]) => {
      const field = fields[name];
      if (!field) {
        report([...path, name], unknownField(name, fields));
        return [name, wanted];
      }
      const values = wanted.map((value) => {
        const own = ownValue(field, value);
        if (own === undefined)
          report(
            [...path, name],
            `${JSON.stringify(value)} is no value of ${name}; allowed: ${allowedValues(field)}.${didYouMean(String(value), field.values?.map((known) => known.value) ?? [])}`,
          );
        return own ?? value;
      });
      return [name, values];
    }),
  );
}

export function unknownField(name: string, fields: Readonly<Record<string, unknown>>): string {
  const known = Object.keys(fields);
  return `there is no field ${JSON.stringify(name)}; fields: ${listed(known)}.${didYouMean(name, known)}`;
}

function checkCircles(fields: Readonly<Record<string, FieldDefinition>>, report: Report): void {
  const done = new Set<string>();
  const visit = (name: string, above: readonly string[]): void => {
    if (above.includes(name)) {
      const circle = [...above.slice(above.indexOf(name)), name];
      report(['fields', name, 'appliesWhen'], `goes in a circle: ${circle.join(' → ')}`);
      done.add(name);
      return;
    }
    if (done.has(name)) return;
    for (const other of Object.keys(fields[name]?.appliesWhen ?? {})) visit(other, [...above, name]);
    done.add(name);
  };
  for (const name of Object.keys(fields)) visit(name, []);
}
