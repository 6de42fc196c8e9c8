/** The Inspector on the command line: `inspector --cli`, one process a call, and `mcpdo`, whose daemon holds a connection. */
import { execFile } from 'node:child_process';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { npmPrograms } from '../npm-programs.ts';
import { type ClientParts, elicitationOf, type MatrixClient, type Shown } from './client.ts';
import type { Endpoint } from './house.ts';

const run = promisify(execFile);
const PROGRAMS = join(import.meta.dirname, 'programs');
const CALL_WITHIN_MS = 2 * 60_000;
const CONNECTS = ['--connect-timeout', '60000'];

interface Ended {
  readonly exitCode: number;
  readonly json: any;
}

type Program = (args: readonly string[]) => Promise<Ended>;

/** `inspector --cli` */
export async function inspectorCli({ row, endpoint }: ClientParts): Promise<MatrixClient> {
  const { program, close } = await inspector('launcher/build/index.js', ['--cli', '--format', 'json']);
  const always = ['--protocol-era', row.era, ...CONNECTS, ...targetOf(endpoint)];
  return {
    async call(tool, args) {
      const what = ['--method', 'tools/call', '--tool-name', tool, '--tool-args-json', JSON.stringify(args)];
      return shown(await program([...what, ...always]), 'result');
    },
    cancelTask: null,
    close,
  };
}

/** `mcpdo`. Its daemon does one thing at a time on a connection, so that cancelling needs a second one. */
export async function mcpdo({ row, endpoint, ask }: ClientParts): Promise<MatrixClient> {
  const { program, home, close } = await inspector('mcpdo/build/mcp-bin.js', ['--format', 'json']);
  const server = 'url' in endpoint ? { type: 'http', ...endpoint } : endpoint;
  const config = join(home, 'servers.json');
  await writeFile(config, JSON.stringify({ mcpServers: { readback: server, 'readback-again': server } }));
  const elicit = Object.keys(elicitationOf(row).elicitation ?? { off: {} }).join();
  const connect = async (name: string): Promise<string[]> => {
    const how = ['--config', config, 'connect', name, '--era', row.era, '--elicit', elicit];
    const { exitCode, json } = await program([...how, ...CONNECTS]);
    if (exitCode !== 0) throw new Error(`mcpdo does not connect: ${JSON.stringify(json)}`);
    return ['--connection', name];
  };
  const on = await connect('readback');
  return {
    async call(tool, args) {
      let ended = await program([...on, 'tools/call', tool, '--tool-args-json', JSON.stringify(args)]);
      for (;;) {
        const pending = ended.json?.elicitationPending;
        if (pending === undefined) return shown(ended, null);
        const answer = await answerTo(pending, ask);
        ended = await program([...on, 'elicitation/respond', pending.elicitationId, ...answer]);
      }
    },
    async cancelTask(taskId) {
      const { exitCode, json } = await program([
        ...(await connect('readback-again')),
        'tasks/cancel',
        taskId,
      ]);
      if (exitCode !== 0) throw new Error(`mcpdo does not cancel: ${JSON.stringify(json)}`);
    },
    async close() {
      await program(['daemon', 'stop']);
      await close();
    },
  };
}

async function answerTo(pending: any, ask: ClientParts['ask']): Promise<string[]> {
  const { action, content = {} } = await ask(pending);
  if (action !== 'accept') return [`--${action}`];
  if (pending.mode === 'url') return ['--done'];
  return Object.entries(content).map(([name, value]) => `${name}:=${JSON.stringify(value)}`);
}

/** A program of the Inspector with a home of its own. It prints JSON on stdout, and its verdict as exit code. */
async function inspector(file: string, always: readonly string[]) {
  const { folder, node } = await npmPrograms(PROGRAMS, 'clients');
  const home = await mkdtemp(join(tmpdir(), 'readback-inspector-'));
  const env = {
    PATH: process.env['PATH'] ?? '',
    HOME: home,
    MCP_INSPECTOR_SECRET_STORE: 'file',
    MCP_INSPECTOR_DAEMON_DIR: home,
  };
  const program: Program = async (args) => {
    const all = [join(folder, '@modelcontextprotocol/inspector/clients', file), ...always, ...args];
    try {
      const { stdout } = await run(node, all, { env, timeout: CALL_WITHIN_MS });
      return { exitCode: 0, json: stdout.trim() === '' ? null : JSON.parse(stdout) };
    } catch (error) {
      const {
        code,
        stdout = '',
        stderr = '',
      } = error as { code?: unknown; stdout?: string; stderr?: string };
      if (typeof code !== 'number') throw error;
      const said = stdout.trim() === '' ? (stderr.trim().split('\n').at(-1) ?? '') : stdout;
      return { exitCode: code, json: JSON.parse(said) };
    }
  };
  return { program, home, close: () => rm(home, { recursive: true, force: true }) };
}

/** The server as it stands on the command line. */
function targetOf(endpoint: Endpoint): string[] {
  if (!('url' in endpoint)) return ['--', endpoint.command, ...endpoint.args];
  const headers = Object.entries(endpoint.headers).map(([name, value]) => `${name}: ${value}`);
  return [endpoint.url, '--transport', 'http', ...headers.flatMap((header) => ['--header', header])];
}

function shown({ exitCode, json }: Ended, key: string | null): Shown {
  const result = key === null ? json : json[key];
  const text = result?.content?.map((block: any) => block.text ?? '').join('\n');
  return {
    how: exitCode === 0 ? 'a result' : `exit code ${exitCode}`,
    text: text ?? String(json?.error?.message),
  };
}
