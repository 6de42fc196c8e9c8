/** Whose turn it is at a connection: no device gets a second place while another one that was told to wait until now has had none. */

/** Who was told to wait is expected so long after its time: retries are rounded up to a second. */
const COMES_WITHIN_MS = 2_000;
/** Devices whose turns are remembered; forgetting some makes them first once. */
const MOST_REMEMBERED = 5_000;

export interface DeviceTurns {
  /** The present, for `freeFor`. */
  lookAt(at: number): void;
  /** From when on this device may have one of so many places. */
  freeFor(device: string, places: number): number;
  /** Who was served longest ago comes first. */
  compare(one: string, other: string): number;
  served(device: string): void;
  /** It was told to come back then. */
  owed(device: string, from: number): void;
  /** How many were told to come back by now, have had no place since, and are none of these. */
  dueBesides(devices: ReadonlySet<string>): number;
}

export function createDeviceTurns(): DeviceTurns {
  const lastServed = new Map<string, number>();
  const comesAt = new Map<string, number>();
  let count = 0;
  let now = 0;
  let due = new Map<string, number>();
  const last = (device: string): number => lastServed.get(device) ?? 0;
  return {
    lookAt(at) {
      now = at;
      for (const [device, from] of comesAt) if (from + COMES_WITHIN_MS <= at) comesAt.delete(device);
      due = new Map([...comesAt].filter(([, from]) => from <= at));
    },

    freeFor(device, places) {
      if (due.has(device) || places > due.size) return now;
      return Math.min(...due.values()) + COMES_WITHIN_MS;
    },

    compare: (one, other) => last(one) - last(other),

    served(device) {
      comesAt.delete(device);
      due.delete(device);
      lastServed.delete(device);
      count += 1;
      lastServed.set(device, count);
      for (const oldest of lastServed.keys()) {
        if (lastServed.size <= MOST_REMEMBERED) break;
        lastServed.delete(oldest);
      }
    },

    owed(device, from) {
      comesAt.set(device, Math.min(from, comesAt.get(device) ?? from));
    },

    dueBesides: (devices) => [...due.keys()].filter((device) => !devices.has(device)).length,
  };
}
