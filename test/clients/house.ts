/** Devices for every row and situation, and an MCP server for each row that is overheard: over HTTP, or as the client's own child. */
import { once } from 'node:events';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { type AddressInfo, createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { createHttpApp, serveHttp } from '../../mcp-server/http.ts';
import { DEFAULT_OPTIONS } from '../../mcp-server/options.ts';
import { requestStateKey } from '../../mcp-server/request-state-key.ts';
import { type Harness, startReadback } from '../harness/readback.ts';
import { type Conversation, conversation, overheard } from './conversation.ts';
import type { Row } from './rows.ts';

const BIN = join(import.meta.dirname, '../../bin/readback.mjs');
const TAP = join(import.meta.dirname, 'programs/stdio-tap.mjs');

/**
 * How long calls are kept waiting, whether for a task or an answer. `patient`: longer than anything takes on a busy
 * machine. `hasty`: for what takes longer than any call.
 */
const WAIT_MS = { patient: 45_000, hasty: 2_000 } as const;
export type Patience = keyof typeof WAIT_MS;

/** What each situation's device is in simulator and catalogue, besides what all have. */
const DEVICES = {
  quick: { simulated: {}, entry: '' },
  slow: { simulated: { ignores: true }, entry: 'settle: { within: 3m, lag: 2m }' },
  requester: { simulated: {}, entry: 'tags: [requester]' },
  operator: { simulated: {}, entry: 'tags: [operator]' },
  missing: { simulated: {}, entry: '' },
  cancelled: { simulated: { ignores: true }, entry: 'settle: { within: 3m, lag: 2m }' },
  dead: { simulated: { ignores: true }, entry: 'settle: { within: 1s }' },
} as const;
export type Situation = keyof typeof DEVICES;
export const SITUATIONS = Object.keys(DEVICES) as Situation[];

export interface MatrixHouse {
  readonly harness: Harness;
  serve(row: Row, patience: Patience): Promise<RowServer>;
  close(): Promise<void>;
}

export type Endpoint =
  | { readonly url: string; readonly headers: Readonly<Record<string, string>> }
  | { readonly command: string; readonly args: readonly string[] };

export interface RowServer {
  readonly endpoint: Endpoint;
  readonly conversation: Conversation;
  close(): Promise<void>;
}

export const rowName = ({ client, era, transport, person }: Row): string =>
  `${client}-${era}-${transport}-${person}`;
export const deviceOf = (row: Row, situation: Situation): string => `${rowName(row)}-${situation}`;

export async function openMatrixHouse(rows: readonly Row[]): Promise<MatrixHouse> {
  const devices = rows.flatMap((row) => SITUATIONS.map((situation) => ({ row, situation })));
  const catalogue = catalogueOf(devices);
  const harness = await startReadback({
    catalogue,
    devices: Object.fromEntries(
      devices.map(({ row, situation }) => [
        deviceOf(row, situation),
        { state: { low: 18, high: 25 }, ...DEVICES[situation].simulated },
      ]),
    ),
  });
  const folder = await mkdtemp(join(tmpdir(), 'readback-clients-'));
  const file = join(folder, 'readback.yaml');
  await writeFile(file, catalogue);
  return {
    harness,
    serve: (row, patience) =>
      row.transport === 'http'
        ? serveOverHttp(harness, row, WAIT_MS[patience])
        : serveOverStdio(harness, row, WAIT_MS[patience], { folder, file }),
    async close() {
      await harness.close();
      await rm(folder, { recursive: true });
    },
  };
}

function catalogueOf(devices: readonly { readonly row: Row; readonly situation: Situation }[]): string {
  const entries = devices.map(({ row, situation }) => {
    const id = deviceOf(row, situation);
    const { entry } = DEVICES[situation];
    const profile = situation === 'missing' ? 'range' : 'thermostat';
    return `  ${id}: { profile: ${profile}, with: { id: ${id} }${entry === '' ? '' : `, ${entry}`} }`;
  });
  return `
version: 1
connections: { house: { kind: http, baseUrl: "simulator:" } }
profiles:
  thermostat:
    connection: house
    params: { id: required }
    send: { request: "PUT /devices/{id}", repeatable: true }
    read: "GET /devices/{id}"
    settle: { first: 100ms, every: 200ms, within: 20s, stable: 300ms }
    fields: { low: { type: celsius, min: 5, max: 30 }, high: { type: celsius, min: 10, max: 35 } }
  range: { extends: thermostat, fields: { low: { requires: [high] } } }
devices:
${entries.join('\n')}
approvals:
  - { for: { tag: requester }, by: requester, expires: 5m }
  - { for: { tag: operator }, by: operator, expires: 5m }
`;
}

async function serveOverHttp(harness: Harness, { person }: Row, waitMs: number): Promise<RowServer> {
  const heard = conversation();
  const app = createHttpApp({
    commands: harness.commands,
    options: {
      ...DEFAULT_OPTIONS,
      taskGraceMs: waitMs,
      syncWaitMs: waitMs,
      stateKey: requestStateKey(harness.sealKey),
    },
    onError: (error) => {
      throw error;
    },
  });
  const { url, close } = await serveHttp(overheard(app, heard), { host: '127.0.0.1', port: 0 });
  const headers: Readonly<Record<string, string>> =
    person === 'unattended' ? { 'Readback-Approval': 'queue' } : {};
  return { endpoint: { url: `${url}/mcp`, headers }, conversation: heard, close };
}

/** The client starts `readback stdio` itself; between the two stands a tap. */
async function serveOverStdio(
  harness: Harness,
  row: Row,
  waitMs: number,
  { folder, file: catalogue }: { readonly folder: string; readonly file: string },
): Promise<RowServer> {
  const heard = conversation();
  const taps = createServer((socket) => {
    createInterface({ input: socket }).on('line', (line) => {
      const { from, text } = JSON.parse(line) as { from: 'client' | 'server'; text: string };
      heard.hear(from, text);
    });
  }).listen(0, '127.0.0.1');
  await once(taps, 'listening');
  const flags = {
    temporal: harness.temporal.address,
    catalogue,
    'data-dir': folder,
    'simulator-url': harness.simulatorUrl,
    'task-grace': `${waitMs}ms`,
    'sync-wait': `${waitMs}ms`,
    ...(row.person === 'unattended' && { approval: 'queue' }),
  };
  const told = {
    port: (taps.address() as AddressInfo).port,
    command: process.execPath,
    args: [BIN, 'stdio', ...Object.entries(flags).flatMap(([name, value]) => [`--${name}`, value])],
    env: { READBACK_SEAL_KEY: Buffer.from(harness.sealKey).toString('base64') },
  };
  const file = join(folder, `${rowName(row)}-${waitMs}.json`);
  await writeFile(file, JSON.stringify(told));
  return {
    endpoint: { command: process.execPath, args: [TAP, file] },
    conversation: heard,
    close: async () => {
      taps.close();
    },
  };
}
