import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';
import { type House, openHouse, setting } from './serving.ts';
import { cites } from './tasks-requirements.ts';
import { isEnded, startTask, TASKS, TASKS_AND_FORMS, taskRequest, untilTask } from './wire.ts';

/** Nobody reads a question faster; a quicker no is taken for the client's own. */
const A_PERSONS_TIME_MS = 1_100;
const ASKING = { capabilities: TASKS_AND_FORMS };
const YES = { action: 'accept', content: { approve: true } };

describe('an approval by the requester, asked through the task', () => {
  let house: House;
  let url: string;
  before(async () => {
    house = await openHouse();
    url = (await house.serve()).url;
  });
  after(() => house.close());

  const start = (more = {}) => startTask(url, { ...setting('night-lamp'), ...more }, ASKING);
  const show = async (taskId: string, options = ASKING) =>
    (await taskRequest(url, 'get', taskId, {}, options)).result ?? {};
  const openKey = async (taskId: string) =>
    Object.keys((await show(taskId))['inputRequests'] ?? {})[0] ?? 'none';
  const answer = async (taskId: string, response: unknown, key?: string) => {
    const inputResponses = { [key ?? (await openKey(taskId))]: response };
    const { result, error } = await taskRequest(url, 'update', taskId, { inputResponses }, ASKING);
    assert.equal(result?.['resultType'], 'complete', JSON.stringify(error));
  };
  const sends = async () => (await house.harness.admin('GET', '/devices/night-lamp')).counters.sends.arrived;

  it(
    'asks at once with a form of one required boolean without a default, and sends on a yes',
    cites('get.input-required'),
    async () => {
      const before = await sends();
      const args = setting('night-lamp');
      const task = await start({ ...args, reason: 'reading in bed\u202e\n\nApprove this' });
      assert.equal(task['status'], 'input_required');
      const { inputRequests } = await show(task['taskId']);
      const questions = Object.values<any>(inputRequests);
      assert.equal(questions.length, 1);
      const [{ method, params }] = questions;
      assert.equal(method, 'elicitation/create');
      assert.deepEqual(params.requestedSchema.required, ['approve']);
      const { approve, ...others } = params.requestedSchema.properties;
      assert.deepEqual([approve.type, 'default' in approve, others], ['boolean', false, {}]);
      const lines = params.message.split('\n');
      assert.match(lines[0], /"Night lamp".*Nothing has been sent/);
      assert.match(lines[1], new RegExp(`^brightness: .* → ${args.desired['brightness']} %$`));
      assert.match(params.message, /Somebody may be asleep/);
      assert.equal(lines.at(-1), 'The agent\'s own reason: "reading in bed Approve this"');
      assert.equal(await sends(), before);

      await sleep(A_PERSONS_TIME_MS);
      await answer(task['taskId'], YES);
      const { result } = await untilTask(url, task['taskId'], isEnded);
      const { outcome, decidedBy, decidedAt } = result.structuredContent;
      assert.deepEqual([outcome, decidedBy], ['verified', 'local']);
      assert.ok(Date.parse(decidedAt) > 0);
      assert.equal(await sends(), before + 1);
    },
  );

  it('takes a decline, and an accept with false, for a no: nothing is sent', async () => {
    const before = await sends();
    for (const no of [{ action: 'decline' }, { action: 'accept', content: { approve: false } }]) {
      const { taskId } = await start();
      await sleep(A_PERSONS_TIME_MS);
      await answer(taskId, no);
      const { result } = await untilTask(url, taskId, isEnded);
      const { outcome, sent } = result.structuredContent;
      assert.deepEqual([result.isError, outcome, sent.count], [true, 'declined', 0]);
    }
    assert.equal(await sends(), before);
  });

  it(
    'leaves it open after a no that no person can have given so fast, and asks again under a new key',
    cites('input.keys-unique', 'input.no-reuse', 'input.one-request', 'update.other-keys'),
    async () => {
      const { taskId } = await start();
      const first = await openKey(taskId);
      await answer(taskId, { action: 'decline' }, first);
      const second = await openKey(taskId);
      assert.notEqual(second, first);
      assert.match((await show(taskId))['statusMessage'], /perhaps no person saw it/);
      await answer(taskId, YES, first);
      assert.equal((await show(taskId))['status'], 'input_required', 'an answered key is answered for good');
      await taskRequest(url, 'cancel', taskId);
    },
  );

  it('takes nothing but a boolean true for a yes', cites('update.other-keys'), async () => {
    const before = await sends();
    const { taskId } = await start();
    const odd = [
      { action: 'accept', content: { approve: 'true' } },
      { action: 'accept', content: { approve: 1 } },
      { action: 'accept' },
      { action: 'cancel' },
      {},
      { method: 'x', ...YES },
      'yes',
      null,
    ];
    for (const response of odd) await answer(taskId, response);
    await answer(taskId, YES, 'another-key');
    const { status } = await show(taskId);
    assert.equal(status, 'input_required');
    await taskRequest(url, 'cancel', taskId);
    assert.equal((await untilTask(url, taskId, isEnded))['status'], 'cancelled');
    assert.equal(await sends(), before);
  });

  it('shows no question to a request that declares no forms, or that is unattended', async () => {
    const { taskId } = await start();
    const unattended = { ...ASKING, headers: { 'readback-approval': 'queue' } };
    for (const options of [
      { capabilities: TASKS },
      { capabilities: { ...TASKS, elicitation: { url: {} } } },
      unattended,
    ]) {
      const { status, inputRequests } = await show(taskId, options as typeof ASKING);
      assert.deepEqual([status, inputRequests], ['working', undefined]);
    }
    const inputResponses = { [await openKey(taskId)]: YES };
    await taskRequest(url, 'update', taskId, { inputResponses }, unattended);
    assert.equal((await show(taskId))['status'], 'input_required', 'nobody was there to answer');
    await taskRequest(url, 'cancel', taskId);
  });

  it('takes an empty elicitation capability for forms', async () => {
    const task = await startTask(url, setting('night-lamp'), { capabilities: { ...TASKS, elicitation: {} } });
    assert.equal(task['status'], 'input_required');
    await taskRequest(url, 'cancel', task['taskId']);
  });
});
