/** The Temporal server of `up`: our own, with its data on disk. */
import { mkdirSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { fileURLToPath } from 'node:url';
import { type Holder } from '../data-folder.ts';
import { processIdentity } from '../process-identity.ts';
import { type Part, startPart } from './part.ts';
import type { PartLog } from './part-log.ts';
import type { TemporalPorts } from './ports.ts';

const GUARD = fileURLToPath(new URL('./guard.mjs', import.meta.url));
const END_WITHIN_MS = 10_000;

export interface TemporalServerOptions {
  readonly program: string;
  readonly dataDir: string;
  readonly namespace: string;
  readonly ports: TemporalPorts;
  readonly log: PartLog;
  readonly say: (text: string) => void;
  /** Called with each server process that was started. */
  readonly onProcess: (server: Holder['temporalProcess']) => void;
}

/** Starts the server; `ready` of the result means that it has its ports and listens. */
export function startTemporalServer(options: TemporalServerOptions): Part {
  mkdirSync(options.dataDir, { recursive: true });
  let server: Holder['temporalProcess'] = null;
  return startPart({
    name: 'temporal',
    argv: [GUARD],
    log: options.log,
    say: options.say,
    onSpawn: (guard) =>
      guard.send({ program: options.program, args: serverArguments(options), env: environment() }),
    isReady: (message) => {
      const { pid, serving } = message as { pid?: number; serving?: boolean };
      if (pid !== undefined) {
        server = { pid, identity: processIdentity(pid) ?? '' };
        options.onProcess(server);
      }
      return serving === true;
    },
    // The guard may have been killed alone: then the server it guarded still holds the database.
    onDeath: () => signalServer(server, 'SIGKILL'),
  });
}

/** Ends the server of an `up` whose every process but this one was killed. It would hold the database and the ports. */
export async function endOrphan(
  orphan: Holder['temporalProcess'],
  say: (text: string) => void,
): Promise<void> {
  if (!signalServer(orphan, 'SIGTERM')) return;
  say(
    `Ending the Temporal server that an earlier, killed \`readback up\` left behind (process ${orphan?.pid}).`,
  );
  const giveUpAt = Date.now() + END_WITHIN_MS;
  while (signalServer(orphan, 0) && Date.now() < giveUpAt) {
    await new Promise((wake) => setTimeout(wake, 100));
  }
  signalServer(orphan, 'SIGKILL');
}

/** false: that very process doesn't run any more. */
function signalServer(server: Holder['temporalProcess'], signal: NodeJS.Signals | 0): boolean {
  if (!server || processIdentity(server.pid) !== server.identity) return false;
  try {
    return process.kill(server.pid, signal);
  } catch {
    return false;
  }
}

function serverArguments({ dataDir, namespace, ports }: TemporalServerOptions): string[] {
  return [
    ...['server', 'start-dev', '--ip', '127.0.0.1'],
    ...['--port', String(ports.server), '--ui-port', String(ports.ui)],
    ...['--db-filename', resolve(join(dataDir, 'temporal.db'))],
    // What has been acknowledged survives a loss of power, and writes don't wait for readers.
    ...['--sqlite-pragma', 'journal_mode=wal', '--sqlite-pragma', 'synchronous=full'],
    ...(namespace === 'default' ? [] : ['--namespace', namespace]),
    ...['--log-level', 'warn', '--log-format', 'json'],
  ];
}

/** TEMPORAL_… variables are meant for Temporal's clients; the server program would read them too. */
function environment(): Record<string, string | undefined> {
  return Object.fromEntries(Object.entries(process.env).filter(([name]) => !name.startsWith('TEMPORAL_')));
}
