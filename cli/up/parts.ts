/** The processes of `up`: how each is started, and on which ports. */

import { resolve } from 'node:path';
import type { Holder } from '../data-folder.ts';
import type { UpFlags } from '../flags.ts';
import { packageFile } from '../package-root.ts';
import { type Part, startPart } from './part.ts';
import { createPartLog } from './part-log.ts';
import { areFree, chooseSimulatorPort, chooseTemporalPorts, isFree } from './ports.ts';
import { fetchTemporal, installedTemporal } from './temporal-program.ts';
import { startTemporalServer } from './temporal-server.ts';

/** What every step of the start needs to know. */
export interface Start {
  readonly flags: UpFlags;
  readonly dataDir: string;
  readonly catalogue: string;
  readonly namespace: string;
  readonly say: (text: string) => void;
  /** Aborted when the start is given up: nothing more may be started then. */
  readonly signal: AbortSignal;
  /** Those that run, in the order in which they were started. */
  readonly parts: Part[];
  readonly remember: (news: Partial<Holder>) => void;
}

/** Our own Temporal, found or fetched. Resolves once it listens. */
export async function startTemporal(
  start: Start,
): Promise<{ readonly address: string; readonly ui: string }> {
  const { dataDir, namespace, say, signal, remember } = start;
  const program = (await installedTemporal(dataDir, say)) ?? (await fetchTemporal(dataDir, say, signal));
  const log = createPartLog(dataDir, 'temporal', () => {});
  const onProcess = (temporalProcess: Holder['temporalProcess']): void => remember({ temporalProcess });
  const { server, ui } = await startOnFreePorts(start, {
    choose: () => chooseTemporalPorts(dataDir),
    areFree,
    launch: (ports) =>
      startTemporalServer({ program: program.file, dataDir, namespace, ports, log, say, onProcess }),
  });
  const address = `127.0.0.1:${server}`;
  say(`Temporal ${program.version} (${program.found}) on ${address}, its data in ${dataDir}`);
  return { address, ui: `http://127.0.0.1:${ui}` };
}

/** Resolves once it listens, to its URL. */
export async function startSimulator(start: Start): Promise<string> {
  const devices = start.flags.simulatorDevices;
  const port = await startOnFreePorts(start, {
    choose: () => chooseSimulatorPort(start.dataDir),
    areFree: isFree,
    launch: (chosen) =>
      roleOf(start, 'simulator', [
        ...['--port', String(chosen)],
        ...(devices === undefined ? [] : ['--devices', resolve(devices)]),
      ]),
  });
  return `http://127.0.0.1:${port}`;
}

/** One of our own processes, by the name of its command. */
export function startRole(start: Start, role: string, args: readonly string[]): void {
  start.signal.throwIfAborted();
  start.parts.push(roleOf(start, role, args));
}

function roleOf({ dataDir, say }: Start, role: string, args: readonly string[]): Part {
  return startPart({
    name: role,
    argv: [packageFile('bin/readback.mjs'), role, ...args],
    log: createPartLog(dataDir, role, (text) => say(`${role}: ${text}`)),
    say,
    isReady: (message) => (message as { ready?: unknown }).ready === true,
  });
}

const TRIES = 3;

/** Ports are chosen free, but somebody may take one in the moment before our part does: then others are chosen. */
async function startOnFreePorts<Ports>(
  { parts, signal }: Start,
  step: {
    readonly choose: () => Promise<Ports>;
    readonly areFree: (ports: Ports) => Promise<boolean>;
    readonly launch: (ports: Ports) => Part;
  },
): Promise<Ports> {
  for (let triesLeft = TRIES; ; triesLeft -= 1) {
    const ports = await step.choose();
    signal.throwIfAborted();
    const part = step.launch(ports);
    parts.push(part);
    try {
      await part.ready;
      return ports;
    } catch (error) {
      if (triesLeft === 1 || (await step.areFree(ports))) throw error;
      parts.splice(parts.indexOf(part), 1);
    }
  }
}

export function engineArguments(
  { dataDir, catalogue, namespace }: Start,
  address: string,
  simulatorUrl: string | null,
) {
  return [
    ...['--temporal', address, '--namespace', namespace],
    ...['--catalogue', catalogue, '--data-dir', dataDir],
    ...(simulatorUrl === null ? [] : ['--simulator-url', simulatorUrl]),
  ];
}

export function servingArguments(flags: UpFlags, mcpPort: number, temporalUi: string | null): string[] {
  return [
    ...['--port', String(mcpPort), '--host', flags.host],
    ...['--task-grace', `${flags.taskGrace}ms`, '--sync-wait', `${flags.syncWait}ms`],
    ...(flags.approval ? ['--approval', flags.approval] : []),
    ...(flags.deviceHeader ? ['--device-header'] : []),
    ...(flags.approvers === undefined ? [] : ['--approvers', flags.approvers]),
    ...(flags.consoleUrl === undefined ? [] : ['--console-url', flags.consoleUrl]),
    ...(flags.authIssuer === undefined ? [] : ['--auth-issuer', flags.authIssuer]),
    ...(flags.authAudience === undefined ? [] : ['--auth-audience', flags.authAudience]),
    ...(flags.authSubjectClaim === undefined ? [] : ['--auth-subject-claim', flags.authSubjectClaim]),
    ...(flags.consoleClientId === undefined ? [] : ['--console-client-id', flags.consoleClientId]),
    ...(flags.anyoneMayCommand ? ['--anyone-may-command'] : []),
    ...(temporalUi === null ? [] : ['--temporal-ui', temporalUi]),
  ];
}
