/** What a client carries from a question to its answer opens nothing but that question, and that once. */
import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';
import { InputError } from '../../commands/commands.ts';
import { requestStates } from '../../mcp-server/request-state.ts';
import { requestStateKey } from '../../mcp-server/request-state-key.ts';
import { ASKING, type AskedInCall, askedInCall, contentOf, OPERATOR } from './asked-in-call.ts';
import { type House, openHouse, setting } from './serving.ts';
import { callTool } from './wire.ts';

const YES = { action: 'accept', content: { approve: true } };
const NO = { action: 'accept', content: { approve: false } };

describe('requestState', () => {
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

  it('A4: a state that was changed, is used with another call, by another user or too late gets one and the same error', async () => {
    const before = await house.sends('night-lamp');
    const args = setting('night-lamp');
    const question = await asked(args);
    const { commandId } = await newest('night-lamp');
    const state: string = question['requestState'];
    const key = Object.keys(question['inputRequests'])[0] as string;
    const states = requestStates(requestStateKey(house.harness.sealKey));
    const call = { tool: 'set_device_state', args };
    const carried = { key, state: { for: 'approval', commandId, key, askedAt: Date.now() } };
    const inAMinute = Date.now() + 60_000;
    const ctx = {} as never;
    const sealed = (expiresAt: number, principal: string, other = carried) =>
      states.seal({ ...other, expiresAt }, { ...call, principal }, ctx);
    const short = await sealed(Date.now(), 'local');
    await sleep(2_100);
    const changed = Array.from({ length: 8 }, (_, part) => {
      const at = Math.floor(((part + 0.5) * state.length) / 8);
      return `${state.slice(0, at)}${state[at] === 'A' ? 'B' : 'A'}${state.slice(at + 1)}`;
    });
    const refused: [string, Record<string, unknown>][] = [
      ...changed.map((text): [string, Record<string, unknown>] => [text, args]),
      [state, { ...args, desired: { brightness: 99 } }],
      [state, { ...args, device: 'hall-lamp' }],
      [state, { ...args, reason: 'another' }],
      [await sealed(inAMinute, 'mallory'), args],
      [short, args],
      [await sealed(inAMinute, 'local', { ...carried, state: { for: 'something else' } as never }), args],
      [
        await sealed(inAMinute, 'local', { key, state: { ...carried.state, commandId: 'f'.repeat(32) } }),
        args,
      ],
      ['', args],
      ['v1.x.y', args],
    ];
    const errors = new Set<string>();
    for (const [requestState, theirs] of refused) {
      const { result, error } = await answer(theirs, { ...question, requestState }, YES);
      assert.equal(result, undefined, JSON.stringify([requestState, theirs, result]));
      errors.add(JSON.stringify(error));
    }
    assert.equal((await newest('night-lamp')).view.approval?.attempts, undefined, 'none of it was an answer');
    assert.equal(await house.sends('night-lamp'), before);

    const first = contentOf(await answer(args, question, YES));
    assert.equal(first.outcome, 'verified');
    const again = contentOf(await answer(args, question, NO));
    assert.deepEqual(
      [again.commandId, again.outcome],
      [commandId, 'verified'],
      'sent again it decides nothing',
    );
    assert.equal(errors.size, 1, [...errors].join('\n'));
    assert.match([...errors][0] as string, /-32602.*nothing was decided/);
    assert.equal(await house.sends('night-lamp'), before + 1, 'nor sends anything');
    assert.ok(await asked(setting('night-lamp')), 'asking again is possible');
    await cancelNewest('night-lamp');
  });

  it('A4: the same state, used twice at once, decides once', async () => {
    const before = await house.sends('night-lamp');
    const args = setting('night-lamp');
    const question = await asked(args);
    const answers = await Promise.all([1, 2, 3].map(() => answer(args, question, YES)));
    const commandIds = new Set(answers.map((one) => contentOf(one).commandId));
    assert.equal(commandIds.size, 1, JSON.stringify(answers));
    assert.ok(answers.every((one) => contentOf(one).outcome === 'verified'));
    assert.equal(await house.sends('night-lamp'), before + 1);
  });

  it('A6: the requester decides no rule for operators, by whichever way and with whichever role', async () => {
    const args = setting('boiler');
    const waiting = contentOf(await callTool(url, 'set_device_state', args, ASKING));
    assert.equal(waiting.state, 'waiting_for_approval');
    const { commandId } = waiting;
    const key = 'approve-1';
    const requestState = await requestStates(requestStateKey(house.harness.sealKey)).seal(
      { key, state: { for: 'approval', commandId, key, askedAt: 0 }, expiresAt: Date.now() + 60_000 },
      { principal: 'local', tool: 'set_device_state', args },
      {} as never,
    );
    const forged = await answer(args, { inputRequests: { [key]: {} }, requestState }, YES);
    assert.equal(forged.error?.code, -32602, 'even with our own signature');
    await assert.rejects(
      house.harness.commands.decide(commandId, {
        decision: 'approved',
        by: 'local',
        via: 'console',
        comment: null,
      }),
      InputError,
    );
    const { view } = (await house.harness.commands.get(commandId, OPERATOR)) ?? {};
    assert.deepEqual([view?.phase, view?.decidedBy, view?.sent.count], ['waiting_for_approval', null, 0]);
    assert.equal(await house.sends('boiler'), 0);
    await house.harness.commands.cancel(commandId, OPERATOR);
  });
});
