import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';
import { ASKING, type AskedInCall, askedInCall, contentOf, OPERATOR } from './asked-in-call.ts';
import { modernClient } from './clients.ts';
import { type House, openHouse, setting } from './serving.ts';
import { answerCall, ask, callTool } from './wire.ts';

/** Nobody reads a question faster; a quicker no is taken for the client's own. */
const A_PERSONS_TIME_MS = 1_100;
const YES = { action: 'accept', content: { approve: true } };

describe('an approval by the requester, asked by the call itself', () => {
  let house: House;
  let url: string;
  let asked: AskedInCall['asked'];
  let answer: AskedInCall['answer'];
  let newest: AskedInCall['newest'];
  let cancelNewest: AskedInCall['cancelNewest'];
  before(async () => {
    house = await openHouse();
    url = (await house.serve()).url;
    ({ asked, answer, newest, cancelNewest } = askedInCall(house, url));
  });
  after(() => house.close());

  it('starts the command first, asks with one form, and sends on a yes', async () => {
    const before = await house.sends('night-lamp');
    const args = { ...setting('night-lamp'), reason: 'reading in bed\u202e\n\nApprove this' };
    const question = await asked(args);
    const { commandId } = await newest('night-lamp');
    const [[key, { method, params }]] = Object.entries<any>(question['inputRequests']) as [[string, any]];
    assert.deepEqual([key, method, params.mode], ['approve-1', 'elicitation/create', 'form']);
    assert.deepEqual(Object.keys(params.requestedSchema.properties), ['approve']);
    assert.match(params.message, /"Night lamp".*Nothing has been sent/);
    assert.match(params.message, new RegExp(`brightness: .* → ${args.desired['brightness']} %`));
    assert.match(params.message, /Open until .*\nWhy you are asked: Somebody may be asleep\./);
    assert.match(params.message, /\nThe agent's own reason: "reading in bed Approve this"$/);
    assert.equal(await house.sends('night-lamp'), before);
    await sleep(A_PERSONS_TIME_MS);
    const ended = contentOf(await answer(args, question, YES));
    assert.deepEqual([ended.commandId, ended.outcome, ended.decidedBy], [commandId, 'verified', 'local']);
    const { via, latencyMs, authenticated } = (await newest('night-lamp')).view.decidedBy ?? {};
    assert.deepEqual([via, authenticated, (latencyMs ?? 0) >= A_PERSONS_TIME_MS], ['mrtr', true, true]);
    assert.equal(await house.sends('night-lamp'), before + 1);
  });

  it('is driven to its end by a client that only answers forms', async () => {
    const questions: string[] = [];
    const client = await modernClient(url, {}, async ({ message }) => {
      questions.push(message);
      await sleep(A_PERSONS_TIME_MS);
      return YES;
    });
    try {
      const result: any = await client.callTool({
        name: 'set_device_state',
        arguments: setting('night-lamp'),
      });
      assert.deepEqual([result.structuredContent.outcome, questions.length], ['verified', 1]);
    } finally {
      await client.close();
    }
  });

  it('A1: a client’s own decline leaves it open in the queue, with how and how fast it came', async () => {
    const before = await house.sends('night-lamp');
    const client = await modernClient(url, {}, async () => {
      await sleep(5);
      return { action: 'decline' };
    });
    try {
      const args = setting('night-lamp');
      for (const attempts of [1, 2]) {
        const result: any = await client.callTool({ name: 'set_device_state', arguments: args });
        const { state, done, message } = result.structuredContent;
        assert.deepEqual([state, done], ['waiting_for_approval', false]);
        assert.match(message, /answered by the client after \d+ ms; perhaps no person saw it/);
        const { approval } = (await newest('night-lamp')).view;
        assert.deepEqual(
          approval?.attempts?.map(({ how, via }) => [how, via]),
          Array.from({ length: attempts }, () => ['tooFast', 'mrtr']),
        );
        assert.ok(approval?.attempts?.every(({ latencyMs }) => latencyMs < 1_000));
        // The second time the approval has been open for longer than a person needs: the question counts.
        await sleep(A_PERSONS_TIME_MS);
      }
      const { items } = await house.harness.commands.pendingApprovals({ limit: 10 });
      const { commandId } = await newest('night-lamp');
      assert.ok(
        items.some((item) => item.commandId === commandId),
        'it is in the queue',
      );
    } finally {
      await client.close();
      await cancelNewest('night-lamp');
    }
    assert.equal(await house.sends('night-lamp'), before);
  });

  it('A2: after a person’s time a decline and an accept with false end it, and nothing else decides anything', async () => {
    const before = await house.sends('night-lamp');
    const cases: [unknown, string, string | undefined][] = [
      [{ action: 'decline' }, 'ended', undefined],
      [{ action: 'cancel' }, 'waiting_for_approval', 'dismissed'],
      [{ action: 'accept', content: { approve: false } }, 'ended', undefined],
      [{ action: 'accept', content: { approve: 'true' } }, 'waiting_for_approval', 'mistyped'],
      [{ action: 'accept' }, 'waiting_for_approval', 'mistyped'],
      ['yes', 'waiting_for_approval', 'mistyped'],
      [{ method: 'x', result: YES }, 'waiting_for_approval', 'mistyped'],
    ];
    await Promise.all(
      cases.map(async ([response, state, how]) => {
        const args = setting('night-lamp');
        const question = await asked(args);
        await sleep(A_PERSONS_TIME_MS);
        const shown = contentOf(await answer(args, question, response));
        assert.deepEqual(
          [shown.state, shown.outcome, shown.sent.count],
          [state, state === 'ended' ? 'declined' : undefined, 0],
          JSON.stringify(response),
        );
        const snapshot = await house.harness.commands.get(shown.commandId, OPERATOR);
        assert.equal(snapshot?.view.approval?.attempts?.at(-1)?.how, how);
        await house.harness.commands.cancel(shown.commandId, OPERATOR);
      }),
    );
    assert.equal(await house.sends('night-lamp'), before);
  });

  it('asks again, under a new key, after an answer that decided nothing', async () => {
    const args = setting('night-lamp');
    const first = await asked(args);
    await answer(args, first, { action: 'cancel' });
    const second = await asked(args);
    assert.deepEqual(Object.keys(second['inputRequests']), ['approve-2']);
    const { error } = await answer(args, first, YES);
    assert.equal(error?.code, -32602, 'the first question has been answered');
    assert.equal(contentOf(await answer(args, second, YES)).outcome, 'verified');
  });

  it('asks the same again where the call is made again without an answer', async () => {
    const args = setting('night-lamp');
    const { requestState } = await asked(args);
    const params = { name: 'set_device_state', arguments: args, requestState };
    const again = (await ask(url, 'tools/call', params, ASKING)).result ?? {};
    assert.deepEqual(Object.keys(again['inputRequests'] ?? {}), ['approve-1']);
    await cancelNewest('night-lamp');
  });

  it('A3: when its time is over it is expired, nothing was sent, and a late yes is refused clearly', async () => {
    const before = await house.sends('hall-lamp');
    const args = setting('hall-lamp');
    const question = await asked(args);
    const { commandId } = await newest('hall-lamp');
    const { view } = await house.harness.ended(commandId);
    assert.deepEqual([view.result?.outcome, view.sent.count], ['expired', 0]);
    const late = await answer(args, question, YES);
    assert.equal(late.error?.code, -32602);
    assert.match(late.error?.message ?? '', /nothing was decided.*Call the tool again/);
    const told = contentOf(await callTool(url, 'get_command', { commandId }));
    assert.match(told.message, /^NOT DONE \(expired\): nothing was sent\..*the same call asks again/);
    assert.equal(await house.sends('hall-lamp'), before);
    assert.deepEqual(Object.keys((await asked(args))['inputRequests']), ['approve-1']);
    await cancelNewest('hall-lamp');
  });

  it('tells whoever answers after the queue has decided what stands, and by whom', async () => {
    const args = setting('night-lamp');
    const question = await asked(args);
    const { commandId } = await newest('night-lamp');
    await house.harness.commands.decide(commandId, {
      decision: 'declined',
      by: 'ann',
      via: 'console',
      comment: 'not at night',
    });
    const told = contentOf(await answer(args, question, YES));
    assert.deepEqual([told.outcome, told.decidedBy, told.sent.count], ['declined', 'ann', 0]);
  });

  it('takes no answer for an unattended call, which is told of the queue', async () => {
    const args = setting('night-lamp');
    const question = await asked(args);
    const unattended = { ...ASKING, headers: { 'Readback-Approval': 'queue' } };
    const told = contentOf(await answer(args, question, YES, unattended));
    assert.deepEqual([told.state, told.sent.count], ['waiting_for_approval', 0]);
    await cancelNewest('night-lamp');
  });

  it('answers with a handle after the yes, where the command lasts longer than the wait', async () => {
    const impatient = await house.serve({ syncWaitMs: 0 });
    const args = setting('night-lamp');
    const question = await asked(args);
    const told = contentOf(await answerCall(impatient.url, args, question, YES, ASKING));
    assert.deepEqual([told.done, told.next.tool], [false, 'get_command']);
    const next = await callTool(url, 'get_command', told.next.arguments);
    assert.equal(contentOf(next).outcome, 'verified');
  });

  it('C4: question and state outlive server and worker', async () => {
    const before = await house.sends('night-lamp');
    const args = setting('night-lamp');
    const question = await asked(args);
    await house.harness.stopWorker();
    const other = await house.serve({}, await house.harness.otherCommands());
    await house.harness.startWorker();
    const ended = contentOf(await answerCall(other.url, args, question, YES, ASKING));
    assert.deepEqual([ended.outcome, ended.sent.count], ['verified', 1]);
    assert.equal(await house.sends('night-lamp'), before + 1);
  });

  it('keeps a yes that was given while no worker ran', async () => {
    const args = setting('night-lamp');
    const question = await asked(args);
    await house.harness.stopWorker();
    const told = contentOf(await answer(args, question, YES));
    assert.match(told.message, /^The answer is recorded, and counts as soon as a worker runs\./);
    await house.harness.startWorker();
    const { view } = await house.harness.ended(told.commandId);
    assert.deepEqual([view.result?.outcome, view.sent.count], ['verified', 1]);
  });
});
