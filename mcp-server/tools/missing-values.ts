/** Asking for values that a command lacks, by a form with nothing else in it. */
import type { MissingValues } from '../../commands/commands.ts';
import type { FieldDefinition } from '../../domain/catalogue/definition.ts';
import { describeField, limitsOf } from '../../domain/devices.ts';
import { plain } from '../../domain/text.ts';
import type { Asking, ElicitationRequest } from '../asking.ts';
import { isJsonObject } from '../json-object.ts';

/** Nothing has been started, so that a late answer does no more than a late call. */
const ANSWER_WITHIN_MS = 10 * 60_000;
const LONGEST_TEXT = 500;

type FormSchema = Extract<ElicitationRequest['params'], { requestedSchema: unknown }>['requestedSchema'];
type FormField = FormSchema['properties'][string];

/** The state of the question: values given to earlier ones of the same call, and what is asked for now. */
export interface ValuesState {
  readonly for: 'values';
  readonly given: Readonly<Record<string, unknown>>;
  readonly asked: readonly string[];
}

export function askForValues(
  { deviceName, fields }: MissingValues,
  given: Readonly<Record<string, unknown>>,
): Asking {
  const names = fields.map(({ name }) => name);
  const state: ValuesState = { for: 'values', given, asked: names };
  const message = `"${plain(deviceName, 64)}" can't be commanded without: ${names.join(', ')}. Nothing has been sent yet.`;
  const requestedSchema: FormSchema = {
    type: 'object',
    properties: Object.fromEntries(fields.map((field) => [field.name, formField(field)])),
    required: names,
  };
  return {
    kind: 'asking',
    question: {
      key: 'values',
      request: { method: 'elicitation/create', params: { mode: 'form', message, requestedSchema } },
    },
    state,
    expiresAt: Date.now() + ANSWER_WITHIN_MS,
  };
}

/** Values given so far, those of this response included; null: it gives none of those that were asked for. */
export function valuesGiven(
  { given, asked }: ValuesState,
  response: unknown,
): Readonly<Record<string, unknown>> | null {
  if (!isJsonObject(response) || response['action'] !== 'accept') return null;
  const content = isJsonObject(response['content']) ? response['content'] : {};
  const taken = asked.filter((name) => Object.hasOwn(content, name));
  if (taken.length === 0) return null;
  return { ...given, ...Object.fromEntries(taken.map((name) => [name, content[name]])) };
}

/** No defaults: a value that nobody looked at would be a guess. */
function formField(field: FieldDefinition): FormField {
  const title = field.unit === null ? field.name : `${field.name} (${field.unit})`;
  const hint = field.hint === null ? '' : `. ${plain(field.hint, 200)}`;
  const words = { title, description: `${describeField(field)}${hint}` };
  switch (field.type) {
    case 'percent':
    case 'celsius':
    case 'number': {
      const { min, max } = limitsOf(field);
      return {
        type: 'number',
        ...words,
        ...(min !== null && { minimum: min }),
        ...(max !== null && { maximum: max }),
      };
    }
    case 'onoff':
    case 'enum':
      return { type: 'string', ...words, enum: field.values?.map(({ value }) => value) ?? ['on', 'off'] };
    case 'text':
      return { type: 'string', ...words, maxLength: LONGEST_TEXT };
    case 'action':
      return { type: 'boolean', ...words };
  }
}
