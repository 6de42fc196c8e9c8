/** All simulated devices with what is kept about each, on one clock. */
import type { Limit } from './behaviour.ts';
import { type Clock, createClock } from './clock.ts';
import { createDevice, type Device } from './device.ts';
import type { DevicesFile } from './devices-file.ts';
import { createLedger, type Ledger } from './ledger.ts';
import { createLimitCounter, type LimitCounter } from './turning-away.ts';

/** A device with what is counted about it. */
export interface Kept {
  readonly device: Device;
  readonly ledger: Ledger;
  /** How often each list of conducts was used. */
  readonly used: Map<string, number>;
  /** Idempotency keys that were acted on. */
  readonly keys: Set<string>;
}

export interface House {
  readonly clock: Clock;
  readonly limits: Readonly<Record<string, Limit>>;
  readonly limitCounter: LimitCounter;
  readonly devices: ReadonlyMap<string, Kept>;
}

export function createHouse(file: DevicesFile): House {
  const clock = createClock();
  const devices = Object.entries(file.devices).map(([id, written]): [string, Kept] => [
    id,
    {
      device: createDevice(id, written, clock.now()),
      ledger: createLedger(),
      used: new Map(),
      keys: new Set(),
    },
  ]);
  return { clock, limits: file.limits, limitCounter: createLimitCounter(), devices: new Map(devices) };
}

/** As the devices file says, and nothing counted. The clock goes on. */
export function resetHouse(house: House): void {
  house.limitCounter.reset();
  for (const { device, ledger, used, keys } of house.devices.values()) {
    device.reset(house.clock.now());
    ledger.reset();
    used.clear();
    keys.clear();
  }
}
