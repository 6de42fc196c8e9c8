/** Commands under way while parts of a running `readback up` are killed with SIGKILL. The device goes on without us. */
import assert from 'node:assert/strict';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { after, before, describe, it } from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';
import { type Simulator, startSimulator } from '../../simulator/simulator.ts';
import { processesOf, startUp, temporaryFolder, type Up } from '../cli/readback.ts';
import { callTool, isEnded, startTask, TASKS, taskRequest } from '../mcp-server/wire.ts';

/** How the command line of each process of `up` can be told. */
const VICTIMS = { worker: 'readback worker', 'MCP server': 'readback serve', Temporal: 'server start-dev' };
const ENDS_WITHIN_MS = 150_000;

type Task = Readonly<Record<string, any>>;

describe('while a command settles', { timeout: 12 * 60_000 }, () => {
  const folder = temporaryFolder();
  const dataDir = join(folder.path, 'data');
  let simulator: Simulator;
  let up: Up;
  let asked = 20;

  before(async () => {
    // The device needs longer than any part needs to be started again, also on a busy machine.
    const heater = { state: { temperature: 20 }, follows: '15s' };
    simulator = await startSimulator({ devices: { devices: { heater, guarded: heater } } });
    writeFileSync(
      join(folder.path, 'readback.yaml'),
      `
version: 1
connections: { vendor: { kind: http, baseUrl: "${simulator.url}", timeout: 5s } }
defaults: { settle: { first: 1s, every: 1s, within: 90s, stable: 2s, lag: 30s } }
profiles:
  thermostat:
    connection: vendor
    params: { id: required }
    send: "PUT /devices/{id}"
    read: "GET /devices/{id}"
    fields: { temperature: { type: celsius, min: 5, max: 30, step: 0.5 } }
devices:
  heater: { profile: thermostat, with: { id: heater } }
  guarded: { profile: thermostat, with: { id: guarded } }
approvals:
  - { for: { device: guarded }, by: operator, expires: 1h }
`,
    );
    up = await start();
  });

  after(async () => {
    up.process.kill('SIGTERM');
    await up.ended;
    await simulator.close();
    folder.remove();
  });

  const start = () =>
    startUp(dataDir, [
      '--no-simulator',
      '--task-grace',
      '0s',
      '--catalogue',
      join(folder.path, 'readback.yaml'),
    ]);
  const url = () => new URL(up.ready.mcp).origin;

  async function sends(device: string): Promise<number> {
    const reply = await fetch(`${simulator.url}/admin/devices/${device}`);
    return ((await reply.json()) as { counters: { sends: { arrived: number } } }).counters.sends.arrived;
  }

  /** Asks for another temperature than the one before and resolves once the command was sent. */
  async function settlingTask(): Promise<string> {
    asked = asked === 20 ? 25 : 20;
    const { taskId } = await startTask(url(), { device: 'heater', desired: { temperature: asked } });
    await until(taskId, ({ statusMessage }) => /sent once/.test(statusMessage), 30_000);
    return taskId;
  }

  /** Polls as a client does, across whatever is broken meanwhile. */
  async function until(
    taskId: string,
    isEnough: (task: Task) => boolean,
    withinMs = ENDS_WITHIN_MS,
  ): Promise<Task> {
    const giveUpAt = Date.now() + withinMs;
    let last: unknown;
    while (Date.now() < giveUpAt) {
      const answer = await taskRequest(url(), 'get', taskId).catch((error: unknown) => ({ error }));
      if ('result' in answer && answer.result && isEnough(answer.result)) return answer.result;
      last = answer;
      await sleep(250);
    }
    throw new Error(`${taskId} is still not there: ${JSON.stringify(last)}`);
  }

  function kill(victim: keyof typeof VICTIMS): void {
    const line = processesOf(dataDir).find((process) => process.includes(VICTIMS[victim]));
    assert.ok(line, `no ${victim} runs`);
    process.kill(Number.parseInt(line, 10), 'SIGKILL');
  }

  async function endsVerified(taskId: string, sendsBefore: number): Promise<void> {
    const { status, result } = await until(taskId, isEnded);
    assert.equal(status, 'completed');
    const { outcome, sent, observed } = result.structuredContent;
    assert.equal(outcome, 'verified', result.structuredContent.message);
    assert.equal(sent.count, 1);
    assert.equal(observed.temperature.value, asked);
    assert.equal((await sends('heater')) - sendsBefore, 1);
  }

  for (const victim of ['worker', 'MCP server', 'Temporal'] as const) {
    it(`${victim === 'Temporal' ? victim : `the ${victim}`} may be killed: the same task ends verified, sent once`, async () => {
      const sendsBefore = await sends('heater');
      const taskId = await settlingTask();
      kill(victim);
      await endsVerified(taskId, sendsBefore);
    });
  }

  it('all three may be killed in turn: the same task ends verified, sent once', async () => {
    const sendsBefore = await sends('heater');
    const taskId = await settlingTask();
    for (const victim of ['worker', 'MCP server', 'Temporal'] as const) {
      kill(victim);
      await sleep(2000);
    }
    await endsVerified(taskId, sendsBefore);
  });

  it('all of it may be killed and started again: the same task ends verified, sent once', async () => {
    const sendsBefore = await sends('heater');
    const taskId = await settlingTask();
    up.process.kill('SIGKILL');
    await up.ended;
    up = await start();
    await endsVerified(taskId, sendsBefore);
  });

  it('and another one waits for an approval, all of it may be killed: it waits on, and nothing is sent', async () => {
    const capabilities = { capabilities: TASKS };
    const asking = await callTool(
      url(),
      'set_device_state',
      { device: 'guarded', desired: { temperature: 25 } },
      capabilities,
    );
    const { commandId } = asking.result?.['structuredContent'] ?? {};
    up.process.kill('SIGKILL');
    await up.ended;
    up = await start();
    const { result } = await callTool(url(), 'get_command', { commandId }, capabilities);
    assert.equal(result?.['structuredContent'].state, 'waiting_for_approval');
    assert.equal(await sends('guarded'), 0);
  });
});
