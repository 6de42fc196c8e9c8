import assert from 'node:assert/strict';
import { randomUUID } from 'node:crypto';
import { after, before, describe, it } from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';
import { modernClient } from './clients.ts';
import { isLastWord, LISTEN_ID, listen, showsTask } from './listening.ts';
import { type House, openHouse, setting } from './serving.ts';
import { type StdioHost, stdioHost } from './stdio-host.ts';
import { cites } from './tasks-requirements.ts';
import { isEnded, startTask, TASKS, TASKS_AND_FORMS, taskRequest, untilTask } from './wire.ts';

const SUBSCRIPTION_ID = 'io.modelcontextprotocol/subscriptionId';

describe('subscriptions/listen with taskIds, over HTTP', () => {
  let house: House;
  let url: string;
  before(async () => {
    house = await openHouse();
    url = (await house.serve({ taskGraceMs: 0 })).url;
  });
  after(() => house.close());

  const cancel = (taskId: string) => taskRequest(url, 'cancel', taskId);
  const withoutMeta = ({ _meta, ...rest }: Readonly<Record<string, any>>) => rest;

  it('acknowledges first, shows the task at once and after each change, and ends with it', async () => {
    const { taskId } = await startTask(url, setting('slow-ac'));
    const stream = await listen(url, { taskIds: [taskId] });
    await stream.closed;
    const [acknowledged, first] = stream.messages;
    assert.equal(acknowledged?.['method'], 'notifications/subscriptions/acknowledged');
    assert.deepEqual(acknowledged?.['params'].notifications, { taskIds: [taskId] });
    assert.equal(first?.['params'].status, 'working');
    const shown = stream.tasks(taskId);
    assert.ok(
      shown.some(({ status, statusMessage }) => status === 'working' && /sent once/.test(statusMessage)),
    );
    assert.equal(shown.at(-1)?.['status'], 'completed');
    assert.equal(shown.at(-1)?.['result'].structuredContent.outcome, 'verified');
    assert.ok(isLastWord(stream.messages.at(-1) ?? {}), 'closed gracefully');
    for (const { params, result } of stream.messages)
      assert.equal((params ?? result)._meta[SUBSCRIPTION_ID], LISTEN_ID);
  });

  it('shows what tasks/get shows at that moment', async () => {
    const { taskId } = await startTask(url, setting('dead-lamp'));
    const stream = await listen(url, { taskIds: [taskId] });
    await stream.closed;
    const { resultType, ...asked } = (await taskRequest(url, 'get', taskId)).result ?? {};
    assert.equal(resultType, 'complete');
    assert.deepEqual(
      Object.keys(withoutMeta(stream.tasks(taskId).at(-1) ?? {})).sort(),
      Object.keys(withoutMeta(asked)).sort(),
    );
    const { status, lastUpdatedAt, ttlMs } = stream.tasks(taskId).at(-1) ?? {};
    assert.deepEqual(
      [status, lastUpdatedAt, ttlMs],
      [asked['status'], asked['lastUpdatedAt'], asked['ttlMs']],
    );
  });

  it('never shows the same twice, and nothing but tasks', cites('listen.nothing-else'), async () => {
    const { taskId } = await startTask(url, setting('slow-ac'));
    const stream = await listen(url, { taskIds: [taskId, taskId] });
    await stream.closed;
    const texts = stream.tasks(taskId).map((task) => JSON.stringify(task));
    assert.equal(new Set(texts).size, texts.length);
    const methods = new Set(stream.messages.flatMap(({ method }) => method ?? []));
    assert.deepEqual([...methods], ['notifications/subscriptions/acknowledged', 'notifications/tasks']);
  });

  it('serves a client library: notified until the end, which is graceful', async () => {
    const { taskId } = await startTask(url, setting('slow-ac'));
    const client = await modernClient(url, TASKS);
    const statuses: string[] = [];
    client.fallbackNotificationHandler = async ({ method, params }) => {
      if (method === 'notifications/tasks') statuses.push((params as { status: string }).status);
    };
    try {
      const subscription = await client.listen({ taskIds: [taskId] } as never);
      assert.equal(await subscription.closed, 'graceful');
      assert.deepEqual([statuses[0], statuses.at(-1)], ['working', 'completed']);
    } finally {
      await client.close();
    }
  });

  it('shows an ended task at once, and ends', async () => {
    const { taskId } = await startTask(url, setting('bedroom-ac'));
    await untilTask(url, taskId, isEnded);
    const stream = await listen(url, { taskIds: [taskId] });
    await stream.closed;
    assert.deepEqual(
      stream.tasks(taskId).map(({ status }) => status),
      ['completed'],
    );
  });

  it('leaves ids that are unknown, of another workflow or malformed out of the acknowledgement', async () => {
    const { taskId } = await startTask(url, setting('slow-ac'));
    const strangers = [randomUUID(), 'lane/slow-ac', '', 'x'.repeat(5_000), 'ünï\u202e'];
    const stream = await listen(url, { taskIds: [...strangers, taskId] });
    await stream.until(showsTask(taskId, 'working'));
    assert.deepEqual(stream.messages[0]?.['params'].notifications.taskIds, [taskId]);
    stream.hangUp();
    const nothing = await listen(url, { taskIds: strangers });
    await nothing.closed;
    assert.deepEqual(nothing.messages[0]?.['params'].notifications, { taskIds: [] });
    assert.ok(isLastWord(nothing.messages[1] ?? {}));
    await cancel(taskId);
  });

  it('follows several tasks, until the last one has ended', async () => {
    const [quick, slow] = [
      await startTask(url, setting('bedroom-ac')),
      await startTask(url, setting('slow-ac')),
    ];
    const stream = await listen(url, { taskIds: [quick['taskId'], slow['taskId']] });
    await stream.until(showsTask(quick['taskId'], 'completed'));
    await cancel(slow['taskId']);
    await stream.closed;
    assert.equal(stream.tasks(slow['taskId']).at(-1)?.['status'], 'cancelled');
  });

  it('shows an input request only to whom it can be put', async () => {
    const { taskId } = await startTask(url, setting('night-lamp'), { capabilities: TASKS_AND_FORMS });
    const able = await listen(url, { taskIds: [taskId] }, { capabilities: TASKS_AND_FORMS });
    const unable = await listen(url, { taskIds: [taskId] });
    const { params } = await able.until(showsTask(taskId, 'input_required'));
    assert.equal(Object.values<any>(params.inputRequests)[0].method, 'elicitation/create');
    await unable.until(showsTask(taskId, 'working'));
    assert.equal(unable.tasks(taskId)[0]?.['inputRequests'], undefined);
    await cancel(taskId);
    await Promise.all([able.closed, unable.closed]);
  });

  it(
    'refuses a client without the extension, before it looks at the ids',
    cites('listen.missing-capability'),
    async () => {
      for (const taskIds of [['nothing'], [], 'nothing', [7]]) {
        const { status, messages, closed } = await listen(url, { taskIds }, { capabilities: {} });
        await closed;
        assert.deepEqual([status, messages[0]?.['error'].code], [400, -32021]);
        assert.deepEqual(messages[0]?.['error'].data, { requiredCapabilities: TASKS });
        assert.equal(messages[0]?.['id'], LISTEN_ID);
      }
    },
  );

  it('refuses ids that are no list of texts, and too many', async () => {
    for (const taskIds of [
      'nothing',
      [7],
      {},
      null,
      Array.from({ length: 101 }, (_, index) => `t${index}`),
    ]) {
      const { messages, closed } = await listen(url, { taskIds });
      await closed;
      assert.equal(messages[0]?.['error'].code, -32602, JSON.stringify(taskIds));
      assert.match(messages[0]?.['error'].message, /taskIds must be a list of at most 100/);
    }
  });

  it('follows no more tasks for one principal than it can bear, and counts no listener that has gone', async () => {
    const subscriptionLimits = { tasksPerStream: 2, tasksPerPrincipal: 3 };
    const { url: narrow } = await house.serve({}, house.harness.commands, { subscriptionLimits });
    const { taskId } = await startTask(url, setting('slow-ac'));
    const streams = [
      await listen(narrow, { taskIds: [taskId] }),
      await listen(narrow, { taskIds: [taskId, 'unknown'] }),
    ];
    const refused = await listen(narrow, { taskIds: [taskId, 'unknown'] });
    await refused.closed;
    assert.equal(refused.messages[0]?.['error'].code, -32603);
    assert.match(refused.messages[0]?.['error'].message, /at most 3/);
    for (const stream of streams) stream.hangUp();
    for (let tries = 0; tries < 50; tries += 1) {
      const again = await listen(narrow, { taskIds: [taskId, 'unknown'] });
      const first = await again.until(() => true);
      again.hangUp();
      if (first['method'] !== undefined) break;
      assert.ok(tries < 49, 'those who hung up are still counted');
      await sleep(50);
    }
    await cancel(taskId);
  });

  it('keeps a silent stream alive', async () => {
    const { url: chatty } = await house.serve({}, house.harness.commands, { keepAliveMs: 50 });
    const { taskId } = await startTask(url, setting('slow-ac'));
    const stream = await listen(chatty, { taskIds: [taskId] });
    await sleep(400);
    assert.ok(stream.comments.length >= 3, `${stream.comments.length}`);
    stream.hangUp();
    await cancel(taskId);
  });

  it('says goodbye when the server ends', async () => {
    const ending = await house.serve({ taskGraceMs: 0 });
    const { taskId } = await startTask(url, setting('slow-ac'));
    const stream = await listen(ending.url, { taskIds: [taskId] });
    await stream.until(showsTask(taskId, 'working'));
    const startedAt = Date.now();
    await ending.close();
    await stream.closed;
    assert.ok(isLastWord(stream.messages.at(-1) ?? {}));
    assert.ok(Date.now() - startedAt < 900, 'at once');
    await cancel(taskId);
  });

  it('says that Temporal is unreachable as an error of ours', async () => {
    const { commands, cut } = await house.severableCommands();
    const cutOff = await house.serve({}, commands);
    cut();
    const { messages, closed } = await listen(cutOff.url, { taskIds: ['any'] });
    await closed;
    assert.equal(messages[0]?.['error'].code, -32603);
    assert.match(messages[0]?.['error'].message, /none is lost/);
  });
});

describe('subscriptions/listen with taskIds, over stdio', () => {
  let house: House;
  let url: string;
  let host: StdioHost;
  before(async () => {
    house = await openHouse();
    url = (await house.serve({ taskGraceMs: 0 })).url;
    host = await stdioHost(house);
  });
  after(async () => {
    await host.close();
    await house.close();
  });

  it('serves a client library: notified until the end, which is graceful', async () => {
    const client = await host.connect(TASKS);
    const shown: Record<string, any>[] = [];
    client.fallbackNotificationHandler = async ({ method, params }) => {
      if (method === 'notifications/tasks') shown.push(params as Record<string, any>);
    };
    try {
      const { taskId } = await startTask(url, setting('slow-ac'));
      const subscription = await client.listen({ taskIds: [taskId, 'unknown'] } as never);
      assert.equal(await subscription.closed, 'graceful');
      assert.deepEqual([shown[0]?.['status'], shown.at(-1)?.['status']], ['working', 'completed']);
      assert.ok(
        shown.every((task) => task['taskId'] === taskId && task['_meta'][SUBSCRIPTION_ID] !== undefined),
      );
    } finally {
      await client.close();
    }
  });

  it('shows nothing more after a cancel by the client, and serves its other requests meanwhile', async () => {
    const client = await host.connect(TASKS);
    let shown = 0;
    client.fallbackNotificationHandler = async ({ method }) => {
      if (method === 'notifications/tasks') shown += 1;
    };
    try {
      const { taskId } = await startTask(url, setting('slow-ac'));
      const subscription = await client.listen({ taskIds: [taskId] } as never);
      assert.equal((await client.listTools()).tools.length, 5);
      await subscription.close();
      const before = shown;
      await untilTask(url, taskId, isEnded);
      assert.equal((await client.listTools()).tools.length, 5);
      assert.ok(shown <= before + 1, 'but for what was under way');
    } finally {
      await client.close();
    }
  });

  it('refuses a client without the extension, and ids that are no list', async () => {
    const able = await host.connect(TASKS);
    const unable = await host.connect({});
    try {
      await assert.rejects(unable.listen({ taskIds: ['any'] } as never), { code: -32021 });
      await assert.rejects(able.listen({ taskIds: 'any' } as never), { code: -32602 });
      const nothing = await able.listen({ taskIds: ['unknown'] } as never);
      assert.equal(await nothing.closed, 'graceful');
    } finally {
      await able.close();
      await unable.close();
    }
  });
});
