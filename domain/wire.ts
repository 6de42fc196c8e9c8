/** Between a value in Readback's terms and what travels to and from the device. */
import type { FieldDefinition, FieldValue, ValueRange } from './catalogue/definition.ts';
import { fromDevice, onDeviceStep, toDevice } from './device-scale.ts';
import { quoted } from './quoted.ts';
import type { Json, Reading, Value } from './values.ts';

/** What onoff reads besides the declared spellings. */
const ON = ['true', '1', 'on'];
const OFF = ['false', '0', 'off'];

/** Texts by which devices say that they don't know. */
const NO_READING = ['', 'unknown', 'unavailable', 'nan'];

/** As people write decimal numbers; `Number` alone would also take "0x1A" and "". */
const NUMBER = /^\s*[+-]?(?:\d+(?:\.\d+)?|\.\d+)(?:[eE][+-]?\d{1,3})?\s*$/;
const MAX_NUMBER_LENGTH = 64;

/** Readings are kept as evidence. Longer than any text that may be asked for, so that a cut one equals none. */
const MAX_TEXT_LENGTH = 1000;

/** What is sent for `value`: its spelling, or the number in the device's unit, range and step. */
export function toWire(field: FieldDefinition, value: Value): Json {
  const declared = field.values?.find((candidate) => candidate.value === value);
  if (declared) return declared.send;
  return typeof value === 'number' ? onDeviceStep(field, toDevice(field, value)) : value;
}

/**
 * What the device's `raw` value says, in our terms, by the field's declared type.
 * A field that the reply lacks is `undefined`; whether a `missing` value counts is the caller's to decide.
 */
export function fromWire(field: FieldDefinition, raw: Json | undefined): Reading {
  if (raw === undefined) return unreadable('the reply lacks it');
  if (raw === null) return unreadable('null');
  if (typeof raw === 'object') return unreadable(`${quoted(raw)} where one value was expected`);
  if (field.invalid.some((invalid) => means(raw, invalid)))
    return unreadable(`${quoted(raw)} means no reading`);
  // Before the texts that mean "no reading": one device's word for "on" is the empty text.
  const declared = field.values === null ? undefined : declaredValue(field.values, raw);
  if (declared !== undefined) return { kind: 'value', value: declared };
  if (NO_READING.includes(text(raw))) return unreadable(quoted(raw));
  return byType(field, raw);
}

/** Does the device say by this that it has no reading: by a declared `invalid`, or by a text that means so everywhere? */
export const meansNoReading = (field: FieldDefinition, raw: string | number | boolean): boolean =>
  field.invalid.some((invalid) => means(raw, invalid)) || NO_READING.includes(text(raw));

function byType(field: FieldDefinition, raw: string | number | boolean): Reading {
  switch (field.type) {
    case 'percent':
    case 'celsius':
    case 'number': {
      const number = parseNumber(raw);
      if (number === undefined) return unreadable(`${quoted(raw)} is not a number`);
      const value = fromDevice(field, number);
      return Number.isFinite(value)
        ? { kind: 'value', value }
        : unreadable(`${quoted(raw)} has no value in ${field.unit}`);
    }
    case 'onoff': {
      const derived = field.values?.some(({ accepts }) => accepts.some(isRange)) ?? false;
      if (!derived && ON.includes(text(raw))) return { kind: 'value', value: 'on' };
      if (!derived && OFF.includes(text(raw))) return { kind: 'value', value: 'off' };
      return otherWord(raw, 'is neither on nor off');
    }
    case 'enum': {
      const known = (field.values ?? []).map(({ value }) => value);
      return otherWord(raw, `is none of ${known.join(' | ')}`);
    }
    case 'text':
      return { kind: 'value', value: String(raw).slice(0, MAX_TEXT_LENGTH) };
    case 'action':
      return raw === true
        ? { kind: 'value', value: true }
        : unreadable(`${quoted(raw)} says nothing about an action`);
  }
}

/**
 * A number written as devices and callers write one: 26, 26.0, "26", " 26 ", "2.6e1".
 * undefined for anything else: "0x1A", "", "26 °C", true, NaN.
 */
export function parseNumber(raw: unknown): number | undefined {
  if (typeof raw !== 'number' && (typeof raw !== 'string' || raw.length > MAX_NUMBER_LENGTH))
    return undefined;
  const number = typeof raw === 'number' ? raw : NUMBER.test(raw) ? Number(raw) : Number.NaN;
  if (!Number.isFinite(number)) return undefined;
  // There is no device whose -0 means anything but 0.
  return number === 0 ? 0 : number;
}

/** The value of ours that a spelling stands for: same type first, then same text without regard to case, then a range. */
export function declaredValue(
  values: readonly FieldValue[],
  raw: string | number | boolean,
): string | undefined {
  const accepting = (test: (accepted: string | number | boolean | ValueRange) => boolean) =>
    values.find(({ accepts }) => accepts.some(test))?.value;
  return (
    accepting((accepted) => accepted === raw) ??
    accepting((accepted) => !isRange(accepted) && text(accepted) === text(raw)) ??
    accepting((accepted) => isRange(accepted) && within(accepted, raw))
  );
}

function isRange(accepted: string | number | boolean | ValueRange): accepted is ValueRange {
  return typeof accepted === 'object';
}

function within({ comparison, than }: ValueRange, raw: string | number | boolean): boolean {
  const number = parseNumber(raw);
  if (number === undefined) return false;
  switch (comparison) {
    case '<':
      return number < than;
    case '<=':
      return number <= than;
    case '>':
      return number > than;
    case '>=':
      return number >= than;
  }
}

function means(raw: string | number | boolean, invalid: Value): boolean {
  return typeof invalid === 'number' ? parseNumber(raw) === invalid : text(raw) === text(invalid);
}

function text(scalar: string | number | boolean): string {
  return String(scalar).trim().toLowerCase();
}

/** None of the field's values, and yet it may say what the device is doing (`opening`). Only a single word is told on. */
function otherWord(raw: string | number | boolean, why: string): Reading {
  const reading = { kind: 'unreadable', why: `${quoted(raw)} ${why}` } as const;
  return typeof raw === 'string' && /^[\p{L}_-]{1,32}$/u.test(raw) ? { ...reading, word: raw } : reading;
}

function unreadable(why: string): Reading {
  return { kind: 'unreadable', why };
}
