/** How the layers of a device are laid over each other: maps merge, lists and single values replace, `null` removes. */

export type RawMap = Readonly<Record<string, unknown>>;

export const isMap = (value: unknown): value is RawMap =>
  typeof value === 'object' && value !== null && !Array.isArray(value);

/** A body is one thing: parts of two requests make no third one, and a `null` in it is meant to be sent. */
const WHOLE = new Set(['body']);

/** `above` laid over `below`. Neither is changed. */
export function merge(below: RawMap, above: RawMap): RawMap {
  const merged: Record<string, unknown> = { ...below };
  for (const [key, value] of Object.entries(above)) {
    if (value === null) delete merged[key];
    else if (WHOLE.has(key) || !isMap(value)) merged[key] = value;
    else merged[key] = merge(isMap(below[key]) ? below[key] : {}, value);
  }
  return merged;
}
