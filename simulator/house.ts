/** All simulated devices with what is counted about each, on one clock. */
import type { Limit } from './behaviour.ts';
import { type Clock, type ClockKind, createClock } from './clock.ts';
import { createDevice, type Device, resetDevice } from './device.ts';
import type { DevicesFile } from './devices-file.ts';
import { createLedger, type Ledger } from './ledger.ts';
import { createLimitCounter, type LimitCounter } from './turning-away.ts';

export interface Resident {
  readonly device: Device;
  readonly ledger: Ledger;
  /** Idempotency keys that were acted on. */
  readonly keys: Set<string>;
}

export interface House {
  readonly clock: Clock;
  readonly limits: Readonly<Record<string, Limit>>;
  readonly limitCounter: LimitCounter;
  readonly residents: ReadonlyMap<string, Resident>;
}

export function createHouse(file: DevicesFile, kind: ClockKind): House {
  const clock = createClock(kind);
  const residents = Object.entries(file.devices).map(([id, written]): [string, Resident] => [
    id,
    { device: createDevice(id, written, clock.now()), ledger: createLedger(), keys: new Set() },
  ]);
  return { clock, limits: file.limits, limitCounter: createLimitCounter(), residents: new Map(residents) };
}

/** As the devices file says, and nothing counted. The clock goes on. */
export function resetHouse(house: House): void {
  house.limitCounter.reset();
  for (const { device, ledger, keys } of house.residents.values()) {
    resetDevice(device, house.clock.now());
    ledger.reset();
    keys.clear();
  }
}
