/** Two servers behind one address, with nothing in common but Temporal. */
import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';
import { listen, showsTask } from './listening.ts';
import { type House, openHouse, setting } from './serving.ts';
import { callTool, isEnded, startTask, TASKS, TASKS_AND_FORMS, taskRequest, untilTask } from './wire.ts';

/** Nobody reads a question faster. */
const A_PERSONS_TIME_MS = 1_100;
const ASKING = { capabilities: TASKS_AND_FORMS };

describe('two replicas', () => {
  let house: House;
  let one: string;
  let other: string;
  before(async () => {
    house = await openHouse();
    one = (await house.serve({ taskGraceMs: 0 })).url;
    other = (await house.serve({ taskGraceMs: 0 }, await house.harness.otherCommands())).url;
  });
  after(() => house.close());

  const sends = async (device: string) =>
    (await house.harness.admin('GET', `/devices/${device}`)).counters.sends.arrived;

  it('let a task created on one be read, listened to and answered on the other', async () => {
    const { taskId } = await startTask(one, setting('night-lamp'), ASKING);
    const stream = await listen(other, { taskIds: [taskId] }, ASKING);
    const { params } = await stream.until(showsTask(taskId, 'input_required'));
    const [key] = Object.keys(params.inputRequests);
    assert.equal((await taskRequest(other, 'get', taskId, {}, ASKING)).result?.['status'], 'input_required');
    await sleep(A_PERSONS_TIME_MS);
    const inputResponses = { [key as string]: { action: 'accept', content: { approve: true } } };
    await taskRequest(other, 'update', taskId, { inputResponses }, ASKING);
    await stream.closed;
    const statuses = stream.tasks(taskId).map(({ status }) => status);
    assert.deepEqual([...new Set(statuses)], ['input_required', 'working', 'completed']);
    assert.equal(stream.tasks(taskId).at(-1)?.['result'].structuredContent.outcome, 'verified');
    assert.equal((await taskRequest(one, 'get', taskId)).result?.['status'], 'completed');
  });

  it('let a task created on one be cancelled on the other, in sight of a listener on the first', async () => {
    const { taskId } = await startTask(one, setting('slow-ac'));
    const stream = await listen(one, { taskIds: [taskId] });
    await stream.until(showsTask(taskId, 'working'));
    await taskRequest(other, 'cancel', taskId);
    await stream.closed;
    assert.equal(stream.tasks(taskId).at(-1)?.['status'], 'cancelled');
  });

  it('send once what is called on both within milliseconds, and tell both the same outcome', async () => {
    const args = { device: 'stuck-gate', desired: { door: 'open' } };
    const before = await sends('stuck-gate');
    const calls = await Promise.all(
      [one, other].map((url) => callTool(url, 'set_device_state', args, { capabilities: TASKS })),
    );
    const ended = await Promise.all(
      calls.map(async ({ result }, index) => {
        const url = index === 0 ? other : one;
        return result?.['resultType'] === 'task'
          ? (await untilTask(url, result['taskId'], isEnded))['result']
          : result;
      }),
    );
    assert.equal((await sends('stuck-gate')) - before, 1);
    const outcomes = ended.map((result) => result?.['structuredContent'].outcome);
    assert.deepEqual(outcomes, [outcomes[0], outcomes[0]]);
    assert.ok(outcomes[0] !== undefined);
  });

  it('let another server be listened to when the first one has gone', async () => {
    const leaving = await house.serve({ taskGraceMs: 0 }, await house.harness.otherCommands());
    const { taskId } = await startTask(leaving.url, setting('slow-ac'));
    await leaving.close();
    const stream = await listen(other, { taskIds: [taskId] });
    await stream.closed;
    assert.equal(stream.tasks(taskId).at(-1)?.['status'], 'completed');
  });
});
