/** Ports that stay the same from one start to the next, so that addresses kept elsewhere stay true. */
import { readFileSync } from 'node:fs';
import { createServer } from 'node:net';
import { join } from 'node:path';
import { writeWhole } from '../data-folder.ts';

export interface Ports {
  readonly temporal: number;
  readonly temporalUi: number;
  readonly simulator: number;
}

/** Temporal's usual pair. Whoever else listens there keeps it; we move. */
const PREFERRED: Ports = { temporal: 7233, temporalUi: 8233, simulator: 4100 };

/** The ports of the last start where they are still free, else the usual ones, else free ones; remembered in `dataDir`. */
export async function choosePorts(dataDir: string): Promise<Ports> {
  const remembered = readRemembered(dataDir);
  const [temporal, temporalUi] = (await freePair(remembered.temporal, remembered.temporalUi)) ??
    (await freePair(PREFERRED.temporal, PREFERRED.temporalUi)) ?? [await anyFreePort(), await anyFreePort()];
  const simulator = (await firstFree([remembered.simulator, PREFERRED.simulator])) ?? (await anyFreePort());
  const ports = { temporal, temporalUi, simulator };
  writeWhole(portsFile(dataDir), ports);
  return ports;
}

/** Forgets the ports of `dataDir`: somebody took one of them between our look and our start. */
export function forgetPorts(dataDir: string): void {
  writeWhole(portsFile(dataDir), {});
}

/** Can `host:port` be listened on right now? */
export async function isFree(port: number, host = '127.0.0.1'): Promise<boolean> {
  return (await listenOnce(port, host)) !== undefined;
}

/** A port that is free right now and that no other call got shortly before. */
export async function anyFreePort(host = '127.0.0.1'): Promise<number> {
  const port = await listenOnce(0, host);
  if (port === undefined) throw new Error(`No free port on ${host}.`);
  return port;
}

const portsFile = (dataDir: string): string => join(dataDir, 'ports.json');

function readRemembered(dataDir: string): Partial<Ports> {
  try {
    return JSON.parse(readFileSync(portsFile(dataDir), 'utf8')) as Partial<Ports>;
  } catch {
    return {};
  }
}

async function freePair(
  first: number | undefined,
  second: number | undefined,
): Promise<[number, number] | undefined> {
  if (first === undefined || second === undefined) return undefined;
  return (await isFree(first)) && (await isFree(second)) ? [first, second] : undefined;
}

async function firstFree(ports: readonly (number | undefined)[]): Promise<number | undefined> {
  for (const port of ports) if (port !== undefined && (await isFree(port))) return port;
  return undefined;
}

/** The port that was listened on for a moment; undefined when it is taken. */
function listenOnce(port: number, host: string): Promise<number | undefined> {
  return new Promise((resolve) => {
    const server = createServer();
    server.once('error', () => resolve(undefined));
    server.listen({ port, host, exclusive: true }, () => {
      const address = server.address();
      server.close(() => resolve(typeof address === 'object' ? address?.port : undefined));
    });
  });
}
