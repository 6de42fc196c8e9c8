/** A house of devices on the real thing, and MCP servers in front of it. */
import { connect, createServer, type Socket } from 'node:net';
import { type Commands } from '../../commands/commands.ts';
import { createTemporalCommands } from '../../commands/temporal-commands.ts';
import { createHttpApp, type HttpOptions, serveHttp } from '../../mcp-server/http.ts';
import { DEFAULT_OPTIONS, type McpOptions } from '../../mcp-server/options.ts';
import { requestStateKey } from '../../mcp-server/request-state-key.ts';
import { type Harness, startReadback } from '../harness/readback.ts';

export const CATALOGUE = `
version: 1
connections:
  house: { kind: http, baseUrl: "simulator:" }
profiles:
  thing:
    connection: house
    params: { id: required }
    send: { request: "PUT /devices/{id}", repeatable: true }
    read: "GET /devices/{id}"
    settle: { first: 100ms, every: 200ms, within: 20s, stable: 300ms }
  thermostat: { extends: thing, fields: { temperature: { type: celsius, min: 5, max: 35, step: 0.1 } } }
  lamp: { extends: thing, fields: { brightness: { type: percent } } }
devices:
  bedroom-ac: { profile: thermostat, with: { id: bedroom-ac }, name: "Bedroom air conditioner\\u202e\\u0007", area: Bedroom }
  slow-ac: { profile: thermostat, with: { id: slow-ac }, settle: { lag: 15s, lagReason: waiting for its cloud } }
  attic-ac: { profile: thermostat, with: { id: attic-ac }, settle: { lag: 15s } }
  dead-lamp: { profile: lamp, with: { id: dead-lamp }, settle: { within: 1s } }
  stuck-gate:
    profile: thing
    with: { id: stuck-gate }
    send: { request: "POST /devices/stuck-gate/press", kind: toggle, repeatable: false }
    fields: { door: { type: enum, values: [open, closed] } }
    settle: { within: 1s }
  night-lamp: { profile: lamp, with: { id: night-lamp }, name: Night lamp }
  hall-lamp: { profile: lamp, with: { id: hall-lamp }, name: Hall lamp }
  hanging-lamp: { profile: lamp, with: { id: hanging-lamp } }
  boiler: { profile: thermostat, with: { id: boiler } }
  floor:
    profile: thing
    with: { id: floor }
    name: Floor heating
    fields:
      low: { type: celsius, min: 5, max: 30, step: 0.5, requires: [high, program] }
      high: { type: celsius, min: 10, max: 35, step: 0.5, hint: Never more than the floor bears. }
      program: { type: enum, values: [comfort, eco], requires: [boost] }
      boost: onoff
approvals:
  - { for: { device: night-lamp }, by: requester, expires: 2m, reason: Somebody may be asleep. }
  - { for: { device: hall-lamp }, by: requester, expires: 3s }
  - { for: { device: floor, field: program, becomes: eco }, by: requester }
  - { for: { device: boiler }, by: operator, expires: 2m, reason: Hot water. }
`;

const DEVICES = {
  'bedroom-ac': { state: { temperature: 24 } },
  'slow-ac': { state: { temperature: 24 }, follows: '4s' },
  'attic-ac': { state: { temperature: 24 }, follows: '4s' },
  'dead-lamp': { state: { brightness: 0 }, ignores: true },
  'stuck-gate': {
    state: { door: 'closed' },
    ignores: true,
    actions: { press: { toggles: { door: ['open', 'closed'] } } },
  },
  'night-lamp': { state: { brightness: 0 } },
  'hall-lamp': { state: { brightness: 0 } },
  'hanging-lamp': { state: { brightness: 0 }, onSend: { hangs: '2500ms' } },
  boiler: { state: { temperature: 24 } },
  floor: { state: { low: 18, high: 25, program: 'comfort', boost: 'off' } },
};

export interface House {
  readonly harness: Harness;
  /** An MCP server over HTTP in front of the house. */
  serve(options?: Partial<McpOptions>, commands?: Commands, http?: HttpOptions): Promise<Serving>;
  /** Requests of any kind that may have made the device do something. */
  sends(device: string): Promise<number>;
  /** `Commands` whose line to Temporal can be cut. */
  severableCommands(): Promise<{ commands: Commands; cut(): void }>;
  close(): Promise<void>;
}

export interface Serving {
  readonly url: string;
  readonly port: number;
  /** The same server, without a socket in between. */
  fetch(request: Request): Promise<Response>;
  /** What the server reported to its log. */
  readonly errors: readonly Error[];
  readonly catalogueChanged: () => void;
  close(): Promise<void>;
}

export async function openHouse(): Promise<House> {
  const harness = await startReadback({ devices: DEVICES, catalogue: CATALOGUE });
  const closing: (() => Promise<void>)[] = [];
  return {
    harness,
    async serve(options = {}, commands = harness.commands, http = {}) {
      const errors: Error[] = [];
      const onError = (error: Error) => void errors.push(error);
      const stateKey = requestStateKey(harness.sealKey);
      const app = createHttpApp({
        commands,
        options: { ...DEFAULT_OPTIONS, stateKey, ...options },
        onError,
        ...http,
      });
      const { url, port, close } = await serveHttp(app, { host: '127.0.0.1', port: 0 });
      closing.push(close);
      const fetch = async (request: Request) => await app.app.fetch(request);
      return { url, port, fetch, errors, close, catalogueChanged: app.catalogueChanged };
    },
    async sends(device) {
      const { sends, dropped } = (await harness.admin('GET', `/devices/${device}`)).counters;
      return sends.arrived + sends.turnedAway + dropped;
    },
    async severableCommands() {
      const line = await severableLine(harness.temporal.address);
      const { catalogue, sealKey } = harness;
      const commands = await createTemporalCommands({
        address: line.address,
        namespace: 'default',
        catalogue: () => catalogue,
        sealKey,
      });
      closing.push(async () => {
        await commands.close();
        line.cut();
      });
      return { commands, cut: line.cut };
    },
    async close() {
      for (const close of closing) await close();
      await harness.close();
    },
  };
}

/** A TCP line to `address` that can be cut, once. */
async function severableLine(address: string): Promise<{ address: string; cut(): void }> {
  const [host, port] = address.split(':') as [string, string];
  const sockets = new Set<Socket>();
  const keep = (socket: Socket) => {
    sockets.add(socket);
    socket.on('error', () => socket.destroy()).on('close', () => sockets.delete(socket));
    return socket;
  };
  const server = createServer((near) => {
    const far = keep(connect(Number(port), host));
    keep(near).pipe(far).pipe(near);
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  return {
    address: `127.0.0.1:${(server.address() as { port: number }).port}`,
    cut() {
      server.close();
      for (const socket of sockets) socket.destroy();
    },
  };
}

let counter = 0;
/** Arguments of set_device_state that no test has used before, since equal calls are joined or refused. */
export function setting(device: Exclude<keyof typeof DEVICES, 'floor'>): {
  device: string;
  desired: Record<string, number>;
} {
  counter += 1;
  const desired: Record<string, number> = device.endsWith('lamp')
    ? { brightness: 1 + counter }
    : { temperature: Math.round(50 + counter) / 10 };
  return { device, desired };
}
