import assert from 'node:assert/strict';
import { randomUUID } from 'node:crypto';
import { after, before, describe, it } from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';
import { type Serving, serve } from './serving.ts';
import { ask, callTool, TASKS, TASKS_AND_FORMS, type WireAnswer, type WireOptions } from './wire.ts';

describe('the Tasks extension', () => {
  let serving: Serving;
  let url: string;
  before(async () => {
    serving = await serve({ taskGraceMs: 0 });
    url = serving.url;
  });
  after(() => serving.close());

  const taskRequest = (
    method: string,
    taskId: unknown,
    more: object = {},
    options: WireOptions = { capabilities: TASKS },
  ) => ask(url, `tasks/${method}`, { taskId, ...more }, options);

  async function startTask(
    device: string,
    desired: object = { temperature: 26 },
    options: WireOptions = { capabilities: TASKS },
  ) {
    const { result } = await callTool(
      url,
      'set_device_state',
      { device, desired, requestId: randomUUID() },
      options,
    );
    assert.equal(result?.['resultType'], 'task', JSON.stringify(result));
    return result as Record<string, any>;
  }

  async function until(
    taskId: string,
    isEnough: (task: Record<string, any>) => boolean,
    options?: WireOptions,
  ) {
    const giveUpAt = Date.now() + 20_000;
    for (;;) {
      const { result } = await taskRequest('get', taskId, {}, options);
      assert.ok(result);
      if (isEnough(result)) return result;
      assert.ok(Date.now() < giveUpAt, `still ${result['status']}: ${result['statusMessage']}`);
      await sleep(100);
    }
  }
  const untilEnded = (taskId: string) =>
    until(taskId, ({ status }) => ['completed', 'cancelled', 'failed'].includes(status));

  it('is advertised in the modern era, as an empty object', async () => {
    const { result } = await ask(url, 'server/discover', {});
    assert.deepEqual(result?.['capabilities'].extensions, { 'io.modelcontextprotocol/tasks': {} });
  });

  it('answers a slow command with a task at once', async () => {
    const task = await startTask('slow-ac');
    assert.deepEqual(
      Object.keys(task)
        .filter((key) => key !== '_meta')
        .sort(),
      [
        'createdAt',
        'lastUpdatedAt',
        'pollIntervalMs',
        'resultType',
        'status',
        'statusMessage',
        'taskId',
        'ttlMs',
      ],
    );
    assert.equal(task['status'], 'working');
    assert.ok(task['ttlMs'] === null || Number.isInteger(task['ttlMs']));
    assert.ok(Number.isInteger(task['pollIntervalMs']));
    assert.ok(task['taskId'].length >= 22, 'an id of at least 128 bits');
    await taskRequest('cancel', task['taskId']);
  });

  it('ends completed with a whole result of its own', async () => {
    const { taskId } = await startTask('bedroom-ac');
    const task = await untilEnded(taskId);
    assert.equal(task['status'], 'completed');
    assert.equal(task['result'].resultType, 'complete');
    assert.equal(task['result'].isError, undefined);
    const { structuredContent, content } = task['result'];
    assert.equal(content[0].text, structuredContent.message);
    assert.equal(structuredContent.outcome, 'verified');
    assert.equal(structuredContent.commandId, taskId);
    assert.equal(structuredContent.observed.temperature.value, 26);
    assert.equal(structuredContent.sent.count, 1);
    assert.equal(structuredContent.sent.reply.status, 200);
    assert.ok(Number.isInteger(task['ttlMs']), 'the time it can still be asked about is known');
  });

  it('ends completed, with isError, when the device did not do it: failed is for our own faults', async () => {
    const { taskId } = await startTask('dead-lamp');
    const task = await untilEnded(taskId);
    assert.equal(task['status'], 'completed');
    assert.equal(task['result'].isError, true);
    assert.equal(task['result'].structuredContent.outcome, 'unchanged');
  });

  it('changes lastUpdatedAt only when the task does', async () => {
    const { taskId } = await startTask('slow-ac', { temperature: 21 });
    await until(taskId, (task) => /sent once/.test(task['statusMessage']));
    const shownAt = new Map<string, string>();
    for (let polls = 0; polls < 20; polls++) {
      const { result } = await taskRequest('get', taskId);
      const { lastUpdatedAt, ...shown } = result as Record<string, any>;
      assert.equal(shownAt.get(lastUpdatedAt) ?? JSON.stringify(shown), JSON.stringify(shown));
      shownAt.set(lastUpdatedAt, JSON.stringify(shown));
    }
    assert.ok(shownAt.size < 5, 'polling is no change');
    await taskRequest('cancel', taskId);
  });

  it('cancels: cancelled, stays so, and says what was sent', async () => {
    const { taskId } = await startTask('slow-ac', { temperature: 22 });
    await until(taskId, (task) => /sent once/.test(task['statusMessage']));
    assert.deepEqual(Object.keys((await taskRequest('cancel', taskId)).result ?? {}).sort(), [
      '_meta',
      'resultType',
    ]);
    const task = await untilEnded(taskId);
    assert.equal(task['status'], 'cancelled');
    assert.equal(task['result'], undefined);
    assert.ok((await taskRequest('cancel', taskId)).result, 'cancelling again is acknowledged');
    await sleep(300);
    assert.deepEqual((await taskRequest('get', taskId)).result, task);
    const evidence = await callTool(url, 'get_command', { commandId: taskId });
    assert.equal(evidence.result?.['isError'], true);
    assert.equal(evidence.result?.['structuredContent'].outcome, 'cancelled');
    assert.equal(evidence.result?.['structuredContent'].sent.count, 1);
  });

  it('acknowledges update and cancel of an ended task, and changes nothing', async () => {
    const { taskId } = await startTask('bedroom-ac', { temperature: 20 });
    const ended = await untilEnded(taskId);
    for (const acknowledged of [
      await taskRequest('cancel', taskId),
      await taskRequest('update', taskId, {
        inputResponses: { 'approve-1': { action: 'accept', content: { approve: true } } },
      }),
    ])
      assert.equal(acknowledged.result?.['resultType'], 'complete');
    // All but the age of the reading, which its text tells.
    const withoutText = ({ result, ...task }: Record<string, any>) => {
      const { message: _, ...content } = result.structuredContent;
      return { ...task, isError: result.isError, content };
    };
    const { result: still } = await taskRequest('get', taskId);
    assert.deepEqual(withoutText(still ?? {}), withoutText(ended));
  });

  it('says one and the same of ids that are unknown, malformed or huge', async () => {
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
      const headers = { 'mcp-name': plain ? taskId : `=?base64?${Buffer.from(taskId).toString('base64')}?=` };
      for (const method of ['get', 'update', 'cancel']) {
        const more = method === 'update' ? { inputResponses } : {};
        const { error } = await taskRequest(method, taskId, more, { capabilities: TASKS, headers });
        errors.add(JSON.stringify(error));
      }
    }
    assert.deepEqual(
      [...errors].map((error) => JSON.parse(error).code),
      [-32602],
    );
  });

  it('tells a client without the extension that it is missing, before anything else', async () => {
    for (const taskId of ['nothing', 7])
      for (const method of ['get', 'update', 'cancel']) {
        const { status, error } = await taskRequest(
          method,
          taskId,
          {},
          { headers: { 'mcp-name': String(taskId) } },
        );
        assert.deepEqual([status, error?.code], [400, -32021]);
        assert.deepEqual(error?.data, {
          requiredCapabilities: { extensions: { 'io.modelcontextprotocol/tasks': {} } },
        });
      }
  });

  it('refuses params of the wrong type', async () => {
    const { taskId } = await startTask('slow-ac', { temperature: 23 });
    const answers: WireAnswer[] = [
      await taskRequest('get', 7, {}, { capabilities: TASKS, headers: { 'mcp-name': '7' } }),
      await taskRequest('update', taskId),
    ];
    for (const { error } of answers)
      assert.ok(error !== undefined && [-32602, -32020].includes(error.code), JSON.stringify(error));
    await taskRequest('cancel', taskId);
  });

  it('says that Temporal is unreachable as an error of ours, never that the task is unknown or failed', async () => {
    const { taskId } = await startTask('slow-ac', { temperature: 24 });
    serving.commands.reachable = false;
    try {
      for (const [method, more] of [
        ['get', {}],
        ['update', { inputResponses: {} }],
        ['cancel', {}],
      ] as const) {
        const { status, error } = await taskRequest(method, taskId, more);
        assert.deepEqual([status, error?.code], [200, -32603]);
        assert.match(error?.message ?? '', /not lost/);
      }
    } finally {
      serving.commands.reachable = true;
    }
    await taskRequest('cancel', taskId);
  });

  describe('with an approval by the requester', () => {
    const asking = { capabilities: TASKS_AND_FORMS };
    const answerWith = (taskId: string, response: object, key = 'approve-1') =>
      taskRequest('update', taskId, { inputResponses: { [key]: response } }, asking);

    it('asks at once with a form of one required boolean without a default, and sends on a yes', async () => {
      const task = await startTask('night-lamp', { temperature: 26 }, asking);
      assert.equal(task['status'], 'input_required');
      assert.equal(task['inputRequests'], undefined, 'the questions come with tasks/get');
      const { inputRequests } = await until(task['taskId'], () => true, asking);
      const [[key, question]] = Object.entries<any>(inputRequests) as [[string, any]];
      assert.equal(question.method, 'elicitation/create');
      assert.match(question.params.message, /night-lamp.*\n.*temperature: 24 .*→ 26/s);
      assert.match(question.params.message, /until/);
      const { properties, required } = question.params.requestedSchema;
      assert.deepEqual(required, ['approve']);
      assert.deepEqual(
        [Object.keys(properties), properties.approve.type, 'default' in properties.approve],
        [['approve'], 'boolean', false],
      );
      await sleep(1_100);
      await answerWith(task['taskId'], { action: 'accept', content: { approve: true } }, key);
      const ended = await untilEnded(task['taskId']);
      assert.equal(ended['result'].structuredContent.outcome, 'verified');
      assert.equal(ended['result'].structuredContent.decidedBy, 'local');
    });

    it('takes a decline for a no: nothing is sent', async () => {
      const { taskId } = await startTask('night-lamp', { temperature: 26 }, asking);
      await sleep(1_100);
      await answerWith(taskId, { action: 'decline' });
      const { result } = await untilEnded(taskId);
      assert.deepEqual(
        [result.isError, result.structuredContent.outcome, result.structuredContent.sent.count],
        [true, 'declined', 0],
      );
    });

    it('takes nothing else for a yes', async () => {
      const { taskId } = await startTask('night-lamp', { temperature: 26 }, asking);
      for (const response of [
        { action: 'accept', content: { approve: 'true' } },
        { action: 'accept' },
        { action: 'cancel' },
        { method: 'x' },
        'yes',
        null,
      ])
        assert.ok((await answerWith(taskId, response as object)).result);
      assert.ok(
        (await answerWith(taskId, { action: 'accept', content: { approve: true } }, 'another-key')).result,
      );
      await sleep(300);
      const { result } = await taskRequest('get', taskId, {}, asking);
      assert.equal(result?.['status'], 'input_required');
      await taskRequest('cancel', taskId);
    });

    it('shows no question to a request that declares no forms, or that is unattended', async () => {
      const { taskId } = await startTask('night-lamp', { temperature: 26 }, asking);
      for (const options of [
        { capabilities: TASKS },
        { ...asking, headers: { 'readback-approval': 'queue' } },
      ]) {
        const { result } = await taskRequest('get', taskId, {}, options);
        assert.deepEqual([result?.['status'], result?.['inputRequests']], ['working', undefined]);
      }
      await taskRequest(
        'update',
        taskId,
        { inputResponses: { 'approve-1': { action: 'accept', content: { approve: true } } } },
        { ...asking, headers: { 'readback-approval': 'queue' } },
      );
      assert.equal(
        (await taskRequest('get', taskId, {}, asking)).result?.['status'],
        'input_required',
        'nobody was there to answer',
      );
      await taskRequest('cancel', taskId);
    });
  });
});
