/** What the conformance suite doesn't check, or skips, shown on its own fixtures. */
import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import { isLastWord, listen, showsTask } from '../mcp-server/listening.ts';
import { cites } from '../mcp-server/tasks-requirements.ts';
import {
  ask,
  callTool,
  isEnded,
  TASKS_AND_FORMS,
  taskRequest,
  untilTask,
  type WireOptions,
} from '../mcp-server/wire.ts';
import { type FixtureServer, startFixtureServer } from './fixture-server.ts';

const ASKING = { capabilities: TASKS_AND_FORMS };
const YES = { action: 'accept', content: { confirm: true } };

describe('beyond the conformance suite', () => {
  let server: FixtureServer;
  let url: string;
  before(async () => {
    server = await startFixtureServer();
    url = server.url;
  });
  after(() => server.close());

  const start = async (tool: string, args = {}, options: WireOptions = ASKING): Promise<string> => {
    const { result, error } = await callTool(url, tool, args, options);
    assert.equal(result?.['resultType'], 'task', JSON.stringify(error));
    return result?.['taskId'];
  };

  it(
    'questions that are asked at once are answered one by one, each key once',
    cites('get.all-outstanding', 'input.one-request', 'input.no-reuse', 'update.empty', 'update.result-type'),
    async () => {
      const taskId = await start('multi_input');
      const stream = await listen(url, { taskIds: [taskId] }, ASKING);
      const both = await stream.until(({ params }) => Object.keys(params?.inputRequests ?? {}).length === 2);
      const [first, second] = Object.keys(both['params'].inputRequests) as [string, string];
      const answer = async (responses: object) => {
        const { result } = await taskRequest(url, 'update', taskId, { inputResponses: responses }, ASKING);
        const { _meta, ...acknowledgement } = result ?? {};
        assert.deepEqual(acknowledgement, { resultType: 'complete' });
      };
      await answer({ [first]: YES, 'never-asked': YES });
      const one = await stream.until(({ params }) => Object.keys(params?.inputRequests ?? {}).length === 1);
      assert.deepEqual(Object.keys(one['params'].inputRequests), [second]);
      await answer({ [first]: { action: 'decline' } });
      await answer({ [second]: YES });
      await stream.closed;
      assert.equal(stream.tasks(taskId).at(-1)?.['result'].content[0].text, 'first: true, second: true');
    },
  );

  it(
    'a task that breaks off shows the very error that the call would have got',
    cites('failed.same-error', 'get.failed'),
    async () => {
      const taskId = await start('protocol_error_job');
      const stream = await listen(url, { taskIds: [taskId] });
      await stream.until(showsTask(taskId, 'failed'));
      const error = { code: -32603, message: 'The job broke off, as it always does.' };
      const { status, statusMessage, ...task } = await untilTask(url, taskId, isEnded);
      assert.deepEqual([status, task['error'], task['result']], ['failed', error, undefined]);
      assert.equal(statusMessage, error.message);
      assert.deepEqual(stream.tasks(taskId).at(-1)?.['error'], error);
    },
  );

  it(
    'a task is there for its owner alone, on every request about it',
    cites('security.every-request', 'errors.unknown-on-get', 'errors.unknown-on-others'),
    async () => {
      const stranger = { ...ASKING, headers: { 'fixture-principal': 'stranger' } };
      const taskId = await start('confirm_delete', { filename: 'mine.txt' });
      const { inputRequests } = await untilTask(
        url,
        taskId,
        ({ status }) => status === 'input_required',
        ASKING,
      );
      const inputResponses = Object.fromEntries(Object.keys(inputRequests).map((key) => [key, YES]));
      for (const [method, more] of [
        ['get', {}],
        ['update', { inputResponses }],
        ['cancel', {}],
      ] as const) {
        const his = await taskRequest(url, method, taskId, more, stranger);
        const nobodys = await taskRequest(url, method, 'nothing', more, stranger);
        assert.deepEqual([his.status, his.error], [nobodys.status, nobodys.error]);
        assert.equal(his.error?.code, -32602);
      }
      const stream = await listen(url, { taskIds: [taskId] }, stranger);
      await stream.closed;
      assert.deepEqual(stream.messages[0]?.['params'].notifications.taskIds, []);
      assert.equal(stream.messages.length, 2);
      const { result } = await taskRequest(url, 'get', taskId, {}, ASKING);
      assert.equal(result?.['status'], 'input_required', 'neither answered nor cancelled');
      await taskRequest(url, 'cancel', taskId);
    },
  );

  it('a stream that is listened to for more than tasks goes on when they have ended', async () => {
    const taskId = await start('slow_compute', { seconds: 1 });
    const stream = await listen(url, { taskIds: [taskId], toolsListChanged: true });
    await stream.until(showsTask(taskId, 'completed'));
    assert.deepEqual(stream.messages[0]?.['params'].notifications, {
      toolsListChanged: true,
      taskIds: [taskId],
    });
    await callTool(url, 'test_trigger_tool_change', {});
    await stream.until(({ method }) => method === 'notifications/tools/list_changed');
    assert.ok(!stream.messages.some(isLastWord));
    stream.hangUp();
  });

  it('what may be cached says for how long and for whom; a question, and the answer to it, may not', async () => {
    const shown = async (method: string, params: object) => {
      const { result, error } = await ask(url, method, params, { capabilities: TASKS_AND_FORMS });
      assert.ok(result, JSON.stringify(error));
      return result;
    };
    const hints = ({ ttlMs, cacheScope }: Readonly<Record<string, unknown>>) => [ttlMs, cacheScope];
    for (const method of [
      'tools/list',
      'prompts/list',
      'resources/list',
      'resources/templates/list',
      'server/discover',
    ])
      assert.deepEqual(hints(await shown(method, {})), [60_000, 'public'], method);
    const read = (uri: string, more = {}) =>
      ask(url, 'resources/read', { uri, ...more }, { ...ASKING, headers: { 'mcp-name': uri } });
    assert.deepEqual(hints((await read('test://static-text')).result ?? {}), [60_000, 'private']);
    const asking = (await read('test://asking')).result ?? {};
    assert.equal(asking['resultType'], 'input_required');
    assert.deepEqual(hints(asking), [undefined, undefined]);
    const inputResponses = { user_name: { action: 'accept', content: { name: 'Ann' } } };
    const retried = (await read('test://asking', { inputResponses })).result ?? {};
    assert.match(retried['contents'][0].text, /Ann/);
    assert.deepEqual(hints(retried), [0, 'private']);
  });

  it('nothing that a scenario does is a fault of the server', () => {
    assert.deepEqual(server.errors, []);
  });
});
