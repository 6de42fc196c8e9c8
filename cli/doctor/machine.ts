/** Checks of this machine: Node, the data folder, the Temporal program, the MCP port. */
import { accessSync, constants, existsSync } from 'node:fs';
import { dirname } from 'node:path';
import { type Holder, runningUp } from '../data-folder.ts';
import { EXIT } from '../failure.ts';
import { isFree } from '../up/ports.ts';
import { installedTemporal } from '../up/temporal-program.ts';
import { type Finding, fine, problem, warning } from './finding.ts';

/** An older one than Readback runs on has been turned away before this. */
export const checkNode = (): Finding => fine('node', process.version);

/** `dataDir` is absolute. */
export function checkDataFolder(dataDir: string): Finding {
  const existing = nearestExisting(dataDir);
  try {
    accessSync(existing, constants.W_OK);
  } catch {
    const mend = 'Make it writable, or choose another one with --data-dir.';
    return problem('data folder', EXIT.usage, `${existing} can't be written to`, mend);
  }
  return fine(
    'data folder',
    existing === dataDir ? dataDir : `${dataDir} (made by the first \`readback up\`)`,
  );
}

export function checkUp(dataDir: string): { readonly finding: Finding; readonly up: Holder | undefined } {
  const up = runningUp(dataDir);
  if (up?.ready)
    return { finding: fine('up', `process ${up.pid} since ${up.startedAt}, MCP at ${up.ready.mcp}`), up };
  if (up) {
    const mend = 'Wait for its ready line; what takes so long is in logs/up.log of the data folder.';
    return { finding: warning('up', `process ${up.pid} is still starting`, mend), up };
  }
  return { finding: warning('up', `none runs on ${dataDir}`, 'Start one with `readback up`.'), up };
}

export async function checkTemporalProgram(dataDir: string): Promise<Finding> {
  const passedOver: string[] = [];
  const program = await installedTemporal(dataDir, (text) => passedOver.push(text));
  if (program) return fine('temporal program', `${program.version} ${program.found}: ${program.file}`);
  const mend = '`readback up` fetches one by itself; or install it: https://docs.temporal.io/cli';
  return warning('temporal program', ['none found', ...passedOver].join('. '), mend);
}

export async function checkPort(port: number, host: string, up: Holder | undefined): Promise<Finding> {
  const answers = up?.ready ? await isReadback(new URL('/healthz', up.ready.mcp)) : undefined;
  if (answers === true) return fine('mcp server', `answers at ${up?.ready?.mcp}`);
  if (answers === false) {
    const mend = 'See logs/serve.log in the data folder.';
    return problem('mcp server', EXIT.endedBadly, `${up?.ready?.mcp} doesn't answer`, mend);
  }
  if (await isFree(port, host)) return fine('mcp port', `${port} is free`);
  const other = await isReadback(new URL(`http://${host}:${port}/healthz`));
  const who = other ? 'another Readback (on another data folder)' : 'another program';
  return warning(
    'mcp port',
    `${host}:${port} is taken by ${who}`,
    'Start `readback up` with another --port.',
  );
}

async function isReadback(url: URL): Promise<boolean> {
  try {
    // It answers within two seconds, also where it can't reach Temporal.
    const response = await fetch(url, { signal: AbortSignal.timeout(3_000) });
    return typeof ((await response.json()) as { ok?: unknown }).ok === 'boolean';
  } catch {
    return false;
  }
}

function nearestExisting(folder: string): string {
  return existsSync(folder) ? folder : nearestExisting(dirname(folder));
}
