/**
 * `npm run bench:tasks-get`: how long tasks/get takes with 200 tasks in flight, against a bare Temporal describe of the
 * same workflows from the same machine, in turns. Once where every task is asked about after a pause, so that each answer is a
 * describe of the server's own, and once where 200 clients poll without any. Fails when polling takes more than twice as long as
 * describing, or a first look more than three times. The server is a process of its own, as in production, and nothing
 * here runs under a test runner, whose promise hooks would be measured instead.
 */
import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { setTimeout as sleep } from 'node:timers/promises';
import { Pool } from 'undici';
import type { CommandSnapshot } from '../commands/commands.ts';
import { type Harness, startReadback } from '../test/harness/readback.ts';
import { envelope, TASKS } from '../test/mcp-server/wire.ts';

const TASKS_IN_FLIGHT = 200;
/** Requests under way at any moment. */
const LOADS = [1, 20, 200];
const ROUNDS = 13;
const WARM_UP = 3;
/** How often each client asks in a row, where it polls. */
const POLLS = 5;
/** Longer than the server gives the same answer again. */
const PAUSE_MS = 400;
const MOST_TIMES = { polling: 2, 'first look': 3 } as const;

/** Every command waits for an operator, so that nothing but the requests is at work. */
const CATALOGUE = `
connections: { house: { kind: http, baseUrl: "simulator:" } }
devices:
  boiler: { connection: house, send: PUT /devices/boiler, read: GET /devices/boiler, fields: { temperature: { type: celsius, min: 5, max: 35, step: 0.1 } } }
approvals:
  - { for: { device: boiler }, by: operator, expires: 30m }
`;

async function startTasks(readback: Harness): Promise<readonly string[]> {
  const taskIds: string[] = [];
  const until = ({ view }: CommandSnapshot) => view.approval !== null;
  for (let index = 0; index < TASKS_IN_FLIGHT; index += 1) {
    const taskId = await readback.submit('boiler', { temperature: Math.round(100 + index) / 10 });
    await readback.commands.wait(taskId, { kind: 'operator' }, { timeoutMs: 60_000, until });
    taskIds.push(taskId);
  }
  return taskIds;
}

async function serve(readback: Harness, folder: string): Promise<{ child: ChildProcess; origin: string }> {
  const catalogue = join(folder, 'readback.yaml');
  writeFileSync(catalogue, CATALOGUE);
  const flags = {
    temporal: readback.temporal.address,
    catalogue,
    'data-dir': folder,
    'simulator-url': readback.simulatorUrl,
    port: '0',
  };
  const program = join(import.meta.dirname, '../bin/readback.mjs');
  const args = Object.entries(flags).flatMap(([name, value]) => [`--${name}`, value]);
  const child = spawn(process.execPath, [program, 'serve', '--json', ...args], {
    stdio: ['ignore', 'pipe', 'inherit'],
    env: { ...process.env, READBACK_SEAL_KEY: Buffer.from(readback.sealKey).toString('base64') },
  });
  for await (const line of createInterface({ input: child.stdout })) {
    const { mcp } = JSON.parse(line) as { mcp?: string };
    if (mcp !== undefined) return { child, origin: new URL(mcp).origin };
  }
  throw new Error('the server ended before it was ready');
}

async function tasksGet(pool: Pool, taskId: string): Promise<void> {
  const params = { taskId, _meta: envelope(TASKS) };
  const { statusCode, body } = await pool.request({
    path: '/mcp',
    method: 'POST',
    headers: {
      'content-type': 'application/json',
      accept: 'application/json, text/event-stream',
      'mcp-protocol-version': '2026-07-28',
      'mcp-method': 'tasks/get',
      'mcp-name': taskId,
    },
    body: JSON.stringify({ jsonrpc: '2.0', id: 1, method: 'tasks/get', params }),
  });
  const answer = (await body.json()) as { result?: { status?: string }; error?: { message: string } };
  // What a machine with too much to do says after its two seconds; they count.
  if (answer.error?.message.startsWith('Temporal does not answer') === true)
    return await tasksGet(pool, taskId);
  if (answer.result?.status !== 'working')
    throw new Error(`tasks/get: HTTP ${statusCode}, ${JSON.stringify(answer)}`);
}

/** Milliseconds of each request, while every task is asked about once, by so many clients at once. */
async function timed(
  taskIds: readonly string[],
  clients: number,
  ask: (taskId: string) => Promise<unknown>,
): Promise<readonly number[]> {
  const latencies: number[] = [];
  const queue = [...taskIds];
  const client = async () => {
    for (let taskId = queue.pop(); taskId !== undefined; taskId = queue.pop()) {
      const startedAt = performance.now();
      await ask(taskId);
      latencies.push(performance.now() - startedAt);
    }
  };
  await Promise.all(Array.from({ length: clients }, client));
  return latencies;
}

type Ask = (taskId: string) => Promise<unknown>;

/** The median of each, over rounds by turns, so that whatever else the machine does meets both alike; the first ones only warm up. */
async function compare(
  what: keyof typeof MOST_TIMES,
  clients: number,
  taskIds: readonly string[],
  describe: Ask,
  get: Ask,
): Promise<void> {
  const describes: number[] = [];
  const gets: number[] = [];
  for (let round = 0; round < ROUNDS; round += 1) {
    const described = await timed(taskIds, clients, describe);
    await sleep(PAUSE_MS);
    const got = await timed(taskIds, clients, get);
    if (round < WARM_UP) continue;
    describes.push(...described);
    gets.push(...got);
  }
  const times = median(gets) / median(describes);
  console.log(
    `${what}, ${clients} at a time: tasks/get ${median(gets).toFixed(1)} ms, bare describe ${median(describes).toFixed(1)} ms (medians): ${times.toFixed(2)} times`,
  );
  if (times > MOST_TIMES[what]) process.exitCode = 1;
}

function median(values: readonly number[]): number {
  return [...values].sort((a, b) => a - b)[Math.floor(values.length / 2)] ?? Number.NaN;
}

const folder = mkdtempSync(join(tmpdir(), 'readback-bench-'));
const readback = await startReadback({
  devices: { boiler: { state: { temperature: 20 } } },
  catalogue: CATALOGUE,
});
const { child, origin } = await serve(readback, folder);
const pool = new Pool(origin, { connections: Math.max(...LOADS) });
try {
  const taskIds = await startTasks(readback);
  const { workflow } = readback.temporal.client;
  const describe = (taskId: string) => workflow.getHandle(taskId).describe();
  const get = (taskId: string) => tasksGet(pool, taskId);
  for (const clients of LOADS) await compare('first look', clients, taskIds, describe, get);
  // One after the other for each task, all tasks at once.
  const polled = (ask: Ask) => async (taskId: string) => {
    for (let poll = 0; poll < POLLS; poll += 1) await ask(taskId);
  };
  await compare('polling', TASKS_IN_FLIGHT, taskIds, polled(describe), polled(get));
} finally {
  await pool.close();
  const ended = once(child, 'exit');
  child.kill('SIGTERM');
  await ended;
  await readback.close();
  rmSync(folder, { recursive: true, force: true });
}
