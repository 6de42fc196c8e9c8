/** Ports that stay the same from one start to the next, so that addresses kept elsewhere stay true. */
import { readFileSync } from 'node:fs';
import { createServer } from 'node:net';
import { join } from 'node:path';
import { writeWhole } from '../data-folder.ts';

export interface TemporalPorts {
  readonly server: number;
  readonly ui: number;
}

interface Remembered {
  readonly temporal?: TemporalPorts;
  readonly simulator?: number;
}

/** Temporal's usual pair. Whoever else listens there keeps it; we move. */
const USUAL: TemporalPorts = { server: 7233, ui: 8233 };
const USUAL_SIMULATOR = 4100;

/** The pair of the last start where it is still free, else the usual one, else a free one; remembered in `dataDir`. */
export async function chooseTemporalPorts(dataDir: string): Promise<TemporalPorts> {
  const remembered = readRemembered(dataDir);
  for (const pair of [remembered.temporal, USUAL]) {
    if (pair && (await areFree(pair))) return rememberTemporal(dataDir, pair);
  }
  return rememberTemporal(dataDir, { server: await anyFreePort(), ui: await anyFreePort() });
}

export async function areFree({ server, ui }: TemporalPorts): Promise<boolean> {
  return (await isFree(server)) && (await isFree(ui));
}

function rememberTemporal(dataDir: string, temporal: TemporalPorts): TemporalPorts {
  writeWhole(portsFile(dataDir), { ...readRemembered(dataDir), temporal } satisfies Remembered);
  return temporal;
}

/** As `chooseTemporalPorts`. */
export async function chooseSimulatorPort(dataDir: string): Promise<number> {
  const remembered = readRemembered(dataDir);
  const candidates = [remembered.simulator, USUAL_SIMULATOR].filter((port) => port !== undefined);
  const free = await Promise.all(candidates.map((port) => isFree(port)));
  const simulator = candidates.find((_, index) => free[index]) ?? (await anyFreePort());
  writeWhole(portsFile(dataDir), { ...readRemembered(dataDir), simulator } satisfies Remembered);
  return simulator;
}

/** Can `host:port` be listened on right now? */
export async function isFree(port: number, host = '127.0.0.1'): Promise<boolean> {
  return (await listenOnce(port, host)) !== undefined;
}

/** A port that is free right now. */
export async function anyFreePort(host = '127.0.0.1'): Promise<number> {
  const port = await listenOnce(0, host);
  if (port === undefined) throw new Error(`No port of ${host} can be listened on.`);
  return port;
}

const portsFile = (dataDir: string): string => join(dataDir, 'ports.json');

function readRemembered(dataDir: string): Remembered {
  try {
    return JSON.parse(readFileSync(portsFile(dataDir), 'utf8')) as Remembered;
  } catch {
    return {};
  }
}

/** The port that was listened on for a moment; undefined when it is taken, or `host` isn't ours. */
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
