/** All simulated devices with what is counted about each, on one clock. */
import { type Account, createAccount } from './account.ts';
import type { Auth, Limit } from './behaviour.ts';
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
  /** How each named account, and each device with one of its own, is signed in to. */
  readonly auths: ReadonlyMap<string, Auth>;
  readonly accounts: Map<string, Account>;
  readonly limitCounter: LimitCounter;
  readonly residents: ReadonlyMap<string, Resident>;
}

export function createHouse(file: DevicesFile, kind: ClockKind): House {
  const clock = createClock(kind);
  const residents = Object.entries(file.devices).map(([id, written]): [string, Resident] => [
    id,
    { device: createDevice(id, written, clock.now()), ledger: createLedger(), keys: new Set() },
  ]);
  const own = residents.flatMap(([id, { device }]): [string, Auth][] => {
    const { auth } = device.definition;
    return auth === undefined || typeof auth === 'string' ? [] : [[id, auth]];
  });
  const auths = new Map<string, Auth>([...Object.entries(file.accounts), ...own]);
  const accounts = new Map<string, Account>();
  openAccounts(auths, accounts);
  return {
    clock,
    limits: file.limits,
    auths,
    accounts,
    limitCounter: createLimitCounter(),
    residents: new Map(residents),
  };
}

function openAccounts(auths: House['auths'], accounts: House['accounts']): void {
  for (const [name, auth] of auths)
    if ('sign' in auth || 'digest' in auth || 'oauth' in auth || 'login' in auth)
      accounts.set(name, createAccount(auth));
}

/** As the devices file says, and nothing counted. The clock goes on. */
export function resetHouse(house: House): void {
  house.limitCounter.reset();
  openAccounts(house.auths, house.accounts);
  for (const { device, ledger, keys } of house.residents.values()) {
    resetDevice(device, house.clock.now());
    ledger.reset();
    keys.clear();
  }
}
