/**
 * Runs test files, each in a process of its own: `npm test` (the everyday suites), `npm test -- domain cli` (only these),
 * `npm run test:all`. Quick suites come first, so that a broken rule shows before a slow scenario has started.
 */
import { mkdirSync, readdirSync, rmSync, symlinkSync } from 'node:fs';
import { availableParallelism } from 'node:os';
import { delimiter, dirname, join, sep } from 'node:path';
import { run } from 'node:test';
import { spec } from 'node:test/reporters';
import { temporalProgram } from '../test/temporal-program.ts';

/** Folders and files of test/, in this order; what is not named here runs after them. */
const QUICK_FIRST = [
  'architecture.test.ts',
  'domain',
  'simulator',
  'activities',
  'workflows',
  'worker',
  'commands',
  'mcp-server',
  'console',
  'cli',
];
/** Suites with a script of their own: they install a Home Assistant, a broker, clients or the conformance suite, need a browser, or kill processes. */
const ON_DEMAND = ['home-assistant', 'mqtt', 'clients', 'conformance', 'browser', 'chaos'];
/** For a whole file. Far above what any takes, so that only a hang meets it; those on demand install things first. */
const FILE_TIMEOUT_MS = 3 * 60_000;
const ON_DEMAND_FILE_TIMEOUT_MS = 15 * 60_000;

const testFolder = join(import.meta.dirname, '..', 'test');

function suiteOf(file: string): string {
  return file.split(sep, 1)[0] ?? file;
}

function turnOf(file: string): number {
  const turn = QUICK_FIRST.indexOf(suiteOf(file));
  return turn === -1 ? QUICK_FIRST.length : turn;
}

/** Paths within test/. Throws for a suite without tests: one that runs nothing proves nothing. */
function chooseFiles(asked: readonly string[]): string[] {
  const all = readdirSync(testFolder, { recursive: true, encoding: 'utf8' })
    .filter((file) => file.endsWith('.test.ts'))
    .sort((a, b) => turnOf(a) - turnOf(b) || a.localeCompare(b));
  if (asked.includes('--all')) return all;
  if (asked.length === 0) return all.filter((file) => !ON_DEMAND.includes(suiteOf(file)));
  return asked.flatMap((suite) => {
    const files = all.filter((file) => file === suite || file.startsWith(`${suite}${sep}`));
    if (files.length > 0) return files;
    throw new Error(`No test in test/${suite}. There are: ${[...new Set(all.map(suiteOf))].join(', ')}.`);
  });
}

/** Puts Temporal on PATH, where every test and every `readback up` finds it: at most one download for all of them. */
async function provideTemporal(): Promise<void> {
  const { file, found } = await temporalProgram();
  if (found === 'on PATH') return;
  const folder = join(dirname(file), 'on-path');
  mkdirSync(folder, { recursive: true });
  rmSync(join(folder, 'temporal'), { force: true });
  symlinkSync(file, join(folder, 'temporal'));
  process.env.PATH = [folder, process.env.PATH].join(delimiter);
}

await provideTemporal();
const files = chooseFiles(process.argv.slice(2));
const onDemand = files.some((file) => ON_DEMAND.includes(suiteOf(file)));
const events = run({
  files: files.map((file) => join(testFolder, file)),
  concurrency: availableParallelism(),
  timeout: onDemand ? ON_DEMAND_FILE_TIMEOUT_MS : FILE_TIMEOUT_MS,
});
events.on('test:fail', () => {
  process.exitCode = 1;
});
events.pipe(new spec()).pipe(process.stdout);
