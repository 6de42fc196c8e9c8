/** Runs the `readback` command as its users do: as a process of its own. */
import { type ChildProcess, execFileSync, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, readFileSync, rmSync, symlinkSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { delimiter, join } from 'node:path';
import { after } from 'node:test';
import { temporalProgram } from '../temporal-program.ts';

const BIN = join(import.meta.dirname, '..', '..', 'bin', 'readback.mjs');
const READY_WITHIN_MS = 60_000;

export interface Ended {
  readonly code: number | null;
  readonly stdout: string;
  readonly stderr: string;
}

export interface Options {
  readonly env?: Readonly<Record<string, string>>;
  readonly cwd?: string;
}

export async function readback(args: readonly string[], options: Options = {}): Promise<Ended> {
  return await endOf(start(args, options));
}

export function start(args: readonly string[], { env = {}, cwd = tmpdir() }: Options = {}): ChildProcess {
  return spawn(process.execPath, [BIN, ...args], {
    cwd,
    env: { ...withoutOurVariables(), ...env },
    stdio: ['ignore', 'pipe', 'pipe'],
  });
}

export async function endOf(child: ChildProcess): Promise<Ended> {
  let stdout = '';
  let stderr = '';
  child.stdout?.setEncoding('utf8').on('data', (chunk: string) => (stdout += chunk));
  child.stderr?.setEncoding('utf8').on('data', (chunk: string) => (stderr += chunk));
  const code = await new Promise<number | null>((resolve) => child.once('close', resolve));
  return { code, stdout, stderr };
}

export interface Up {
  readonly process: ChildProcess;
  readonly ready: {
    readonly ready: boolean;
    readonly mcp: string;
    readonly console: string;
    readonly temporalUi: string;
    readonly temporal: string;
  };
  /** Everything it has said so far. */
  readonly said: () => { readonly stdout: string; readonly stderr: string };
  readonly ended: Promise<number | null>;
}

/** What a failed test leaves running ends with its file, or with this process where that is cut off. */
const running = new Set<ChildProcess>();
const endRunning = (): void => running.forEach((up) => up.kill('SIGKILL'));
after(endRunning);
process.once('exit', endRunning);
process.once('SIGTERM', () => process.exit(1));

/** `readback up --json` on free ports; resolves with its ready line, rejects with what it said instead. */
export async function startUp(
  dataDir: string,
  args: readonly string[] = [],
  options: Options = {},
): Promise<Up> {
  const up = start(['up', '--json', '--port', '0', '--data-dir', dataDir, ...args], {
    ...options,
    env: { PATH: await pathWithTemporal(), ...options.env },
  });
  running.add(up);
  let stdout = '';
  let stderr = '';
  up.stderr?.setEncoding('utf8').on('data', (chunk: string) => (stderr += chunk));
  const ended = new Promise<number | null>((resolve) => up.once('close', resolve));
  void ended.then(() => running.delete(up));
  await new Promise<void>((resolve, reject) => {
    const fail = (why: string): void => reject(new Error(`${why}: ${stdout}${stderr}`));
    const late = setTimeout(() => fail('not ready in time'), READY_WITHIN_MS);
    up.stdout?.setEncoding('utf8').on('data', (chunk: string) => {
      stdout += chunk;
      if (stdout.includes('\n')) resolve();
    });
    void ended.then((code) => fail(`ended with ${code}`));
    void Promise.race([ended, once(up.stdout!, 'data')]).finally(() => clearTimeout(late));
  });
  const ready = JSON.parse(stdout) as Up['ready'];
  // A failure is told on stdout too.
  if (!ready.ready) throw new Error(`did not start: ${stdout}${stderr}`);
  return { process: up, ready, said: () => ({ stdout, stderr }), ended };
}

/** PATH with a `temporal` on it, so that no `up` has to fetch one. */
async function pathWithTemporal(): Promise<string> {
  const { file, found } = await temporalProgram();
  const path = process.env.PATH ?? '';
  if (found === 'on PATH') return path;
  const folder = mkdtempSync(join(tmpdir(), 'readback-path-'));
  process.once('exit', () => rmSync(folder, { recursive: true, force: true }));
  symlinkSync(file, join(folder, 'temporal'));
  return [folder, path].join(delimiter);
}

/** Processes that have `dataDir` on their command line or belong to its `up`, as `ps` shows them. Zombies have ended. */
export function processesOf(dataDir: string): string[] {
  return psLines().filter((line) => line.includes(dataDir));
}

function psLines(): string[] {
  return execFileSync('ps', ['-eo', 'pid=,ppid=,stat=,args='], { encoding: 'utf8' })
    .split('\n')
    .filter((line) => line !== '' && !/^\s*\d+\s+\d+\s+Z/.test(line));
}

/** Waits until `condition` holds; false when it doesn't in time. */
export async function eventually(condition: () => boolean, withinMs = 10_000): Promise<boolean> {
  const giveUpAt = Date.now() + withinMs;
  while (!condition()) {
    if (Date.now() > giveUpAt) return false;
    await new Promise((wake) => setTimeout(wake, 50));
  }
  return true;
}

export function temporaryFolder(): { readonly path: string; remove(): void } {
  const path = mkdtempSync(join(tmpdir(), 'readback-cli-'));
  return { path, remove: () => rmSync(path, { recursive: true, force: true }) };
}

export const readJson = (file: string): unknown => JSON.parse(readFileSync(file, 'utf8'));

function withoutOurVariables(): Record<string, string | undefined> {
  const ours = /^(READBACK|TEMPORAL)_/;
  return Object.fromEntries(Object.entries(process.env).filter(([name]) => !ours.test(name)));
}
