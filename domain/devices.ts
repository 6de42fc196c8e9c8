/** Finding a device by what somebody calls it, and saying what can be asked of it. */
import type { Catalogue, DeviceDefinition, FieldDefinition } from './catalogue/definition.ts';
import { nearest } from './nearest.ts';

export type FoundDevice =
  | { readonly ok: true; readonly device: DeviceDefinition }
  /** Ids for "did you mean"; may be empty. Nothing may be done to any of them on the strength of a guess. */
  | { readonly ok: false; readonly suggestions: readonly string[] };

/** The device with this id, else the only one with this name or alias. Case and outer blanks don't matter; nothing else is forgiven. */
export function findDevice(catalogue: Pick<Catalogue, 'devices'>, name: string): FoundDevice {
  const devices = Object.values(catalogue.devices);
  const wanted = loose(name);
  const exact = Object.hasOwn(catalogue.devices, name) ? catalogue.devices[name] : undefined;
  if (exact) return { ok: true, device: exact };
  const byId = devices.filter(({ id }) => loose(id) === wanted);
  const called =
    byId.length > 0
      ? byId
      : devices.filter((device) => namesOf(device).some((other) => loose(other) === wanted));
  const [only, ...others] = called;
  if (only && others.length === 0) return { ok: true, device: only };
  if (only) return { ok: false, suggestions: called.map(({ id }) => id) };
  const owners = new Map(
    devices.flatMap((device) => [device.id, ...namesOf(device)].map((other) => [other, device.id] as const)),
  );
  const close = nearest(name, [...owners.keys()], 6).map((other) => owners.get(other) ?? other);
  return { ok: false, suggestions: [...new Set(close)].slice(0, 3) };
}

function namesOf(device: DeviceDefinition): string[] {
  return [device.name, ...device.aliases];
}

function loose(name: string): string {
  return name.trim().toLowerCase();
}

/** What may be asked of a field, for people and agents: `16–30 °C, step 0.5` · `on | off` · `read only`. */
export function describeField(field: FieldDefinition): string {
  if (field.readOnly) return 'read only';
  switch (field.type) {
    case 'onoff':
      return 'on | off';
    case 'enum':
      return (field.values ?? []).map(({ value }) => value).join(' | ');
    case 'text':
      return 'text';
    case 'action':
      return 'true: do it once';
    case 'percent':
    case 'celsius':
    case 'number':
      return field.step === null ? describeRange(field) : `${describeRange(field)}, step ${field.step}`;
  }
}

/** `16–30 °C`, `at least 5 °C`, `a number of W`. */
export function describeRange(field: FieldDefinition): string {
  const { min, max } = limitsOf(field);
  const unit = field.unit === null ? '' : ` ${field.unit}`;
  if (min !== null && max !== null) return `${min}–${max}${unit}`;
  if (min !== null) return `at least ${min}${unit}`;
  if (max !== null) return `at most ${max}${unit}`;
  return field.unit === null ? 'a number' : `a number (${field.unit})`;
}

/** What may be asked, in our unit; a percentage ends at 0 and 100 whatever the catalogue leaves open. */
export function limitsOf(field: FieldDefinition): {
  readonly min: number | null;
  readonly max: number | null;
} {
  if (field.type !== 'percent') return { min: field.min, max: field.max };
  return { min: field.min ?? 0, max: field.max ?? 100 };
}
