/**
 * `npm run bench:tasks-get`: how long tasks/get takes with 200 tasks in flight, against a bare Temporal describe of the
 * same workflows from the same machine. Fails when it is more than twice as long at any load. The server is a process of its own, as
 * in production, and nothing here runs under a test runner, whose promise hooks would be measured instead.
 */
import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { Pool } from 'undici';
import type { CommandSnapshot } from '../commands/commands.ts';
import { type Harness, startReadback } from '../test/harness/readback.ts';
import { envelope, TASKS } from '../test/mcp-server/wire.ts';

const TASKS_IN_FLIGHT = 200;
/** Requests under way at any moment. */
const LOADS = [1, 20, 200];
/** Alternating, so that whatever else the machine does meets both alike; the first ones only warm up. */
const ROUNDS = 13;
const WARM_UP = 3;
const MOST_TIMES_A_DESCRIBE = 2;

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
  const { result } = (await body.json()) as { result?: { status?: string } };
  if (result?.status !== 'working')
    throw new Error(`tasks/get: HTTP ${statusCode}, ${JSON.stringify(result)}`);
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
  for (const clients of LOADS) {
    const describes: number[] = [];
    const gets: number[] = [];
    for (let round = 0; round < ROUNDS; round += 1) {
      const described = await timed(taskIds, clients, (taskId) => workflow.getHandle(taskId).describe());
      const got = await timed(taskIds, clients, (taskId) => tasksGet(pool, taskId));
      if (round < WARM_UP) continue;
      describes.push(...described);
      gets.push(...got);
    }
    const [get, describe] = [median(gets), median(describes)];
    const times = get / describe;
    console.log(
      `${clients} at a time: tasks/get ${get.toFixed(1)} ms, bare describe ${describe.toFixed(1)} ms (medians): ${times.toFixed(2)} times`,
    );
    if (times > MOST_TIMES_A_DESCRIBE) process.exitCode = 1;
  }
} finally {
  await pool.close();
  const ended = once(child, 'exit');
  child.kill('SIGTERM');
  await ended;
  await readback.close();
  rmSync(folder, { recursive: true, force: true });
}
