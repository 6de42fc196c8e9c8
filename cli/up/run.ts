/** The composition root of `up`: in which order what starts, and that all of it ends. */
import { appendFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { readCatalogue } from '../catalogue-file.ts';
import { catalogueFile } from '../catalogue-path.ts';
import { type Holder, leaveDataFolder, type Ready, takeDataFolder, updateHolder } from '../data-folder.ts';
import { EXIT, Failure } from '../failure.ts';
import type { EngineFlags, ListenFlags, ServingFlags } from '../flags.ts';
import { packageFile } from '../package-root.ts';
import { processIdentity } from '../process-identity.ts';
import { ensureSealKey } from '../seal-key.ts';
import { prepareNamespace } from './namespace.ts';
import { type Part, startPart } from './part.ts';
import { createPartLog } from './part-log.ts';
import { anyFreePort, choosePorts, isFree, type Ports } from './ports.ts';
import { fetchTemporal, installedTemporal } from './temporal-program.ts';
import { endOrphan, startTemporalServer } from './temporal-server.ts';

export interface UpFlags extends EngineFlags, ListenFlags, ServingFlags {
  readonly simulator: boolean;
}

/** What every step of the start needs to know. */
interface Start {
  readonly flags: UpFlags;
  readonly dataDir: string;
  readonly catalogue: string;
  readonly namespace: string;
  readonly ports: Ports;
  readonly say: (text: string) => void;
  readonly signal: AbortSignal;
  /** In the order in which they were started. */
  readonly parts: Part[];
  readonly remember: (news: Partial<Holder>) => void;
}

/** Runs until Ctrl-C, SIGTERM or SIGHUP. Throws a `Failure`, with nothing left running, when it can't start. */
export async function runUp(flags: UpFlags): Promise<void> {
  const asked = stopRequest();
  const dataDir = resolve(flags.dataDir);
  const catalogue = catalogueFile(flags.catalogue);
  let mine = newHolder(catalogue);
  const dead = takeDataFolder(dataDir, mine);
  const remember = (news: Partial<Holder>): void => updateHolder(dataDir, (mine = { ...mine, ...news }));
  const say = speaker(dataDir);
  const parts: Part[] = [];
  try {
    await endOrphan(dead?.temporalProcess ?? null, say);
    const ports = await choosePorts(dataDir);
    const namespace = flags.namespace ?? 'default';
    const start = { flags, dataDir, catalogue, namespace, ports, say, signal: asked.signal, parts, remember };
    const ready = await Promise.race([startAll(start), asked.promise]);
    if (ready !== 'asked') {
      remember({ ready });
      process.stdout.write(flags.json ? `${JSON.stringify({ ready: true, ...ready })}\n` : readyLine(ready));
      await asked.promise;
    }
    say('Stopping. Commands under way go on at the next start.');
  } finally {
    for (const part of parts.reverse()) await part.stop();
    leaveDataFolder(dataDir);
  }
  process.exit(EXIT.asAsked);
}

async function startAll(start: Start): Promise<Ready> {
  const { flags, ports, parts } = start;
  ensureSealKey(start.dataDir);
  const mcpPort = await portForMcp(flags);
  const simulatorUrl = flags.simulator ? `http://127.0.0.1:${ports.simulator}` : (flags.simulatorUrl ?? null);
  start.remember({ simulatorUrl });
  // Every problem of the catalogue is told before anything runs.
  await readCatalogue(start.catalogue, simulatorUrl, start.say);

  const address = flags.temporal ?? (await startTemporal(start));
  const simulator = flags.simulator
    ? [startRole(start, 'simulator', ['--port', String(ports.simulator)])]
    : [];
  parts.push(...simulator);
  await prepareNamespace({
    address,
    namespace: start.namespace,
    ours: flags.temporal === undefined,
    say: start.say,
  });

  const engine = engineArguments(start, address, simulatorUrl);
  parts.push(startRole(start, 'worker', engine));
  parts.push(startRole(start, 'serve', [...engine, ...servingArguments(flags, mcpPort)]));
  await Promise.all(parts.map((part) => part.ready));

  const origin = `http://${flags.host.includes(':') ? `[${flags.host}]` : flags.host}:${mcpPort}`;
  const temporalUi = flags.temporal === undefined ? `http://127.0.0.1:${ports.temporalUi}` : null;
  return {
    mcp: `${origin}/mcp`,
    console: `${origin}/`,
    temporalUi,
    temporal: address,
    namespace: start.namespace,
  };
}

/** Our own Temporal; resolves to its address as soon as its process runs. */
async function startTemporal({
  dataDir,
  namespace,
  ports,
  say,
  signal,
  parts,
  remember,
}: Start): Promise<string> {
  const program = (await installedTemporal(dataDir, say)) ?? (await fetchTemporal(dataDir, say, signal));
  say(
    `Temporal ${program.version} (${program.found}) on 127.0.0.1:${ports.temporal}, its data in ${dataDir}`,
  );
  const server = startTemporalServer({
    program: program.file,
    dataDir,
    namespace,
    ports,
    log: createPartLog(dataDir, 'temporal', () => {}),
    say,
    onProcess: (temporalProcess) => remember({ temporalProcess }),
  });
  parts.push(server);
  await server.ready;
  return `127.0.0.1:${ports.temporal}`;
}

function startRole({ dataDir, say }: Start, role: string, args: readonly string[]): Part {
  return startPart({
    name: role,
    argv: [packageFile('bin/readback.mjs'), role, ...args],
    log: createPartLog(dataDir, role, (text) => say(`${role}: ${text}`)),
    say,
    isReady: (message) => (message as { ready?: unknown }).ready === true,
  });
}

function engineArguments(
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

function servingArguments(flags: UpFlags, mcpPort: number): string[] {
  return [
    ...['--port', String(mcpPort), '--host', flags.host],
    ...['--task-grace', `${flags.taskGrace}ms`, '--sync-wait', `${flags.syncWait}ms`],
    ...(flags.approval ? ['--approval', flags.approval] : []),
    ...(flags.deviceHeader ? ['--device-header'] : []),
  ];
}

/** Agents know this port: it is never changed behind their back. */
async function portForMcp({ port, host }: UpFlags): Promise<number> {
  if (port === 0) return anyFreePort(host);
  if (await isFree(port, host)) return port;
  throw new Failure(
    EXIT.usage,
    `Can't listen on ${host}:${port}: another program uses that port, or ${host} is no address of this machine. ` +
      'Nothing was started. Choose another one with --port (0: any free one) or --host.',
  );
}

function newHolder(catalogue: string): Holder {
  return {
    pid: process.pid,
    identity: processIdentity(process.pid) ?? '',
    startedAt: new Date().toISOString(),
    catalogue,
    simulatorUrl: null,
    temporalProcess: null,
    ready: null,
  };
}

const readyLine = ({ mcp, console, temporalUi, temporal }: Ready): string =>
  `ready  MCP ${mcp}  console ${console}  Temporal ${temporalUi ?? temporal}\n`;

/** Progress and warnings: to stderr for people, and kept. */
function speaker(dataDir: string): (text: string) => void {
  const file = join(dataDir, 'logs', 'up.log');
  return (text) => {
    process.stderr.write(`${text}\n`);
    appendFileSync(file, `${new Date().toISOString()} ${text}\n`);
  };
}

/** The first Ctrl-C ends everything in order; the second one at once (the parts notice and end by themselves). */
function stopRequest(): { readonly promise: Promise<'asked'>; readonly signal: AbortSignal } {
  const controller = new AbortController();
  const promise = new Promise<'asked'>((resolve) => {
    for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) {
      process.on(signal, () => {
        if (controller.signal.aborted) process.exit(EXIT.endedBadly);
        controller.abort();
        resolve('asked');
      });
    }
  });
  return { promise, signal: controller.signal };
}
