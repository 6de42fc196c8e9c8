/**
 * Devices that misbehave on demand, over real HTTP: for tests, and for trying Readback without hardware.
 * What is under `/admin` steers them; everything else is for the devices' own clients.
 */
import { createServer, type RequestListener, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { getRequestListener } from '@hono/node-server';
import { createAdmin } from './admin.ts';
import { answer } from './answering.ts';
import type { ClockKind } from './clock.ts';
import type { Device } from './device.ts';
import { loadDevicesFile } from './devices-file.ts';
import { catchUp } from './due.ts';
import { createHouse, type House } from './house.ts';

export interface Simulator {
  /** `http://127.0.0.1:PORT`, without a trailing slash. */
  readonly url: string;
  /** Of the devices with a port of their own. */
  readonly deviceUrls: Readonly<Record<string, string>>;
  /** Ends at once, torn connections included. */
  close(): Promise<void>;
}

export interface SimulatorOptions {
  /** 0 or absent: any free one. */
  readonly port?: number;
  readonly host?: string;
  /** Path of a devices file, or what such a file holds. */
  readonly devices: string | object;
  /** Default `real`. */
  readonly clock?: ClockKind;
}

/** Throws DevicesFileError for a wrong devices file, and what `listen` throws for a port in use. */
export async function startSimulator(options: SimulatorOptions): Promise<Simulator> {
  const house = createHouse(await loadDevicesFile(options.devices), options.clock ?? 'real');
  const host = options.host ?? '127.0.0.1';
  const closing = new AbortController();
  const admin = getRequestListener(createAdmin(house).fetch);
  const devices = devicesListener(house, closing.signal, null);
  const server = createServer((request, response) => {
    if (/^\/admin(\/|$|\?)/.test(request.url ?? '')) void admin(request, response);
    else devices(request, response);
  });
  const port = await listen(server, options.port ?? 0, host);
  const own: OwnPort[] = [];
  const close = async () => {
    closing.abort();
    await Promise.all([stop(server), ...own.map((one) => one.close())]);
  };
  try {
    for (const { device } of house.residents.values())
      if (device.definition.port !== undefined)
        own.push(await openOwnPort(house, device, host, closing.signal));
  } catch (error) {
    await close();
    throw error;
  }
  return {
    url: `http://${inUrl(host)}:${port}`,
    deviceUrls: Object.fromEntries(own.map(({ id, url }) => [id, url])),
    close,
  };
}

function devicesListener(house: House, closing: AbortSignal, only: string | null): RequestListener {
  return (request, response) => {
    answer({ house, request, response, closing, only }).catch((error: unknown) => {
      // The client went away in the middle of its request: nobody is left to answer.
      if (response.destroyed || response.headersSent || closing.aborted) return;
      response.writeHead(500, { 'content-type': 'application/json' });
      response.end(JSON.stringify({ error: `the simulator broke: ${(error as Error).message}` }));
    });
  };
}

interface OwnPort {
  readonly id: string;
  readonly url: string;
  close(): Promise<void>;
}

const LOOK_EVERY_MS = 20;

/** Listens only while the device isn't `down`, so that a request to it then is a refused connection. */
async function openOwnPort(
  house: House,
  device: Device,
  host: string,
  closing: AbortSignal,
): Promise<OwnPort> {
  const { id } = device;
  const open = async (port: number) => {
    const server = createServer(devicesListener(house, closing, id));
    return { server, port: await listen(server, port, host) };
  };
  let { server, port } = await open(device.definition.port ?? 0);
  let listening = true;
  let changing: Promise<void> = Promise.resolve();
  const look = async () => {
    catchUp(device, house.clock.now());
    const wanted = !device.definition.down;
    if (wanted === listening || closing.aborted) return;
    if (wanted) ({ server, port } = await open(port));
    else await stop(server);
    listening = wanted;
  };
  await look();
  const timer = setInterval(() => {
    // Where its port was taken meanwhile, the next look tries again.
    changing = changing.then(look).catch(() => undefined);
  }, LOOK_EVERY_MS);
  return {
    id,
    url: `http://${inUrl(host)}:${port}`,
    async close() {
      clearInterval(timer);
      await changing;
      if (listening) await stop(server);
    },
  };
}

function listen(server: Server, port: number, host: string): Promise<number> {
  return new Promise((resolve, reject) => {
    server.once('error', reject);
    server.listen(port, host, () => resolve((server.address() as AddressInfo).port));
  });
}

async function stop(server: Server): Promise<void> {
  const closed = new Promise<void>((resolve) => server.close(() => resolve()));
  server.closeAllConnections();
  await closed;
}

function inUrl(host: string): string {
  return host.includes(':') ? `[${host}]` : host;
}
