/** A number that a caller asks for: its type, limits and step, and what to send instead. */
import type { FieldDefinition } from './catalogue/definition.ts';
import { withoutDust } from './device-scale.ts';
import { describeField, describeRange, limitsOf } from './devices.ts';
import { quoted } from './quoted.ts';
import { convert, unitsMistakenFor } from './units.ts';
import type { Value } from './values.ts';
import { parseNumber } from './wire.ts';

/** A value that could be read, and whether that took more than reading it as written; or what is wrong with it. */
export type ParsedValue =
  | { readonly ok: true; readonly value: Value }
  | { readonly ok: false; readonly problem: string };

export function parseNumeric(deviceId: string, field: FieldDefinition, raw: unknown): ParsedValue {
  const value = parseNumber(raw);
  if (value === undefined) {
    const problem = `${field.name} ${quoted(raw)} is not a number. Nothing was sent. Allowed for ${deviceId}: ${describeField(field)}.`;
    return { ok: false, problem };
  }
  if (!isInside(field, value)) {
    const problem = `${field.name} ${value} is outside ${describeRange(field)} for ${deviceId}. Nothing was sent.${meantOtherUnit(field, value)}`;
    return { ok: false, problem };
  }
  const around = stepsAround(field, value);
  if (around.includes(value)) return { ok: true, value };
  // As close as binary fractions come to the step: 0.1 + 0.2 is 0.3.
  const same = around.find((step) => withoutDust(step) === withoutDust(value));
  if (same !== undefined) return { ok: true, value: same };
  const problem = `${field.name} ${value} is not on a step for ${deviceId} (${describeField(field)}). Nothing was sent. Send ${around.join(' or ')}.`;
  return { ok: false, problem };
}

function isInside(field: FieldDefinition, value: number): boolean {
  const { min, max } = limitsOf(field);
  return (min === null || value >= min) && (max === null || value <= max);
}

/** Whether the declared step, counted from the lower limit, leads to `value`, wherever the limits are. */
export function isOnStep(field: FieldDefinition, value: number): boolean {
  return field.step === null || Number.isInteger(stepsTo(field, field.step, value));
}

const stepsTo = (field: FieldDefinition, step: number, value: number): number =>
  withoutDust((value - (limitsOf(field).min ?? 0)) / step);

/** Allowed values next to `value`, counted from the lower limit; `value` itself where there is no step. */
function stepsAround(field: FieldDefinition, value: number): number[] {
  const { step } = field;
  if (step === null) return [value];
  const start = limitsOf(field).min ?? 0;
  const steps = stepsTo(field, step, value);
  const neighbours = [Math.floor(steps), Math.ceil(steps)].map((count) => withoutDust(start + count * step));
  return [...new Set(neighbours)].filter((neighbour) => isInside(field, neighbour));
}

/** ` If you meant °F, that is 27.8 °C: send 27.5 or 28 (step 0.5).` Empty where no other unit makes sense of the number. */
function meantOtherUnit(field: FieldDefinition, value: number): string {
  for (const unit of unitsMistakenFor(field.unit)) {
    const converted = convert(value, unit, field.unit);
    if (!Number.isFinite(converted) || !isInside(field, converted)) continue;
    const shown = Math.round(converted * 10) / 10;
    const around = stepsAround(field, withoutDust(converted));
    const instead =
      field.step === null ? `send ${shown}` : `send ${around.join(' or ')} (step ${field.step})`;
    return ` If you meant ${unit}, that is ${shown} ${field.unit}: ${instead}.`;
  }
  return '';
}
