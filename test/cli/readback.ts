/** Runs the `readback` command as its users do: as a process of its own. */
import { type ChildProcess, spawn } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
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
    readonly mcp: string;
    readonly console: string;
    readonly temporalUi: string;
    readonly temporal: string;
  };
  /** Everything it has said so far. */
  readonly said: () => { readonly stdout: string; readonly stderr: string };
  readonly ended: Promise<number | null>;
}

/** `readback up --json` on free ports; resolves with its ready line, rejects with what it said instead. */
export async function startUp(
  dataDir: string,
  args: readonly string[] = [],
  options: Options = {},
): Promise<Up> {
  const { file } = await temporalProgram();
  const PATH = `${dirname(file)}:${process.env.PATH}`;
  const up = start(['up', '--json', '--port', '0', '--data-dir', dataDir, ...args], {
    ...options,
    env: { PATH, ...options.env },
  });
  let stdout = '';
  let stderr = '';
  up.stderr?.setEncoding('utf8').on('data', (chunk: string) => (stderr += chunk));
  const ended = new Promise<number | null>((resolve) => up.once('close', resolve));
  await new Promise<void>((resolve, reject) => {
    const late = setTimeout(
      () => reject(new Error(`not ready in time: ${stdout}${stderr}`)),
      READY_WITHIN_MS,
    );
    up.stdout?.setEncoding('utf8').on('data', (chunk: string) => {
      stdout += chunk;
      if (stdout.includes('\n')) resolve();
    });
    void ended.then((code) => reject(new Error(`ended with ${code}: ${stdout}${stderr}`)));
    void ended.finally(() => clearTimeout(late));
  });
  return { process: up, ready: JSON.parse(stdout) as Up['ready'], said: () => ({ stdout, stderr }), ended };
}

/** Processes that have `dataDir` on their command line or belong to its `up`, as `ps` shows them. Zombies have ended. */
export function processesOf(dataDir: string): string[] {
  return psLines().filter((line) => line.includes(dataDir));
}

export function psLines(): string[] {
  const { execFileSync } = process.getBuiltinModule('node:child_process');
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
