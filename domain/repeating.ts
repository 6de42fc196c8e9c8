/** What it would mean if a request reached the device twice: what an approver has to know before saying yes. */
import type { DeviceDefinition } from './catalogue/definition.ts';
import type { Desired } from './values.ts';

/**
 * `onceOnly`: a toggle or pulse; twice undoes or doubles it. `notRepeatable`: the catalogue doesn't say that twice is
 * harmless. `harmless`: twice does no more than once. `unknown`: the device is no longer in the catalogue.
 */
export type RepeatRisk = 'onceOnly' | 'notRepeatable' | 'harmless' | 'unknown';

/** Riskiest first. */
export const REPEAT_RISKS: readonly RepeatRisk[] = ['onceOnly', 'unknown', 'notRepeatable', 'harmless'];

/** The riskiest of all requests that can carry one of the asked fields. */
export function repeatRisk(device: DeviceDefinition | undefined, desired: Desired): RepeatRisk {
  if (device === undefined) return 'unknown';
  const steps = device.send.filter((step) => step.for.some((field) => Object.hasOwn(desired, field)));
  if (steps.some(({ kind }) => kind !== 'set')) return 'onceOnly';
  return steps.every(({ repeatable }) => repeatable) ? 'harmless' : 'notRepeatable';
}

/** Asked fields that can't be read back: nobody will know whether they took. */
export function unverifiableFields(device: DeviceDefinition | undefined, desired: Desired): string[] {
  return Object.keys(desired).filter((field) => device?.fields[field]?.readback === false);
}

export const REPEAT_RISK_IN_WORDS: Readonly<Record<RepeatRisk, string>> = {
  onceOnly: 'Sent once, ever: repeating it would undo or double it.',
  notRepeatable: 'Not sent again by itself: the catalogue does not say that repeating is harmless.',
  harmless: 'Repeating it is harmless.',
  unknown: 'Not known: this device is no longer in the catalogue.',
};
