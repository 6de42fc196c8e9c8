/** What a caller asks for, checked against the device's definition before anything starts. */
import type { DeviceDefinition, FieldDefinition } from './catalogue/definition.ts';
import { type ParsedValue, parseNumeric } from './desired-number.ts';
import { describeField } from './devices.ts';
import { nearest } from './nearest.ts';
import { quoted } from './quoted.ts';
import { unmetCondition } from './steps.ts';
import type { Desired, Value } from './values.ts';
import { declaredValue } from './wire.ts';

export type ParsedDesired =
  /** `coerced`: what was taken for something else than it was written as, one sentence each. */
  | { readonly ok: true; readonly desired: Desired; readonly coerced: string[] }
  /**
   * One sentence or two a problem: which field, what is allowed, that nothing was sent. `missing`: fields that others
   * require, where that is all that is wrong.
   */
  | { readonly ok: false; readonly problems: string[]; readonly missing: string[] };

/** Longest JSON text that is looked into, and longest text value that is passed on. */
const MAX_JSON_LENGTH = 20_000;
const MAX_TEXT_LENGTH = 500;
const MAX_PROBLEMS = 10;

/**
 * `input` is what a caller sent as `desired`: an object of field names to values, or that as a JSON text.
 * Values come out normalised (our spelling, numbers as numbers, our units), fields in the caller's order.
 */
export function parseDesired(device: DeviceDefinition, input: unknown): ParsedDesired {
  const asked = objectOf(device, input);
  if (!asked.ok) return failed([asked.problem]);
  const { entries, coerced } = asked;
  if (entries.length === 0) {
    return failed([
      `desired is empty. Nothing was sent. ${device.id} takes ${listFields(device)}, e.g. ${example(device)}.`,
    ]);
  }
  if (entries.length > Object.keys(device.fields).length + MAX_PROBLEMS) {
    return failed([
      `desired names ${entries.length} fields; ${device.id} has ${Object.keys(device.fields).length}. Nothing was sent.`,
    ]);
  }
  const problems: string[] = [];
  const desired: Record<string, Value> = {};
  for (const [name, raw] of entries) {
    const parsed = parseField(device, name, raw);
    if (!parsed.ok) {
      problems.push(parsed.problem);
      continue;
    }
    desired[name] = parsed.value;
    if (raw !== parsed.value) coerced.push(`${name}: ${quoted(raw)} was taken as ${String(parsed.value)}`);
  }
  if (problems.length > 0) return failed(problems);
  const unfitting = Object.keys(desired).flatMap((name) => unfittingProblem(device, name, desired));
  const lacking = Object.keys(desired).flatMap((name) => lackingFields(device, name, desired));
  if (unfitting.length + lacking.length === 0) return { ok: true, desired, coerced };
  return failed(
    [...unfitting, ...lacking.map(({ problem }) => problem)],
    unfitting.length === 0 ? [...new Set(lacking.map(({ field }) => field))] : [],
  );
}

function failed(problems: readonly string[], missing: string[] = []): ParsedDesired {
  return { ok: false, problems: problems.slice(0, MAX_PROBLEMS), missing };
}

type Asked =
  | { readonly ok: true; readonly entries: readonly [string, unknown][]; readonly coerced: string[] }
  | { readonly ok: false; readonly problem: string };

function objectOf(device: DeviceDefinition, input: unknown): Asked {
  if (typeof input === 'string') return objectOfText(device, input);
  if (!isObject(input)) {
    const problem = `desired is ${quoted(input)}, not an object of fields to values. Nothing was sent. Send e.g. ${example(device)}.`;
    return { ok: false, problem };
  }
  return { ok: true, entries: Object.entries(input), coerced: [] };
}

function objectOfText(device: DeviceDefinition, text: string): Asked {
  if (text.length > MAX_JSON_LENGTH) {
    return {
      ok: false,
      problem: `desired is a text of ${text.length} characters; at most ${MAX_JSON_LENGTH} are read. Nothing was sent.`,
    };
  }
  const written = objectIn(text);
  if (written !== null) {
    return {
      ok: true,
      entries: Object.entries(written),
      coerced: ['desired was given as JSON text and was read as an object'],
    };
  }
  const problem = `desired is ${quoted(text)}, not an object of fields to values. Nothing was sent. Send e.g. ${example(device)}.`;
  return { ok: false, problem };
}

/** null: whatever the text is, it is no object. */
function objectIn(text: string): object | null {
  if (text.length > MAX_JSON_LENGTH) return null;
  try {
    const parsed: unknown = JSON.parse(text);
    return isObject(parsed) ? parsed : null;
  } catch {
    return null;
  }
}

const isObject = (value: unknown): value is object =>
  typeof value === 'object' && value !== null && !Array.isArray(value);

/** What a caller sent as `desired`, with fields that were given later. What is no object stays what it is, and so is refused. */
export function withFields(input: unknown, fields: Readonly<Record<string, unknown>>): unknown {
  if (Object.keys(fields).length === 0) return input;
  if (isObject(input)) return { ...input, ...fields };
  const written = typeof input === 'string' ? objectIn(input) : null;
  // As a text again, so that the caller is told of that.
  return written === null ? input : JSON.stringify({ ...written, ...fields });
}

function parseField(device: DeviceDefinition, name: string, raw: unknown): ParsedValue {
  const field = Object.hasOwn(device.fields, name) ? device.fields[name] : undefined;
  if (!field) return { ok: false, problem: unknownField(device, name) };
  if (field.readOnly) {
    return {
      ok: false,
      problem: `${name} of ${device.id} is read only. Nothing was sent. It takes ${listFields(device)}.`,
    };
  }
  switch (field.type) {
    case 'percent':
    case 'celsius':
    case 'number':
      return parseNumeric(device.id, field, raw);
    case 'onoff':
    case 'enum':
      return parseChoice(device, field, raw);
    case 'text':
      return parseText(device, field, raw);
    case 'action': {
      const asked =
        raw === true ||
        raw === 1 ||
        (typeof raw === 'string' && ['true', '1'].includes(raw.trim().toLowerCase()));
      if (asked) return { ok: true, value: true };
      return {
        ok: false,
        problem: `${name} ${quoted(raw)} makes no sense: it is an action of ${device.id}, and can only be true. Nothing was sent.`,
      };
    }
  }
}

/** Our own word in any case comes first, then whatever the device itself calls it. */
function parseChoice(device: DeviceDefinition, field: FieldDefinition, raw: unknown): ParsedValue {
  const known = field.values?.map(({ value }) => value) ?? ['on', 'off'];
  const wanted =
    typeof raw === 'string' || typeof raw === 'number' || typeof raw === 'boolean' ? raw : undefined;
  const text = wanted === undefined ? '' : String(wanted).trim().toLowerCase();
  const value =
    text === '' || wanted === undefined
      ? undefined
      : (known.find((word) => word.toLowerCase() === text) ?? alias(field, wanted));
  if (value !== undefined) return { ok: true, value };
  const [meant] = nearest(text, known, 1);
  const hint = meant === undefined ? '' : ` Did you mean ${meant}?`;
  return {
    ok: false,
    problem: `${field.name} ${quoted(raw)} is not one of ${known.join(' | ')} for ${device.id}. Nothing was sent.${hint}`,
  };
}

function alias(field: FieldDefinition, raw: string | number | boolean): string | undefined {
  const spellings = (field.values ?? []).map((value) => ({
    ...value,
    // A range such as ">=20" is how the device shows a value, not a way to ask for it.
    accepts: [...value.accepts.filter((accepted) => typeof accepted !== 'object'), value.send],
  }));
  const declared = declaredValue(spellings, raw);
  if (declared !== undefined || field.type !== 'onoff') return declared;
  const text = String(raw).trim().toLowerCase();
  if (text === 'true' || text === '1') return 'on';
  return text === 'false' || text === '0' ? 'off' : undefined;
}

/** What whoever approves it, or reads of it, would not see. A line break is seen. */
const UNSEEN = /[\p{Bidi_Control}\p{Cs}]|[^\P{Cc}\n\r\t]/u;

function parseText(device: DeviceDefinition, field: FieldDefinition, raw: unknown): ParsedValue {
  if (typeof raw === 'number' && Number.isFinite(raw)) return { ok: true, value: String(raw) };
  if (typeof raw !== 'string' || raw === '') {
    return {
      ok: false,
      problem: `${field.name} ${quoted(raw)} is no text for ${device.id}. Nothing was sent.`,
    };
  }
  if (UNSEEN.test(raw)) {
    const problem = `${field.name} ${quoted(raw)} has control or direction characters, which nobody sees. Nothing was sent. Leave them out.`;
    return { ok: false, problem };
  }
  if (raw.length <= MAX_TEXT_LENGTH) return { ok: true, value: raw };
  const problem = `${field.name} is a text of ${raw.length} characters; ${device.id} is sent at most ${MAX_TEXT_LENGTH}. Nothing was sent.`;
  return { ok: false, problem };
}

function unfittingProblem(device: DeviceDefinition, name: string, desired: Desired): string[] {
  const unmet = unmetCondition(device.fields[name]?.appliesWhen ?? {}, desired, {});
  if (unmet === null) return [];
  const allowed = unmet.allowed.map(String).join(' | ');
  return [
    `${name} doesn't apply to ${device.id} with ${unmet.field} ${String(unmet.value)}, only with ${allowed}. Nothing was sent. Leave ${name} out, or ask for ${unmet.field} ${allowed}.`,
  ];
}

function lackingFields(
  device: DeviceDefinition,
  name: string,
  desired: Desired,
): { field: string; problem: string }[] {
  return (device.fields[name]?.requires ?? [])
    .filter((required) => !Object.hasOwn(desired, required))
    .map((required) => {
      const field = device.fields[required];
      const what = field === undefined ? '' : ` (${field.type}: ${describeField(field)})`;
      return {
        field: required,
        problem: `${name} of ${device.id} must be given together with ${required}${what}. Nothing was sent.`,
      };
    });
}

function unknownField(device: DeviceDefinition, name: string): string {
  const writable = Object.values(device.fields).map((field) => field.name);
  const [meant] = nearest(name, writable, 1);
  const hint = meant === undefined ? '' : ` Did you mean ${meant}?`;
  return `${device.id} has no field ${quoted(name)}. Nothing was sent.${hint} It takes ${listFields(device)}.`;
}

function listFields(device: DeviceDefinition): string {
  const writable = Object.values(device.fields).filter((field) => !field.readOnly);
  if (writable.length === 0) return 'nothing: all its fields are read only';
  return writable.map((field) => `${field.name} (${describeField(field)})`).join(', ');
}

/** A desired object that this device would take, for errors: `{"temperature": 16}`. */
function example(device: DeviceDefinition): string {
  const field = Object.values(device.fields).find((candidate) => !candidate.readOnly);
  if (!field) return '{}';
  const value =
    field.type === 'action'
      ? true
      : (field.values?.[0]?.value ?? field.max ?? field.min ?? (field.type === 'text' ? '…' : 50));
  return JSON.stringify({ [field.name]: value });
}
