/** What a field's `confirm` says: a condition of its own, beside or instead of a reading. */
import type { DeviceDefinition, FieldDefinition } from './catalogue/definition.ts';
import type { ReadContext } from './exchange.ts';
import { outcomeOf, type Scope } from './expression-scope.ts';
import type { Reading } from './values.ts';

/** Per asked field: does it hold? Left out where nobody can tell. */
export async function confirmations(
  device: DeviceDefinition,
  context: ReadContext,
  scope: Scope,
): Promise<Record<string, boolean>> {
  const confirmed: Record<string, boolean> = {};
  for (const field of Object.values(device.fields)) {
    if (field.confirm === null || context.desired === null || !Object.hasOwn(context.desired, field.name))
      continue;
    const { value } = await outcomeOf(field.confirm, scope);
    // Absent, e.g. since the baseline it looks at could not be read: then nobody can tell.
    if (value !== undefined) confirmed[field.name] = value === true;
  }
  return confirmed;
}

/** Of a field that has no reading but its confirmation. */
export function confirmationAsReading(
  field: FieldDefinition,
  context: ReadContext,
  confirmed: boolean | undefined,
): Reading {
  const desired = context.desired?.[field.name];
  const isSent = context.sentAt !== undefined;
  // Before any send there is no baseline to look at, and nothing that could have happened.
  if (isSent && desired !== undefined && confirmed === undefined)
    return { kind: 'unreadable', why: `its confirmation can't be told (${field.confirm} has no value)` };
  if (confirmed === true && desired !== undefined) return { kind: 'value', value: desired };
  if (field.type === 'action') return { kind: 'value', value: false };
  return { kind: 'unreadable', why: 'not confirmed' };
}
