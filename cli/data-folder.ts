/**
 * The data folder of `up`: Temporal's database, logs, and `up.json`, which is both the lock (who holds the folder)
 * and the sign by which the other commands find a running `up`.
 *
 *     up.json       who holds it, and its addresses once ready
 *     ports.json    ports that stay the same from start to start
 *     temporal.db   every command, its history, its approvals
 *     temporal/     the Temporal program, where it had to be fetched
 *     logs/         one file a process
 *     sign-ins/     what workers got by signing in at devices' APIs, one sealed file a connection
 */
import { linkSync, mkdirSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { EXIT, Failure } from './failure.ts';
import { processIdentity } from './process-identity.ts';

/** Beside the catalogue it belongs to, as `./readback.yaml` is. */
export const DEFAULT_DATA_DIR = '.readback';

/** What `up` prints once everything answers. */
export interface Ready {
  readonly mcp: string;
  readonly console: string;
  /** null: the Temporal is not ours, and where its UI is we can't know. */
  readonly temporalUi: string | null;
  readonly temporal: string;
  readonly namespace: string;
}

export interface Holder {
  readonly pid: number;
  readonly identity: string;
  /** ISO 8601 */
  readonly startedAt: string;
  readonly catalogue: string;
  readonly simulatorUrl: string | null;
  /** The Temporal server that this `up` started, so that a later one can end it should both of its keepers have been killed. */
  readonly temporalProcess: { readonly pid: number; readonly identity: string } | null;
  /** null: still starting. */
  readonly ready: Ready | null;
}

export const signInFolder = (dataDir: string): string => join(dataDir, 'sign-ins');

const holderFile = (dataDir: string): string => join(dataDir, 'up.json');

/** The living `up` that holds `dataDir`; undefined when none does. */
export function runningUp(dataDir: string): Holder | undefined {
  const holder = readHolder(dataDir);
  return holder && isHolderAlive(holder) ? holder : undefined;
}

/**
 * Takes the folder for this process, made if need be.
 * Returns the record of an `up` that was killed without tidying up, if there was one.
 * Throws a `Failure` naming the holder while another `up` runs on it, or when the folder can't be written.
 */
export function takeDataFolder(dataDir: string, mine: Holder): Holder | undefined {
  makeFolder(dataDir);
  // A full file under its final name in one step: nobody ever reads half a lock.
  const draft = `${holderFile(dataDir)}.${process.pid}`;
  writeFileSync(draft, JSON.stringify(mine));
  let dead: Holder | undefined;
  try {
    // Each round removes one dead holder or ends; somebody faster than us is alive and ends it.
    for (let round = 0; round < 10; round += 1) {
      try {
        linkSync(draft, holderFile(dataDir));
        return dead;
      } catch (error) {
        if ((error as NodeJS.ErrnoException).code !== 'EEXIST') throw error;
      }
      const holder = readHolder(dataDir);
      if (holder && isHolderAlive(holder)) throw heldBy(dataDir, holder);
      dead = holder ?? dead;
      removeDead(dataDir, holder);
    }
    throw new Failure(EXIT.usage, `Can't take ${dataDir}: its up.json keeps coming back. Remove it by hand.`);
  } finally {
    rmSync(draft, { force: true });
  }
}

/** Rewrites the record of this process, e.g. once it is ready. */
export function updateHolder(dataDir: string, mine: Holder): void {
  writeWhole(holderFile(dataDir), mine);
}

export function leaveDataFolder(dataDir: string): void {
  if (readHolder(dataDir)?.pid === process.pid) rmSync(holderFile(dataDir), { force: true });
}

/** Writes JSON so that a reader sees the old or the new content, never a part. */
export function writeWhole(file: string, content: unknown): void {
  const draft = `${file}.${process.pid}`;
  writeFileSync(draft, JSON.stringify(content, null, 2));
  renameSync(draft, file);
}

function makeFolder(dataDir: string): void {
  try {
    mkdirSync(join(dataDir, 'logs'), { recursive: true });
  } catch (error) {
    const why = (error as NodeJS.ErrnoException).code ?? String(error);
    throw new Failure(
      EXIT.usage,
      `Can't write to the data folder ${dataDir} (${why}). Choose another with --data-dir.`,
    );
  }
}

function heldBy(dataDir: string, holder: Holder): Failure {
  const where = holder.ready ? `, MCP at ${holder.ready.mcp}` : ', still starting';
  return new Failure(
    EXIT.usage,
    `readback up already runs on ${dataDir}: process ${holder.pid}, since ${holder.startedAt}${where}. ` +
      'Use that one, stop it with Ctrl-C there, or start another one with --data-dir and --port of its own.',
  );
}

function isHolderAlive(holder: Holder): boolean {
  // The own number in somebody else's record: a container that starts again, where everyone is process 1.
  return holder.pid !== process.pid && processIdentity(holder.pid) === holder.identity;
}

/** Moves the dead record away before removing it: of two that found it dead, only one may remove, and never a new one. */
function removeDead(dataDir: string, dead: Holder | undefined): void {
  const grave = `${holderFile(dataDir)}.dead.${process.pid}`;
  try {
    renameSync(holderFile(dataDir), grave);
  } catch {
    return;
  }
  const moved = parseHolder(grave);
  if (moved && moved.identity !== dead?.identity && isHolderAlive(moved)) {
    // Somebody took the folder between our look and our move: give it back.
    linkSync(grave, holderFile(dataDir));
  }
  rmSync(grave, { force: true });
}

const readHolder = (dataDir: string): Holder | undefined => parseHolder(holderFile(dataDir));

function parseHolder(file: string): Holder | undefined {
  try {
    const holder = JSON.parse(readFileSync(file, 'utf8')) as Holder | null;
    return Number.isInteger(holder?.pid) && holder?.identity ? holder : undefined;
  } catch {
    return undefined;
  }
}
