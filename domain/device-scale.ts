/** How a number in our unit becomes the device's number, and back: unit or range, then the device's step. */
import type { FieldDefinition } from './catalogue/definition.ts';
import { convert } from './units.ts';
import type { Value } from './values.ts';

/** Binary fractions leave dust behind the twelfth digit (22.700000000000003); no device means it. */
export function withoutDust(value: number): number {
  return Number(value.toPrecision(12));
}

/** Our value in the device's terms, before its step. */
export function toDevice(field: FieldDefinition, value: number): number {
  const { range, unit } = field.device;
  if (range === null) return withoutDust(convert(value, field.unit, unit));
  const [low, high] = ownRange(field);
  return withoutDust(range[0] + ((value - low) / (high - low)) * (range[1] - range[0]));
}

/** A device's number in our terms. May be infinite (0 mired): the caller checks. */
export function fromDevice(field: FieldDefinition, value: number): number {
  const { range, unit } = field.device;
  if (range === null) return withoutDust(convert(value, unit, field.unit));
  const [low, high] = ownRange(field);
  return withoutDust(low + ((value - range[0]) / (range[1] - range[0])) * (high - low));
}

/** `device.range` stands for this range of ours: all of a percentage, whatever part of it may be asked for; else min to max. */
export function ownRange(field: FieldDefinition): readonly [number, number] {
  if (field.type === 'percent' || field.unit === '%') return [0, 100];
  return [field.min ?? 0, field.max ?? 100];
}

/** Nearest number that the device can hold, by its own way of rounding. */
export function onDeviceStep(field: FieldDefinition, value: number): number {
  const step = deviceStep(field);
  if (step === null) return value;
  const { range } = field.device;
  const anchor = range === null ? 0 : Math.min(...range);
  const steps = withoutDust((value - anchor) / step);
  const whole = { nearest: Math.round, down: Math.floor, up: Math.ceil }[field.device.round](steps);
  const held = withoutDust(anchor + whole * step);
  // The far end of a range need not lie on a step; beyond it there is nothing.
  return range === null ? held : Math.min(Math.max(held, Math.min(...range)), Math.max(...range));
}

/**
 * The device's step in the device's unit. A range such as 0–255 counts whole numbers unless it says otherwise;
 * 0–1 is a fraction. null: unknown, or the same as ours.
 */
export function deviceStep(field: FieldDefinition): number | null {
  const { range, step } = field.device;
  if (step !== null || range === null) return step;
  return range.every(Number.isInteger) && Math.abs(range[1] - range[0]) > 1 ? 1 : null;
}

/** The device's step around `value`, in our unit; where it isn't known, our own step. null: neither is known. */
export function stepAround(field: FieldDefinition, value: number): number | null {
  const step = deviceStep(field);
  if (step === null) return field.step;
  const place = toDevice(field, value);
  const sides = [place - step, place + step].map((other) => Math.abs(fromDevice(field, other) - value));
  return Math.max(...sides.filter(Number.isFinite));
}

/**
 * A reading as people should see it: a converted one has no more digits than the device's step carries
 * (22.7 °C in tenths is 72.9 °F, not 72.86). For showing only; comparing takes the reading itself.
 */
export function shownNumber(field: FieldDefinition, value: number): number {
  const step = field.device.unit === null && field.device.range === null ? null : stepAround(field, value);
  if (step === null || step <= 0) return value;
  const digit = 10 ** Math.floor(Math.log10(step));
  return withoutDust(Math.round(value / digit) * digit);
}

/** Any reading as people should see it. */
export function shownValue(field: FieldDefinition | undefined, value: Value): Value {
  return field !== undefined && typeof value === 'number' ? shownNumber(field, value) : value;
}
