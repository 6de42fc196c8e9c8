/** A device of the simulator behind an account, on a connection that signs in to it, with a store that may outlive it. */
import assert from 'node:assert/strict';
import type { ReadResult } from '../../../activities/adapter.ts';
import { createAdapters, openAdapter } from '../../../activities/adapters.ts';
import { memorySignIns, type SignInStore } from '../../../activities/sign-in/store.ts';
import { loadCatalogue } from '../../../domain/catalogue/load.ts';
import type { SendResult } from '../../../domain/exchange.ts';
import { type Simulator, startSimulator } from '../../../simulator/simulator.ts';

export interface Gate {
  readonly simulator: Simulator;
  admin(method: string, path: string, body?: unknown): Promise<never>;
  /** A worker of its own: nothing is shared with the others but the store. */
  worker(options?: {
    readonly store?: SignInStore;
    readonly environment?: Record<string, string>;
    /** Of an `oauth` that says none yet. */
    readonly scope?: string;
  }): Promise<Worker>;
  /** Sends that got as far as the device, and sign-ins. */
  counts(): Promise<{
    readonly sends: number;
    readonly turnedAway: number;
    readonly granted: number;
    readonly refused: number;
  }>;
}

export interface Worker {
  send(power: 'on' | 'off'): Promise<SendResult>;
  read(): Promise<ReadResult>;
}

export interface GateOptions {
  /** The simulator's `auth` of it. */
  readonly account: object;
  /** The catalogue's, in YAML. */
  readonly auth: string;
  readonly environment?: Record<string, string>;
  readonly reply?: string;
  /** Of the connection; '' where the sign-in has to lie below it. */
  readonly basePath?: '' | '/devices';
}

/** Signs in by a refresh token that changes with each use. */
export const REFRESHED: GateOptions = {
  account: {
    oauth: {
      clientId: 'readback',
      clientSecret: 'client-secret-1',
      refreshToken: 'first-refresh-token',
      rotates: true,
      expires: '1h',
    },
  },
  auth: 'oauth: { tokenUrl: "simulator:/sign-in/gate", clientId: readback, clientSecret: "${SECRET}", refreshToken: "${REFRESH}" }',
  environment: { SECRET: 'client-secret-1', REFRESH: 'first-refresh-token' },
};

export async function startGate(
  t: { after(done: () => Promise<void>): void },
  { account, auth, environment = {}, reply = '', basePath = '/devices' }: GateOptions,
): Promise<Gate> {
  const simulator = await startSimulator({
    devices: { devices: { gate: { state: { power: 'off' }, auth: account } } },
  });
  t.after(() => simulator.close());
  const admin: Gate['admin'] = async (method, path, body) => {
    const response = await fetch(`${simulator.url}/admin${path}`, {
      method,
      ...(body === undefined ? {} : { body: JSON.stringify(body) }),
    });
    assert.ok(response.ok, `${path}: ${response.status}`);
    return (await response.json()) as never;
  };
  const path = `${basePath === '' ? '/devices' : ''}/gate`;
  const yaml = (scope: string) => `
version: 1
connections: { cloud: { kind: http, baseUrl: "simulator:${basePath}", timeout: 2s, auth: { ${scope === '' ? auth : auth.replace(/ }$/, `, scope: ${scope} }`)} }${reply} } }
devices:
  gate: { connection: cloud, send: PUT ${path}, read: "GET ${path}?b=2&a=1", fields: { power: onoff } }
`;
  return {
    simulator,
    admin,
    async worker({ store = memorySignIns(), environment: own = environment, scope = '' } = {}) {
      const loaded = await loadCatalogue({
        file: 'test.yaml',
        readFile: () => yaml(scope),
        environment: own,
        simulatorUrl: simulator.url,
      });
      assert.ok(loaded.ok, loaded.ok ? '' : JSON.stringify(loaded.problems, null, 2));
      const adapters = createAdapters(loaded.catalogue, (connection) =>
        openAdapter(connection, { signIns: store }),
      );
      const device = loaded.catalogue.devices['gate'];
      const [step] = device?.send ?? [];
      assert.ok(device && step);
      const never = () => new AbortController().signal;
      return {
        send: (power) =>
          adapters(device).send(
            device,
            step,
            { power },
            {},
            { idempotencyKey: 'command-1:0:1', signal: never() },
          ),
        read: () =>
          adapters(device).read(
            device,
            { desired: null, before: null, kept: {}, baselineDeviceAt: null },
            never(),
          ),
      };
    },
    async counts() {
      const { counters } = (await admin('GET', '/devices/gate')) as {
        counters: { sends: { arrived: number; turnedAway: number } };
      };
      const account = (await admin('GET', '/accounts/gate')) as { granted: number; refused: number };
      return { sends: counters.sends.arrived, turnedAway: counters.sends.turnedAway, ...account };
    },
  };
}
