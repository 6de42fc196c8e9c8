/** The composition root of `up`: in which order what starts, and that all of it ends. */
import { appendFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { requireApprovers } from '../approvers-file.ts';
import { readingUsable, readOnce } from '../catalogue-file.ts';
import { catalogueFile } from '../catalogue-path.ts';
import { type Holder, leaveDataFolder, type Ready, takeDataFolder, updateHolder } from '../data-folder.ts';
import { EXIT, Failure } from '../failure.ts';
import { ANY_ADDRESS, type UpFlags } from '../flags.ts';
import { onHangUp } from '../hang-up.ts';
import { processIdentity } from '../process-identity.ts';
import { ensureSealKey } from '../seal-key.ts';
import { requireSignIn } from '../sign-in.ts';
import type { Part } from './part.ts';
import {
  engineArguments,
  type Start,
  servingArguments,
  startRole,
  startSimulator,
  startTemporal,
} from './parts.ts';
import { anyFreePort, isFree } from './ports.ts';
import { endOrphan } from './temporal-server.ts';

/** Runs until Ctrl-C, SIGTERM or the end of its terminal. Throws a `Failure`, with nothing left running, when it can't start. */
export async function runUp(flags: UpFlags): Promise<void> {
  const asked = stopRequest();
  const dataDir = resolve(flags.dataDir);
  const catalogue = catalogueFile(flags.catalogue);
  let mine = newHolder(catalogue);
  const dead = takeDataFolder(dataDir, mine);
  const remember = (news: Partial<Holder>): void => updateHolder(dataDir, (mine = { ...mine, ...news }));
  const say = speaker(dataDir);
  const parts: Part[] = [];
  onHangUp(() => parts.filter(followsCatalogue).forEach((part) => part.hangUp()), asked.signal);
  try {
    await endOrphan(dead?.temporalProcess ?? null, say);
    const namespace = flags.namespace ?? 'default';
    const start = { flags, dataDir, catalogue, namespace, say, signal: asked.signal, parts, remember };
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

const followsCatalogue = ({ name }: Part): boolean => name === 'worker' || name === 'serve';

/** Stands for the simulator's while only the form of the catalogue matters. */
const SOME_URL = 'http://127.0.0.1';

async function startAll(start: Start): Promise<Ready> {
  const { flags, dataDir, parts } = start;
  requireSignIn(flags, start.say);
  ensureSealKey(dataDir);
  // Every problem of the catalogue is told before anything runs. Where the simulator will listen is no part of it yet.
  const { simulatorUrl: elsewhere = null } = flags;
  const url = flags.simulator ? SOME_URL : elsewhere;
  const catalogue = await readOnce(readingUsable(start.catalogue, url), start.say);
  requireApprovers(catalogue, flags, start.say);
  const mcpPort = await portForMcp(flags);

  const [{ address, ui }, simulatorUrl, { prepareNamespace }] = await Promise.all([
    flags.temporal === undefined ? startTemporal(start) : { address: flags.temporal, ui: null },
    flags.simulator ? startSimulator(start) : elsewhere,
    // Loaded only now, while the first processes start.
    import('../namespace.ts'),
  ]);
  start.remember({ simulatorUrl });
  await prepareNamespace({
    address,
    namespace: start.namespace,
    ours: flags.temporal === undefined,
    say: start.say,
  });

  const engine = engineArguments(start, address, simulatorUrl);
  // Nobody can open the address that means "all of them"; on this machine its loopback answers.
  const host = ANY_ADDRESS.includes(flags.host) ? '127.0.0.1' : flags.host;
  const origin = `http://${host.includes(':') ? `[${host}]` : host}:${mcpPort}`;
  const consoleUrl = flags.consoleUrl ?? `${origin}/`;
  startRole(start, 'worker', [...engine, '--console-url', consoleUrl]);
  startRole(start, 'serve', [...engine, ...servingArguments(flags, mcpPort, ui)]);
  await Promise.all(parts.map((part) => part.ready));

  return {
    mcp: `${origin}/mcp`,
    console: consoleUrl,
    temporalUi: ui,
    temporal: address,
    namespace: start.namespace,
  };
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
    const signals = ['SIGINT', 'SIGTERM'] as const;
    for (const signal of process.stdin.isTTY ? ([...signals, 'SIGHUP'] as const) : signals) {
      process.on(signal, () => {
        if (controller.signal.aborted) process.exit(EXIT.endedBadly);
        controller.abort();
        resolve('asked');
      });
    }
  });
  return { promise, signal: controller.signal };
}
