import assert from 'node:assert/strict';
import { randomUUID } from 'node:crypto';
import { after, before, describe, it } from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';
import { type House, openHouse, setting } from './serving.ts';
import { cites } from './tasks-requirements.ts';
import { ask, callTool, isEnded, startTask, TASKS, taskRequest, untilTask } from './wire.ts';

describe('the Tasks extension', () => {
  let house: House;
  let url: string;
  before(async () => {
    house = await openHouse();
    url = (await house.serve({ taskGraceMs: 0 })).url;
  });
  after(() => house.close());

  const sentOnce = (task: Readonly<Record<string, any>>) => /sent once/.test(task['statusMessage']);

  it('is advertised in the modern era, as an empty object', async () => {
    const { result } = await ask(url, 'server/discover', {});
    assert.deepEqual(result?.['capabilities'].extensions, { 'io.modelcontextprotocol/tasks': {} });
  });

  it('answers a slow command with a task at once', cites('create.result-type'), async () => {
    const { _meta, ...task } = await startTask(url, setting('slow-ac'));
    assert.deepEqual(Object.keys(task).sort(), [
      'createdAt',
      'lastUpdatedAt',
      'pollIntervalMs',
      'resultType',
      'status',
      'statusMessage',
      'taskId',
      'ttlMs',
    ]);
    assert.equal(task['status'], 'working');
    assert.ok(task['ttlMs'] === null || Number.isInteger(task['ttlMs']));
    assert.ok(Number.isInteger(task['pollIntervalMs']));
    assert.ok(task['taskId'].length >= 22, 'an id of at least 128 bits');
    await taskRequest(url, 'cancel', task['taskId']);
  });

  it(
    'ends completed with a whole result of its own',
    cites('get.completed', 'completed.same-result', 'get.result-type'),
    async () => {
      const args = setting('bedroom-ac');
      const { taskId } = await startTask(url, args);
      const { status, ttlMs, result } = await untilTask(url, taskId, isEnded);
      assert.equal(status, 'completed');
      assert.ok(Number.isInteger(ttlMs), 'the time it can still be asked about is known');
      assert.deepEqual([result.resultType, result.isError], ['complete', undefined]);
      const { structuredContent, content } = result;
      assert.equal(content[0].text, structuredContent.message);
      assert.match(
        structuredContent.message,
        /^DONE, verified\. "Bedroom air conditioner": asked temperature \d.*°C/,
      );
      assert.equal(structuredContent.outcome, 'verified');
      assert.equal(structuredContent.commandId, taskId);
      assert.deepEqual(structuredContent.requested, args.desired);
      const { value, unit, at } = structuredContent.observed.temperature;
      assert.deepEqual([value, unit], [args.desired['temperature'], '°C']);
      assert.ok(Date.parse(at) <= Date.parse(structuredContent.endedAt));
      assert.equal(structuredContent.sent.count, 1);
      assert.equal(structuredContent.sent.reply.status, 200);
    },
  );

  it(
    'ends completed, with isError, when the device did not do it: failed is for our own faults',
    cites('completed.tool-error', 'failed.only-protocol'),
    async () => {
      const { taskId } = await startTask(url, setting('dead-lamp'));
      const { status, result } = await untilTask(url, taskId, isEnded);
      assert.equal(status, 'completed');
      assert.deepEqual([result.isError, result.structuredContent.outcome], [true, 'unchanged']);
    },
  );

  it(
    'ends failed, with an error and words about it, when Readback itself is broken off',
    cites('get.failed', 'failed.error', 'failed.status-message'),
    async () => {
      // A device of its own: what comes after a command that was cut off has to wait.
      const { taskId } = await startTask(url, setting('attic-ac'));
      await untilTask(url, taskId, sentOnce);
      await house.harness.temporal.client.workflow.getHandle(taskId).terminate();
      const { status, statusMessage, error, result } = await untilTask(url, taskId, isEnded);
      assert.deepEqual([status, error.code, result], ['failed', -32603, undefined]);
      assert.match(error.message, /terminated.*1 send.*Look at the device/s);
      assert.equal(statusMessage, error.message);
    },
  );

  it('changes lastUpdatedAt only when the task does', async () => {
    const { taskId } = await startTask(url, setting('slow-ac'));
    await untilTask(url, taskId, sentOnce);
    const shownAt = new Map<string, string>();
    for (let polls = 0; polls < 20; polls++) {
      const { result } = await taskRequest(url, 'get', taskId);
      const { lastUpdatedAt, ...shown } = result as Record<string, any>;
      assert.equal(shownAt.get(lastUpdatedAt) ?? JSON.stringify(shown), JSON.stringify(shown));
      shownAt.set(lastUpdatedAt, JSON.stringify(shown));
    }
    assert.ok(shownAt.size < 10, 'a poll is no change');
    await taskRequest(url, 'cancel', taskId);
  });

  it(
    'cancels: cancelled, stays so, and says what was sent',
    cites('get.cancelled', 'cancel.empty', 'cancel.result-type'),
    async () => {
      const { taskId } = await startTask(url, setting('slow-ac'));
      await untilTask(url, taskId, sentOnce);
      const acknowledged = await taskRequest(url, 'cancel', taskId);
      assert.deepEqual(Object.keys(acknowledged.result ?? {}).sort(), ['_meta', 'resultType']);
      const task = await untilTask(url, taskId, isEnded);
      assert.deepEqual([task['status'], task['result']], ['cancelled', undefined]);
      assert.match(task['statusMessage'], /^cancelled: .*sent/i);
      assert.ok((await taskRequest(url, 'cancel', taskId)).result, 'cancelling again is acknowledged');
      await sleep(300);
      assert.deepEqual((await taskRequest(url, 'get', taskId)).result, task);
      const { result } = await callTool(url, 'get_command', { commandId: taskId });
      const { outcome, sent } = result?.['structuredContent'] ?? {};
      assert.deepEqual([result?.['isError'], outcome, sent.count], [true, 'cancelled', 1]);
    },
  );

  it(
    'acknowledges update and cancel of an ended task, and changes nothing',
    cites('update.result-type', 'cancel.result-type'),
    async () => {
      const { taskId } = await startTask(url, setting('bedroom-ac'));
      const ended = await untilTask(url, taskId, isEnded);
      const inputResponses = { 'approve-1': { action: 'accept', content: { approve: true } } };
      for (const answer of [
        await taskRequest(url, 'cancel', taskId),
        await taskRequest(url, 'update', taskId, { inputResponses }),
      ])
        assert.equal(answer.result?.['resultType'], 'complete');
      // All but the age of the reading, which its text tells.
      const withoutText = ({ result, ...task }: Readonly<Record<string, any>>) => {
        const { message: _, ...content } = result.structuredContent;
        return { ...task, isError: result.isError, content };
      };
      const { result: still } = await taskRequest(url, 'get', taskId);
      assert.deepEqual(withoutText(still ?? {}), withoutText(ended));
    },
  );

  it(
    'is the same on another server, with nothing shared but Temporal',
    cites('create.consistent'),
    async () => {
      const other = await house.serve({ taskGraceMs: 0 }, await house.harness.otherCommands());
      const args = setting('slow-ac');
      const { taskId } = await startTask(url, args);
      await untilTask(other.url, taskId, sentOnce);
      const joined = await callTool(other.url, 'set_device_state', args, { capabilities: TASKS });
      assert.equal(joined.result?.['taskId'], taskId);
      await taskRequest(other.url, 'cancel', taskId);
      assert.equal((await untilTask(url, taskId, isEnded))['status'], 'cancelled');
    },
  );

  it(
    'says one and the same of ids that are unknown, malformed, huge, or of another workflow',
    cites('errors.unknown-on-get', 'errors.unknown-on-others', 'update.unknown-task', 'cancel.unknown-task'),
    async () => {
      const args = setting('bedroom-ac');
      await untilTask(url, (await startTask(url, args))['taskId'], isEnded);
      const errors = new Set<string>();
      const inputResponses = { k: { action: 'accept', content: {} } };
      const ids = [
        'nothing',
        randomUUID(),
        '',
        'lane/bedroom-ac',
        '../etc',
        'ünï\u202e',
        'x'.repeat(900),
        'x'.repeat(5_000),
      ];
      for (const taskId of ids) {
        const plain = /^[\x21-\x7e]+$/.test(taskId);
        const headers = {
          'mcp-name': plain ? taskId : `=?base64?${Buffer.from(taskId).toString('base64')}?=`,
        };
        for (const method of ['get', 'update', 'cancel'] as const) {
          const more = method === 'update' ? { inputResponses } : {};
          const { error } = await taskRequest(url, method, taskId, more, { capabilities: TASKS, headers });
          errors.add(JSON.stringify(error));
        }
      }
      assert.equal(errors.size, 1, [...errors].join('\n'));
      assert.equal(JSON.parse([...errors][0] as string).code, -32602);
    },
  );

  it(
    'tells a client without the extension that it is missing, before anything else',
    cites('errors.missing-capability'),
    async () => {
      for (const taskId of ['nothing', 7])
        for (const method of ['get', 'update', 'cancel'] as const) {
          const { status, error } = await taskRequest(
            url,
            method,
            taskId,
            {},
            { headers: { 'mcp-name': String(taskId) } },
          );
          assert.deepEqual([status, error?.code], [400, -32021]);
          assert.deepEqual(error?.data, { requiredCapabilities: TASKS });
        }
    },
  );

  it('refuses params of the wrong type', cites('errors.informative'), async () => {
    const { taskId } = await startTask(url, setting('slow-ac'));
    const number = await taskRequest(
      url,
      'get',
      7,
      {},
      { capabilities: TASKS, headers: { 'mcp-name': '7' } },
    );
    assert.ok([-32602, -32020].includes(number.error?.code ?? 0), JSON.stringify(number.error));
    const nothing = await taskRequest(url, 'update', taskId);
    assert.deepEqual(
      [nothing.error?.code, /inputResponses must be an object/.test(nothing.error?.message ?? '')],
      [-32602, true],
    );
    await taskRequest(url, 'cancel', taskId);
  });

  it(
    'says that Temporal is unreachable as an error of ours, never that the task is unknown or failed',
    cites('errors.internal', 'errors.informative'),
    async () => {
      const { commands, cut } = await house.severableCommands();
      const cutOff = await house.serve({ taskGraceMs: 0 }, commands);
      // By the other server: what this one was told a moment ago it would tell again.
      const { taskId } = await startTask(url, setting('slow-ac'));
      cut();
      for (const method of ['get', 'update', 'cancel'] as const) {
        const startedAt = Date.now();
        const more = method === 'update' ? { inputResponses: {} } : {};
        const { status, error } = await taskRequest(cutOff.url, method, taskId, more);
        assert.deepEqual([status, error?.code], [200, -32603], JSON.stringify(error));
        assert.match(error?.message ?? '', /none is lost/);
        const elapsedMs = Date.now() - startedAt;
        assert.ok(elapsedMs < 6_000, `${method} took ${elapsedMs} ms`);
      }
      const { error } = await callTool(cutOff.url, 'set_device_state', setting('bedroom-ac'));
      assert.equal(error?.code, -32603);
      assert.deepEqual(cutOff.errors, [], 'no fault of this server');
      await taskRequest(url, 'cancel', taskId);
    },
  );
});
