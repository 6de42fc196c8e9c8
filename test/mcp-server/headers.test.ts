import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import { type House, openHouse, setting } from './serving.ts';
import { cites } from './tasks-requirements.ts';
import {
  answerCall,
  ask,
  callTool,
  FORMS,
  startTask,
  TASKS,
  taskRequest,
  untilTask,
  type WireOptions,
} from './wire.ts';

describe('headers that repeat the body', () => {
  let house: House;
  let url: string;
  let taskId: string;
  before(async () => {
    house = await openHouse();
    url = (await house.serve({ taskGraceMs: 0 })).url;
    taskId = (await startTask(url, setting('slow-ac')))['taskId'];
  });
  after(() => house.close());

  const NAMED = () =>
    [
      ['tools/call', { name: 'list_devices', arguments: {} }],
      ['tasks/get', { taskId }],
      ['tasks/update', { taskId, inputResponses: {} }],
      ['tasks/cancel', { taskId }],
    ] as const;
  const UNNAMED = [
    ['tools/list', {}],
    ['server/discover', {}],
    ['subscriptions/listen', { notifications: { taskIds: [] } }],
  ] as const;
  /** An empty header is none. */
  const refused = async (
    method: string,
    params: Readonly<Record<string, unknown>>,
    headers: Record<string, string>,
    capabilities: WireOptions['capabilities'] = TASKS,
  ) => {
    const { status, error } = await ask(url, method, params, { headers, capabilities });
    assert.deepEqual([status, error?.code], [400, -32020], `${method} ${JSON.stringify(headers)}`);
  };

  it('Mcp-Method must be there and name the method, to the letter', async () => {
    for (const [method, params] of [...NAMED(), ...UNNAMED])
      for (const claimed of ['', 'prompts/list', method.toUpperCase()])
        await refused(method, params, { 'mcp-method': claimed });
  });

  it(
    'Mcp-Name must name the tool or the task, to the letter, and must be there for a tool',
    cites('headers.name'),
    async () => {
      for (const [method, params] of NAMED())
        for (const claimed of ['something-else', ('name' in params ? params.name : taskId).toUpperCase()])
          await refused(method, params, { 'mcp-name': claimed });
      await refused('tools/call', { name: 'list_devices', arguments: {} }, { 'mcp-name': '' });
      const { result } = await taskRequest(url, 'get', taskId);
      assert.equal(result?.['status'], 'working', 'nothing was cancelled');
    },
  );

  it('Mcp-Name may be left out for a task, since any server has every task', async () => {
    const leftOut = { headers: { 'mcp-name': '' }, capabilities: TASKS };
    const { result, error } = await taskRequest(url, 'get', taskId, {}, leftOut);
    assert.equal(result?.['taskId'], taskId, JSON.stringify(error));
    const unspeakable = await taskRequest(url, 'get', 'un\u0007known\n', {}, leftOut);
    assert.equal(unspeakable.status, 400, 'what no header can hold is not put into one');
  });

  it('may have space around their values', async () => {
    const headers = { 'mcp-method': '  tasks/get ', 'mcp-name': ` ${taskId}  ` };
    const response = await ask(url, 'tasks/get', { taskId }, { headers, capabilities: TASKS });
    assert.ok(response.result, JSON.stringify(response.error));
  });

  it('are checked before what the client declares, and before who owns the task', async () => {
    await refused('tasks/get', { taskId }, { 'mcp-name': 'something-else' }, {});
    await refused('tasks/get', { taskId: 'unknown' }, { 'mcp-name': 'something-else' });
  });
});

describe('caching', () => {
  let house: House;
  let url: string;
  before(async () => {
    house = await openHouse();
    url = (await house.serve({ taskGraceMs: 0 })).url;
  });
  after(() => house.close());

  const hints = (result: Readonly<Record<string, unknown>> | undefined) => {
    assert.ok(result);
    return [result['cacheScope'], result['ttlMs']];
  };

  it('is allowed to anybody for what is the same for everybody: the tools and the description of the server', async () => {
    for (const method of ['tools/list', 'server/discover'])
      assert.deepEqual(hints((await ask(url, method, {})).result), ['public', 3_600_000], method);
  });

  it('is allowed for no answer of a tool, no question, and no retry', async () => {
    assert.deepEqual(hints((await callTool(url, 'list_devices', {})).result), [undefined, undefined]);
    const args = setting('night-lamp');
    const asking = await callTool(url, 'set_device_state', args, { capabilities: FORMS });
    assert.equal(asking.result?.['resultType'], 'input_required');
    assert.deepEqual(hints(asking.result), [undefined, undefined]);
    const dismissed = await answerCall(
      url,
      args,
      asking.result,
      { action: 'cancel' },
      { capabilities: FORMS },
    );
    assert.equal(dismissed.result?.['resultType'], 'complete');
    assert.deepEqual(hints(dismissed.result), [undefined, undefined]);
  });

  it('is allowed for no task: its ttlMs says how long it is kept', async () => {
    const created = await startTask(url, setting('bedroom-ac'));
    assert.deepEqual(hints(created), [undefined, null]);
    const ended = await untilTask(url, created['taskId'], ({ status }) => status === 'completed');
    assert.equal(ended['cacheScope'], undefined);
    assert.equal(ended['result'].cacheScope, undefined);
    assert.equal(ended['result'].ttlMs, undefined);
  });
});
