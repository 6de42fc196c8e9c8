import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';
import { taskSession } from './clients.ts';
import { type House, openHouse, setting } from './serving.ts';
import {
  callTool,
  FORMS,
  isEnded,
  startTask,
  TASKS,
  TASKS_AND_FORMS,
  taskRequest,
  untilTask,
  type WireOptions,
} from './wire.ts';

const YES = { action: 'accept', content: { approve: true } };
const OPERATOR = { kind: 'operator' } as const;
const CONSOLE = 'http://127.0.0.1:8484/';
const ANNS_YES = { decision: 'approved', by: 'ann', via: 'console', comment: null } as const;
const ASKING: WireOptions = { capabilities: TASKS_AND_FORMS };

describe('an approval in the queue', () => {
  let house: House;
  let url: string;
  before(async () => {
    house = await openHouse();
    url = (await house.serve({ consoleUrl: CONSOLE })).url;
  });
  after(() => house.close());

  const set = async (args: Readonly<Record<string, unknown>>, options: WireOptions = {}, at = url) => {
    const { result, error } = await callTool(at, 'set_device_state', args, options);
    assert.equal(result?.['resultType'], 'complete', JSON.stringify(result ?? error));
    assert.equal(result?.['structuredContent'].message, result?.['content'][0].text);
    return result?.['structuredContent'];
  };
  const show = async (taskId: string, options: WireOptions = ASKING, at = url) =>
    (await taskRequest(at, 'get', taskId, {}, options)).result ?? {};
  const viewOf = async (commandId: string) => {
    const snapshot = await house.harness.commands.get(commandId, OPERATOR);
    assert.ok(snapshot);
    return snapshot.view;
  };
  const cancel = (commandId: string) => house.harness.commands.cancel(commandId, OPERATOR);
  const update = (taskId: string, key: string, response: unknown, options = ASKING) =>
    taskRequest(url, 'update', taskId, { inputResponses: { [key]: response } }, options);

  it('C6: is told in one text that stands alone: asked, shown, sent, who, where, until when, and what then', async () => {
    const patient = await house.serve({ consoleUrl: CONSOLE, taskGraceMs: 40_000 });
    for (const [device, capabilities, who] of [
      ['boiler', TASKS_AND_FORMS, /an operator \(not you, not this user\)/],
      ['boiler', FORMS, /an operator \(not you, not this user\)/],
      ['night-lamp', TASKS, /the person who asked, or an operator \(not you\)/],
      ['night-lamp', { ...TASKS, elicitation: { url: {} } }, /the person who asked, or an operator/],
      ['night-lamp', {}, /the person who asked, or an operator \(not you\)/],
    ] as const) {
      const args = setting(device);
      const startedAt = Date.now();
      const { message, state, done, commandId, next, sent } = await set(args, { capabilities }, patient.url);
      assert.ok(Date.now() - startedAt < 20_000, 'it does not wait for the grace to be over');
      assert.deepEqual([state, done, next, sent.count], ['waiting_for_approval', false, undefined, 0]);
      const [[field, value]] = Object.entries(args.desired) as [[string, number]];
      assert.match(message, new RegExp(`^NOTHING SENT YET\\. "[^"]+": asked ${field} ${value} `));
      assert.match(message, new RegExp(`${field} reads \\d+ .{1,3} \\(\\d+ m?s ago\\)`));
      assert.match(message, who);
      assert.match(message, new RegExp(`: ${CONSOLE}, until \\d{4}-\\d\\d-\\d\\d \\d\\d:\\d\\d UTC\\.`));
      assert.match(message, /Tell the user and end your turn; don't poll\. It runs by itself once approved/);
      assert.match(message, new RegExp(`get_command\\(commandId="${commandId}"\\)`));
      assert.equal((await show(commandId))['taskId'], commandId, 'the commandId answers tasks/get too');
      await cancel(commandId);
    }
  });

  it('is decided there, and the command then runs by itself', async () => {
    const before = await house.sends('boiler');
    const { commandId } = await set(setting('boiler'));
    assert.equal(await house.sends('boiler'), before);
    assert.deepEqual(await house.harness.commands.decide(commandId, ANNS_YES), { kind: 'taken' });
    const { result } = await untilTask(url, commandId, isEnded);
    const { outcome, decidedBy, sent } = result.structuredContent;
    assert.deepEqual([outcome, decidedBy, sent.count], ['verified', 'ann', 1]);
  });

  it('stays a task where the catalogue wants operators waited for', async () => {
    const waiting = (await house.serve({ operatorWait: 'task' })).url;
    for (const [device, capabilities] of [
      ['boiler', TASKS_AND_FORMS],
      ['night-lamp', TASKS],
    ] as const) {
      const { taskId, status } = await startTask(waiting, setting(device), { capabilities });
      assert.equal(status, 'working');
      const shown = await show(taskId, { capabilities }, waiting);
      assert.deepEqual([shown['status'], shown['inputRequests']], ['working', undefined]);
      assert.match(shown['statusMessage'], /waiting for a yes from (an operator|the requester)/);
      await cancel(taskId);
    }
    const { state } = await set(setting('boiler'), {}, waiting);
    assert.equal(state, 'waiting_for_approval', 'a client without tasks is answered as ever');
  });

  it('A6: an operator’s rule is not decided by tasks/update of the requester', async () => {
    const before = await house.sends('boiler');
    const { commandId } = await set(setting('boiler'), ASKING);
    for (const key of ['approve-1', 'approve-2', 'approve']) await update(commandId, key, YES);
    const { phase, decidedBy, approval } = await viewOf(commandId);
    assert.deepEqual([phase, decidedBy, approval?.attempts], ['waiting_for_approval', null, undefined]);
    assert.equal(await house.sends('boiler'), before);
    await cancel(commandId);
  });

  it('A1: stays open there, however often a client’s own no comes through its task', async () => {
    const before = await house.sends('night-lamp');
    let questions = 0;
    const { session, close } = await taskSession(url, async () => {
      questions += 1;
      await sleep(5);
      return { action: 'decline' };
    });
    try {
      const execution: any = await session.callTool('set_device_state', setting('night-lamp'));
      const { taskId } = execution.handle;
      const settled = execution.settle().catch(() => undefined);
      // Not shown to this poll: the question counts from when somebody was first shown it.
      await untilTask(url, taskId, () => questions >= 3, { capabilities: TASKS });
      await sleep(500);
      const { approval, phase } = await viewOf(taskId);
      assert.equal(phase, 'waiting_for_approval');
      assert.ok((approval?.attempts ?? []).length >= 3);
      for (const { how, via, latencyMs } of approval?.attempts ?? [])
        assert.deepEqual([how, via, latencyMs < 1_000], ['tooFast', 'form', true]);
      assert.match(
        (await show(taskId))['statusMessage'],
        /answered by the client after \d+ ms; perhaps no person/,
      );
      assert.deepEqual(
        await house.harness.commands.decide(taskId, { ...ANNS_YES, decision: 'declined', comment: 'no' }),
        {
          kind: 'taken',
        },
      );
      await settled;
    } finally {
      await close();
    }
    assert.equal(await house.sends('night-lamp'), before);
  });

  it('keeps the latest ten attempts, and no more than 25 are taken through the client', async () => {
    const { taskId } = await startTask(url, setting('night-lamp'), ASKING);
    for (let attempt = 1; attempt <= 26; attempt += 1)
      await update(taskId, `approve-${attempt}`, { action: 'cancel' });
    const { approval } = await viewOf(taskId);
    assert.deepEqual([approval?.attempts?.length, approval?.key], [10, 'approve-26']);
    await update(taskId, 'approve-26', YES);
    assert.equal((await viewOf(taskId)).decidedBy, null);
    assert.deepEqual(await house.harness.commands.decide(taskId, ANNS_YES), { kind: 'taken' });
    const { result } = await untilTask(url, taskId, isEnded);
    assert.equal(result.structuredContent.outcome, 'verified', 'the queue decides all the same');
  });

  it('A3: expires at its time, sends nothing, and refuses a late yes', async () => {
    const before = await house.sends('hall-lamp');
    const { taskId } = await startTask(url, setting('hall-lamp'), ASKING);
    const { status, result } = await untilTask(url, taskId, isEnded);
    const { outcome, message } = result.structuredContent;
    assert.deepEqual([status, outcome, result.isError], ['completed', 'expired', true]);
    assert.match(message, /Tell the user; the same call asks again/);
    assert.ok((await update(taskId, 'approve-1', YES)).result, 'acknowledged, as for every ended task');
    const late = await house.harness.commands.decide(taskId, ANNS_YES);
    assert.deepEqual(late, { kind: 'notPending', why: 'it has ended: expired' });
    assert.equal(await house.sends('hall-lamp'), before);
  });

  it('C1: a client without tasks never gets one, and the same call again is the same command', async () => {
    const hasty = await house.serve({ syncWaitMs: 500 });
    const args = setting('slow-ac');
    const first = await set(args, { capabilities: FORMS }, hasty.url);
    assert.match(first.message, new RegExp(`^NOT DONE\\..*get_command\\(commandId="${first.commandId}"`));
    const again = await set(args, {}, hasty.url);
    assert.equal(again.commandId, first.commandId);
    await cancel(first.commandId);
  });

  it('C3: a cancel before the approval sends nothing, while it settles says what was sent, and lets a send finish', async () => {
    const cancelled = async (commandId: string) => {
      await callTool(url, 'cancel_command', { commandId });
      await untilTask(url, commandId, isEnded);
      const { result } = await callTool(url, 'get_command', { commandId });
      const { outcome, sent, message } = result?.['structuredContent'] ?? {};
      assert.equal(outcome, 'cancelled');
      return { sent, message };
    };
    const waiting = await startTask(url, setting('night-lamp'), ASKING);
    assert.equal((await cancelled(waiting['taskId'])).sent.count, 0);

    const instantly = (await house.serve({ taskGraceMs: 0 })).url;
    const settling = await startTask(instantly, setting('slow-ac'));
    await untilTask(url, settling['taskId'], ({ statusMessage }) => /sent once/.test(statusMessage));
    const told = await cancelled(settling['taskId']);
    assert.deepEqual([told.sent.count, /not undone/.test(told.message)], [1, true], told.message);

    const sending = await startTask(instantly, setting('hanging-lamp'));
    while ((await house.sends('hanging-lamp')) === 0) await sleep(50);
    const finished = await cancelled(sending['taskId']);
    assert.deepEqual(
      [finished.sent.count, finished.sent.certain, finished.sent.reply.status],
      [1, true, 200],
    );
    assert.equal(await house.sends('hanging-lamp'), 1);
  });

  it('C4: survives server and worker: a new session finds the same task with the same question', async () => {
    const before = await house.sends('night-lamp');
    const { taskId } = await startTask(url, setting('night-lamp'), ASKING);
    const shown = await show(taskId);
    await house.harness.stopWorker();
    const other = (await house.serve({}, await house.harness.otherCommands())).url;
    await house.harness.startWorker();
    const { inputRequests } = await show(taskId, ASKING, other);
    assert.deepEqual(inputRequests, shown['inputRequests']);
    const [key] = Object.keys(inputRequests) as [string];
    await taskRequest(other, 'update', taskId, { inputResponses: { [key]: YES } }, ASKING);
    const { result } = await untilTask(url, taskId, isEnded);
    assert.deepEqual(
      [result.structuredContent.outcome, result.structuredContent.sent.count],
      ['verified', 1],
    );
    assert.equal(await house.sends('night-lamp'), before + 1);
  });
});
