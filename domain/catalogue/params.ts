/** The parameters of a profile and the values that a device gives them. */
import type { Value } from '../values.ts';
import { isFunctionName } from './allowed-syntax.ts';
import type { MergedDevice } from './layers.ts';
import { didYouMean, listed, type Report } from './problems.ts';

/** `$name` has another meaning in some expressions. */
const TAKEN = ['wire', 'desired', 'before', 'current', 'kept', 'secret', 'batch', 'requester', 'device'];

export function resolveParams(
  device: MergedDevice,
  hasProfile: boolean,
  report: Report,
): Readonly<Record<string, Value>> {
  const declared = device.params ?? {};
  const given = device.with ?? {};
  const values: Record<string, Value> = {};
  for (const [name, fallback] of Object.entries(declared)) {
    if (isFunctionName(name) || TAKEN.includes(name))
      report(['params', name], `$${name} has a meaning already: choose another name`);
    const value = Object.hasOwn(given, name) ? given[name] : fallback;
    if (value === 'required' && !Object.hasOwn(given, name))
      report(['with', name], `is missing: the profile needs it`);
    else if (value !== undefined) values[name] = value;
  }
  for (const [name, value] of Object.entries(given)) {
    if (hasProfile && !Object.hasOwn(declared, name)) {
      report(
        ['with', name],
        `the profile has no such parameter; its parameters: ${listed(Object.keys(declared))}.${didYouMean(name, Object.keys(declared))}`,
      );
    } else if (isFunctionName(name) || TAKEN.includes(name))
      report(['with', name], `$${name} has a meaning already: choose another name`);
    values[name] = value;
  }
  for (const [name, value] of Object.entries(values)) {
    if (['', '.', '..'].includes(String(value).trim()))
      report(['with', name], `${JSON.stringify(value)} can't be part of a path`);
  }
  // What is missing has been reported; that the name is known still counts.
  return { ...Object.fromEntries(Object.keys(declared).map((name) => [name, ''])), ...values };
}
