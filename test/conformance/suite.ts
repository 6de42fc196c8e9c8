/** The official conformance suite, as a program of its own. */
import { execFile } from 'node:child_process';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { npmPrograms } from '../npm-programs.ts';

const run = promisify(execFile);
const PACKAGES = join(import.meta.dirname, 'suite');
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
  const { folder: installed, node } = await npmPrograms(PACKAGES, 'conformance');
  // It writes its results into the folder that it runs in.
  const folder = await mkdtemp(join(tmpdir(), 'readback-conformance-'));
  const program = join(installed, '@modelcontextprotocol/conformance/dist/index.js');
  try {
    const { stdout, stderr } = await run(node, [program, 'server', '--url', `${url}/mcp`, ...args], {
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
