/**
 * Is what the device shows what was asked? By the field's declared type, in the field's own unit.
 * Pure and without expressions, so that a workflow can use it.
 */
import type { FieldDefinition } from './catalogue/definition.ts';
import { fromDevice, onDeviceStep, ownRange, stepAround, toDevice } from './device-scale.ts';
import type { Reading, Value } from './values.ts';

export type Comparison = 'equal' | 'adjusted' | 'unequal' | 'unreadable' | 'notApplicable';

/** What a conversion there and back may leave of a value, relative to it. */
const DUST = 1e-9;
/** A device range such as 0–255 is never as fine as a percentage looks; this much of the range is its noise. */
const RANGE_TOLERANCE = 0.005;

/**
 * `equal`: the asked value, as well as one can tell. `adjusted`: the device's nearest to it, within the tolerance.
 * Both count as reached. Nothing unreadable and no NaN is ever equal to anything.
 */
export function compare(field: FieldDefinition, desired: Value, observed: Reading): Comparison {
  if (observed.kind !== 'value') return observed.kind;
  const { value } = observed;
  if (typeof desired !== 'number') return value === desired ? 'equal' : 'unequal';
  if (typeof value !== 'number' || !Number.isFinite(value)) return 'unreadable';
  if (!Number.isFinite(desired)) return 'unequal';
  if (!reaches(field, desired, value)) return 'unequal';
  return within(value, desired, visibleDifference(field, desired)) ? 'equal' : 'adjusted';
}

/** As asked, be it to the device's nearest step. */
export function isEqual(field: FieldDefinition, desired: Value, observed: Reading): boolean {
  const comparison = compare(field, desired, observed);
  return comparison === 'equal' || comparison === 'adjusted';
}

/** Did the device stay where it was? The same whichever of the two came first; false when either is NaN. */
export function sameValue(field: FieldDefinition, a: Value, b: Value): boolean {
  if (typeof a !== 'number' || typeof b !== 'number') return a === b;
  if (!Number.isFinite(a) || !Number.isFinite(b)) return false;
  const tolerance = Math.max(toleranceAround(field, a), toleranceAround(field, b));
  return alike(a, b) || (notAWholeStep(field, a, b) && within(a, b, tolerance));
}

function reaches(field: FieldDefinition, desired: number, observed: number): boolean {
  if (alike(desired, observed)) return true;
  // What was sent is the best that the device can do; how far that is from what was asked is its step's doing.
  const place = toDevice(field, desired);
  const sent = onDeviceStep(field, place);
  if (alike(fromDevice(field, sent), observed)) return true;
  const difference = Math.abs(observed - desired);
  const step = stepAround(field, desired);
  const isBetweenSteps = !alike(place, sent);
  if (field.tolerance === null && isBetweenSteps && step !== null && lessThan(difference, step)) return true;
  return (
    notAWholeStep(field, desired, observed) && within(observed, desired, toleranceAround(field, desired))
  );
}

/** As declared; else half a step of the device, or what a range blurs if that is more. In our unit. */
function toleranceAround(field: FieldDefinition, value: number): number {
  if (field.tolerance !== null) return field.tolerance;
  return Math.max((stepAround(field, value) ?? 0) / 2, rangeBlur(field) ?? 0);
}

/** Up to here nobody would call it another value: half a step of the device and of ours, or what a range blurs. */
function visibleDifference(field: FieldDefinition, value: number): number {
  const ours = field.step === null ? rangeBlur(field) : field.step / 2;
  const step = stepAround(field, value);
  const finest = Math.min(
    ours ?? Number.POSITIVE_INFINITY,
    step === null ? Number.POSITIVE_INFINITY : step / 2,
  );
  return Number.isFinite(finest) ? finest : 0;
}

function rangeBlur(field: FieldDefinition): number | null {
  if (field.device.range === null) return null;
  const [low, high] = ownRange(field);
  return Math.abs(high - low) * RANGE_TOLERANCE;
}

/** A neighbouring step is another value, whatever tolerance says. */
function notAWholeStep(field: FieldDefinition, a: number, b: number): boolean {
  return field.step === null || lessThan(Math.abs(a - b), field.step);
}

/** Equal but for what binary fractions and a conversion there and back leave behind. */
function alike(a: number, b: number): boolean {
  return Math.abs(a - b) <= DUST * Math.max(1, Math.abs(a), Math.abs(b));
}

/** What binary fractions leave behind grows with the values, not with how far they are apart. */
function within(a: number, b: number, tolerance: number): boolean {
  return Math.abs(a - b) <= tolerance + DUST * Math.max(1, Math.abs(a), Math.abs(b));
}

function lessThan(difference: number, step: number): boolean {
  return difference < step && !alike(difference, step);
}
