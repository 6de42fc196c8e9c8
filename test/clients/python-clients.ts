/** The client libraries of Python, in a virtual environment that is made where it is missing. */
import { execFile, spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { copyFile, mkdir, rm } from 'node:fs/promises';
import { homedir } from 'node:os';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { promisify } from 'node:util';
import { homeOf } from '../npm-programs.ts';
import type { ClientParts, MatrixClient, Shown } from './client.ts';

const run = promisify(execFile);
const PROGRAMS = join(import.meta.dirname, 'programs');
const REQUIREMENTS = join(PROGRAMS, 'requirements.txt');
const INSTALL_WITHIN_MS = 10 * 60_000;
const STOPS_WITHIN_MS = 10_000;

export async function pythonClient({ row, endpoint, ask }: ClientParts): Promise<MatrixClient> {
  const python = await pythonWithClients();
  const child = spawn(python, [join(PROGRAMS, 'client.py')], { stdio: ['pipe', 'pipe', 'pipe'] });
  const exited = once(child, 'exit');
  let complaints = '';
  child.stderr.setEncoding('utf8').on('data', (text: string) => (complaints += text));
  const waiting = new Map<number, { resolve(shown: Shown): void; reject(error: Error): void }>();
  const tell = (message: object) => child.stdin.write(`${JSON.stringify(message)}\n`);
  const ready = new Promise<void>((resolve, reject) => {
    createInterface({ input: child.stdout }).on('line', (line) => {
      const said = JSON.parse(line) as Record<string, any>;
      if (said['ready'] === true) resolve();
      else if ('question' in said)
        void ask(said['params']).then((result) => tell({ answer: said['question'], result }));
      else waiting.get(said['id'])?.resolve(said['shown']);
    });
    void exited.then(() => {
      const error = new Error(`The Python client ended: ${complaints.slice(-2000)}`);
      reject(error);
      for (const one of waiting.values()) one.reject(error);
    });
  });
  let requests = 0;
  const order = (told: object): Promise<Shown> => {
    const id = ++requests;
    tell({ id, ...told });
    return new Promise((resolve, reject) => waiting.set(id, { resolve, reject }));
  };
  const forms = row.person === 'form' || row.person === 'unattended';
  tell({ library: row.client, era: row.era, forms, ...endpoint });
  await ready;
  return {
    call: (tool, args, { willBeCancelled = false } = {}) =>
      order({
        do: 'call',
        tool,
        arguments: args,
        asTask: willBeCancelled && row.client === 'fastmcp-tasks',
      }),
    cancelTask: row.client === 'fastmcp-tasks' ? async () => void (await order({ do: 'cancelTask' })) : null,
    async close() {
      const late = setTimeout(() => child.kill('SIGKILL'), STOPS_WITHIN_MS);
      child.stdin.end();
      await exited;
      clearTimeout(late);
    },
  };
}

let installing: Promise<string> | undefined;

/** The interpreter of the virtual environment. */
export function pythonWithClients(): Promise<string> {
  installing ??= install();
  return installing;
}

async function install(): Promise<string> {
  const home = homeOf('clients-python');
  const python = join(home, 'venv/bin/python');
  const done = join(home, 'requirements.txt');
  if (existsSync(done) && readFileSync(done, 'utf8') === readFileSync(REQUIREMENTS, 'utf8')) return python;
  await rm(home, { recursive: true, force: true });
  await mkdir(home, { recursive: true });
  const options = { timeout: INSTALL_WITHIN_MS };
  await run(await basePython(), ['-m', 'venv', join(home, 'venv')], options);
  await run(
    python,
    ['-m', 'pip', 'install', '-q', '--disable-pip-version-check', '-r', REQUIREMENTS],
    options,
  );
  await copyFile(REQUIREMENTS, done);
  return python;
}

/** The first Python that is new enough and can make virtual environments. */
async function basePython(): Promise<string> {
  const versions = join(process.env['PYENV_ROOT'] ?? join(homedir(), '.pyenv'), 'versions');
  const installed = existsSync(versions)
    ? readdirSync(versions).map((name) => join(versions, name, 'bin/python3'))
    : [];
  const check = 'import ensurepip, sys; sys.exit(not (3, 11) <= sys.version_info[:2] <= (3, 13))';
  for (const candidate of [...installed, 'python3.13', 'python3.12', 'python3.11', 'python3']) {
    const works = await run(candidate, ['-c', check]).then(
      () => true,
      () => false,
    );
    if (works) return candidate;
  }
  throw new Error(
    'The Python clients need Python 3.11, 3.12 or 3.13 with venv: install python3.13-venv, or run: pyenv install 3.13',
  );
}
