/** One process of `up`: started, watched, started again when it dies, ended. */
import { type ChildProcess, spawn } from 'node:child_process';
import { EXIT, type ExitCode, Failure } from '../failure.ts';
import type { PartLog } from './part-log.ts';

const FIRST_PAUSE_MS = 500;
const LONGEST_PAUSE_MS = 30_000;
/** Having run this long, a process is no longer taken for one that can't start. */
const STEADY_AFTER_MS = 60_000;
/** A worker lets a send under way finish, so that its outcome is known. A second Ctrl-C doesn't wait for it. */
const KILL_AFTER_MS = 50_000;

export interface PartOptions {
  /** What it is: `worker`, `serve`, … Its command line starts with `readback <name>`. */
  readonly name: string;
  /** Module and arguments for Node. */
  readonly argv: readonly string[];
  readonly log: PartLog;
  readonly say: (text: string) => void;
  /** Called with the channel of every fresh process, before anything else. */
  readonly onSpawn?: (child: ChildProcess) => void;
  /** Tells from a message of the process that it is ready. */
  readonly isReady: (message: unknown) => boolean;
  /** Called after each end, before the next start. */
  readonly onDeath?: () => void;
}

export interface Part {
  readonly name: string;
  /** Settles once, for the first start: rejects with a `Failure` when the process ends before it is ready. */
  readonly ready: Promise<void>;
  /** Tells the process to read its files anew, where it knows how. */
  hangUp(): void;
  stop(): Promise<void>;
}

export function startPart(options: PartOptions): Part {
  const { name, log, say } = options;
  const first = firstStart();
  let child: ChildProcess | undefined;
  let stopping = false;
  let wasReady = false;
  let pauseMs = FIRST_PAUSE_MS;
  let restart: NodeJS.Timeout | undefined;

  const start = (): void => {
    const startedAt = Date.now();
    const fresh = launch(name, options.argv);
    child = fresh;
    for (const stream of [fresh.stdout, fresh.stderr]) {
      stream?.setEncoding('utf8').on('data', (chunk: string) => log.write(chunk));
    }
    fresh.on('message', (message) => {
      if (!options.isReady(message)) return;
      if (wasReady) say(`${name} is back.`);
      wasReady = true;
      first.resolve();
    });
    fresh.once('error', (error) => log.write(`${error.message}\n`));
    // Not with 'close', which waits for whoever inherited the output.
    fresh.once('exit', () => options.onDeath?.());
    fresh.once('close', (code, signal) => {
      child = undefined;
      if (stopping) return;
      const how = signal ? `killed by ${signal}` : `exit ${code}`;
      if (!wasReady) return first.reject(couldNotStart(name, how, code, log));
      if (Date.now() - startedAt > STEADY_AFTER_MS) pauseMs = FIRST_PAUSE_MS;
      say(`${name} ended (${how}); starting it again in ${pauseMs / 1000} s. Its log: ${log.file}`);
      restart = setTimeout(start, pauseMs);
      pauseMs = Math.min(pauseMs * 2, LONGEST_PAUSE_MS);
    });
    options.onSpawn?.(fresh);
  };

  start();
  // Whoever stops before looking at `ready` must not cause an unhandled rejection.
  first.ready.catch(() => {});
  return {
    name,
    ready: first.ready,
    hangUp: () => void child?.kill('SIGHUP'),
    async stop() {
      stopping = true;
      clearTimeout(restart);
      if (child) await end(child);
    },
  };
}

function firstStart() {
  let resolve: () => void = () => {};
  let reject: (failure: Failure) => void = () => {};
  const ready = new Promise<void>((onReady, onFailure) => {
    resolve = onReady;
    reject = onFailure;
  });
  return { ready, resolve, reject };
}

/**
 * In a process group of its own, so that Ctrl-C reaches `up` alone and it can end its parts in order. The channel is
 * how they notice that `up` was killed.
 */
function launch(name: string, argv: readonly string[]): ChildProcess {
  return spawn(process.execPath, argv, {
    argv0: `readback ${name}`,
    detached: process.platform !== 'win32',
    stdio: ['ignore', 'pipe', 'pipe', 'ipc'],
    windowsHide: true,
  });
}

function end(child: ChildProcess): Promise<void> {
  return new Promise((resolve) => {
    const kill = setTimeout(() => child.kill('SIGKILL'), KILL_AFTER_MS);
    child.once('close', () => {
      clearTimeout(kill);
      resolve();
    });
    child.kill('SIGTERM');
  });
}

function couldNotStart(name: string, how: string, code: number | null, log: PartLog): Failure {
  const exitCode = Object.values(EXIT).find((known): known is ExitCode => known === code && known !== 0);
  const lines = log.lastLines().map((line) => `  ${line}`);
  return new Failure(
    exitCode ?? EXIT.endedBadly,
    [`${name} could not start (${how}). It said:`, ...lines, `All of it: ${log.file}`].join('\n'),
  );
}
