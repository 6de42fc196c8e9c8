import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';
import { type House, openHouse, setting } from './serving.ts';
import { cites } from './tasks-requirements.ts';
import { callTool, envelope, startTask, TASKS, taskRequest } from './wire.ts';

describe('a new task', () => {
  let house: House;
  let url: string;
  before(async () => {
    house = await openHouse();
    url = (await house.serve({ taskGraceMs: 0 })).url;
  });
  after(() => house.close());

  it(
    'is given only to a request that declares the extension itself, as 2026-07-28 does',
    cites('create.only-declared', 'create.legacy-is-undeclared'),
    async () => {
      await taskRequest(url, 'cancel', (await startTask(url, setting('slow-ac')))['taskId']);
      const impatient = await house.serve({ taskGraceMs: 0, syncWaitMs: 200 });
      const legacy = { tasks: { requests: { tools: { call: {} } }, cancel: {}, list: {} } };
      for (const capabilities of [{}, legacy, { extensions: {} }]) {
        const wire = { capabilities };
        const { result } = await callTool(impatient.url, 'set_device_state', setting('slow-ac'), wire);
        assert.deepEqual([result?.['resultType'], result?.['taskId']], ['complete', undefined]);
        const { commandId } = result?.['structuredContent'] ?? {};
        assert.equal((await taskRequest(url, 'get', commandId, {}, wire)).error?.code, -32021);
        await taskRequest(url, 'cancel', commandId);
      }
    },
  );

  it(
    'is found at once, under an id that nobody can guess',
    cites('create.durable', 'create.result-type-only', 'get.working', 'security.unguessable'),
    async () => {
      const ids = new Set<string>();
      for (let tasks = 0; tasks < 5; tasks += 1) {
        const { taskId } = await startTask(url, setting('slow-ac'));
        const { result } = await taskRequest(url, 'get', taskId);
        assert.deepEqual([result?.['resultType'], result?.['status']], ['complete', 'working']);
        assert.match(taskId, /^[0-9a-f]{32}$/, '128 bits, random');
        ids.add(taskId.slice(0, 8)).add(taskId.slice(-8));
        await taskRequest(url, 'cancel', taskId);
      }
      assert.equal(ids.size, 10, 'no part of it is counted or kept');
    },
  );

  it(
    'outlives its request: a notification that cancels that one changes nothing',
    cites('cancel.not-by-notification'),
    async () => {
      const { taskId } = await startTask(url, setting('slow-ac'));
      for (const requestId of [1, taskId]) {
        const params = { requestId, _meta: envelope(TASKS) };
        const headers = {
          'content-type': 'application/json',
          accept: 'application/json, text/event-stream',
          'mcp-protocol-version': '2026-07-28',
          'mcp-method': 'notifications/cancelled',
        };
        const body = JSON.stringify({ jsonrpc: '2.0', method: 'notifications/cancelled', params });
        const response = await fetch(`${url}/mcp`, { method: 'POST', headers, body });
        assert.ok(response.status < 500, await response.text());
      }
      await sleep(300);
      assert.equal((await taskRequest(url, 'get', taskId)).result?.['status'], 'working');
      await taskRequest(url, 'cancel', taskId);
    },
  );
});
