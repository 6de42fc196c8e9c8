/**
 * Which request carries which asked field, and in which order. Pure and without expressions, so that a workflow can use it.
 */
import type { DeviceDefinition, FieldCondition, SendStep } from './catalogue/definition.ts';
import { formatValue } from './text.ts';
import type { Desired, Reading, Value } from './values.ts';

export interface PlannedStep {
  readonly step: SendStep;
  /** The asked fields that this step sends. */
  readonly fields: string[];
}

export type Plan =
  | { readonly ok: true; readonly steps: PlannedStep[] }
  | { readonly ok: false; readonly why: string };

type Readings = Readonly<Record<string, Reading>>;

/**
 * The requests of a command in their order: what another field depends on (`appliesWhen`) goes first, else the catalogue's order.
 * Not ok: a field doesn't apply as the device is now, or no request can carry it; nothing may be sent then.
 */
export function planSteps(device: DeviceDefinition, desired: Desired, current: Readings): Plan {
  const planned = new Map<number, PlannedStep>();
  for (const name of Object.keys(desired)) {
    const field = device.fields[name];
    if (!field) return { ok: false, why: `${device.id} has no field ${name}` };
    const unmet = unmetCondition(field.appliesWhen, desired, current);
    if (unmet !== null) return { ok: false, why: `${name} ${unmetInWords(unmet)}` };
    const candidates = device.send.filter((step) => step.for.includes(name));
    const step = candidates.find(({ when }) => holds(when, desired, current));
    if (!step) return { ok: false, why: `${name} can't be sent: ${whyNoStep(candidates, desired, current)}` };
    const sofar = planned.get(step.index);
    planned.set(step.index, { step, fields: [...(sofar?.fields ?? []), name] });
  }
  return { ok: true, steps: inOrder(device, [...planned.values()]) };
}

/** Why a condition isn't met: `mode` would have to be one of `allowed`, and is `value`. */
export interface Unmet {
  readonly field: string;
  readonly allowed: readonly Value[];
  readonly value: Value;
}

/**
 * What keeps a condition from being met; null when it is met, or when that can't be told.
 * `desired` speaks for the fields that it names, the readings for the others.
 */
export function unmetCondition(condition: FieldCondition, desired: Desired, current: Readings): Unmet | null {
  for (const [field, allowed] of Object.entries(condition)) {
    const value = resulting(field, desired, current);
    if (value !== undefined && !allowed.includes(value)) return { field, allowed, value };
  }
  return null;
}

/** `applies only while mode is cool | heat, and it is fan_only` */
export function unmetInWords({ field, allowed, value }: Unmet): string {
  return `applies only while ${field} is ${allowed.map(String).join(' | ')}, and it is ${formatValue(value, null)}`;
}

/** The value that a field has once the command is done, as far as one can tell. */
function resulting(name: string, desired: Desired, current: Readings): Value | undefined {
  if (Object.hasOwn(desired, name)) return desired[name];
  const reading = Object.hasOwn(current, name) ? current[name] : undefined;
  return reading?.kind === 'value' ? reading.value : undefined;
}

/** Unlike `appliesWhen`, what can't be told doesn't hold: a request is chosen on knowledge. */
function holds(when: FieldCondition, desired: Desired, current: Readings): boolean {
  return Object.entries(when).every(([name, allowed]) => {
    const value = resulting(name, desired, current);
    return value !== undefined && allowed.includes(value);
  });
}

function whyNoStep(candidates: readonly SendStep[], desired: Desired, current: Readings): string {
  const reasons = candidates.flatMap(({ when }) =>
    Object.entries(when)
      .filter(([name, allowed]) => !holds({ [name]: allowed }, desired, current))
      .map(([name, allowed]) => {
        const value = resulting(name, desired, current);
        const present = value === undefined ? "which can't be read" : `and it is ${formatValue(value, null)}`;
        return `it needs ${name} to be ${allowed.map(String).join(' | ')}, ${present}`;
      }),
  );
  return reasons.length === 0
    ? 'no request of the catalogue carries it'
    : [...new Set(reasons)].join('; or ');
}

/** Takes, again and again, the first step that waits for no other. A circle (none is free) falls back to the catalogue's order. */
function inOrder(device: DeviceDefinition, planned: readonly PlannedStep[]): PlannedStep[] {
  const waiting = [...planned].sort((a, b) => a.step.index - b.step.index);
  const ordered: PlannedStep[] = [];
  while (waiting.length > 0) {
    const free = waiting.findIndex(
      (one) => !waiting.some((other) => other !== one && dependsOn(device, one, other)),
    );
    ordered.push(...waiting.splice(Math.max(free, 0), 1));
  }
  return ordered;
}

function dependsOn(device: DeviceDefinition, step: PlannedStep, other: PlannedStep): boolean {
  return step.fields.some((name) =>
    Object.keys(device.fields[name]?.appliesWhen ?? {}).some((needed) => other.fields.includes(needed)),
  );
}
