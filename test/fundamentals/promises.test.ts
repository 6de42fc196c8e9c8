/** What Readback promises besides outcomes: cancel, joining, the guard against repeats, approvals, history. */
import assert from 'node:assert/strict';
import { randomBytes } from 'node:crypto';
import { after, before, describe, it } from 'node:test';
import { deliverAnswer, sealed } from '../../commands/answer.ts';
import type { CommandSnapshot } from '../../commands/commands.ts';
import { InputError } from '../../commands/commands.ts';
import { type Harness, LOCAL, startReadback } from '../harness/readback.ts';
import { plain, thermostatCatalogue, thermostats } from '../harness/thermostats.ts';

const OPERATOR = { kind: 'operator' } as const;
const heaters = thermostats({
  ...plain(...Array.from({ length: 16 }, (_, index) => `heater-${index}`)),
  slow: 'settle: { within: 30s }',
  hanging: '',
});
const DEVICES = {
  ...heaters.devices,
  slow: { ...heaters.devices['slow'], follows: '12s' },
  hanging: { ...heaters.devices['hanging'], onSend: { hangs: '2500ms' } },
  gate: {
    state: { door: 'closed' },
    actions: { press: { toggles: { door: ['open', 'closed'] } } },
    onSend: { drops: true },
  },
};
const CATALOGUE = thermostatCatalogue(
  `${heaters.entries}
  gate: { connection: sim, send: { request: POST /devices/gate/press, kind: toggle }, read: GET /devices/gate, fields: { door: { type: enum, values: [open, closed] } } }`,
  `approvals:
  - { for: { device: heater-10 }, by: operator, expires: 60s, reason: It heats the attic. }
  - { for: { device: heater-11 }, by: requester, expires: 60s }
  - { for: { device: heater-12, field: temperature, above: 26 }, by: operator, expires: 60s }
  - { for: { device: heater-15, field: temperature, above: 26 }, by: operator, expires: 60s }
  - { for: { device: heater-13 }, when: $number("x") > 1, by: requester, expires: 60s }
  - { for: { device: heater-14 }, by: operator, expires: 60s }
`,
);

describe('Readback', { concurrency: 6 }, () => {
  let readback: Harness;
  before(async () => {
    readback = await startReadback({ devices: DEVICES, catalogue: CATALOGUE });
  });
  after(() => readback.close());

  const sends = async (device: string): Promise<number> =>
    (await readback.admin('GET', `/devices/${device}`)).counters.sends.arrived;
  const until = async (
    commandId: string,
    condition: (snapshot: CommandSnapshot) => boolean,
  ): Promise<CommandSnapshot> => {
    const snapshot = await readback.commands.wait(commandId, OPERATOR, {
      timeoutMs: 20_000,
      until: condition,
    });
    assert.ok(snapshot !== undefined && condition(snapshot), JSON.stringify(snapshot?.view));
    return snapshot;
  };
  const decide = async (
    snapshot: CommandSnapshot,
    decision: 'approved' | 'declined' | 'dismissed',
    by = 'ann',
    more: { key?: Uint8Array; via?: string; comment?: string } = {},
  ) => {
    assert.ok(snapshot.view.approval);
    const answer = sealed(more.key ?? readback.sealKey, snapshot.commandId, snapshot.view.approval, {
      decision,
      by,
      via: more.via ?? 'cli',
      comment: more.comment ?? null,
    });
    return await deliverAnswer(readback.temporal.client, snapshot.commandId, answer);
  };
  const isAsking = ({ view }: CommandSnapshot): boolean => view.approval !== null;

  it('costs at most 40 history events for an uncontended command without approval, however long it settles', async () => {
    const { commandId } = await readback.carryOut('slow', { temperature: 25 });
    assert.ok((await readback.history(commandId)).length <= 40);
  });

  it('shows phase, latest reading and sends while a command settles, without a history event a read', async () => {
    const id = await readback.submit('heater-0', { temperature: 25 });
    await until(id, ({ view }) => view.phase === 'settling');
    let snapshot = await readback.commands.get(id, OPERATOR);
    for (let tries = 0; tries < 50 && snapshot?.live === null && snapshot.status === 'running'; tries += 1) {
      await new Promise((resolve) => setTimeout(resolve, 50));
      snapshot = await readback.commands.get(id, OPERATOR);
    }
    assert.equal(snapshot?.live?.fields['temperature']?.kind, 'value');
    assert.match(snapshot?.live?.note ?? '', /temperature reads 2\d °C, asked 25 °C/);
    await readback.ended(id);
  });

  it('sends only the fields that were asked', async () => {
    await readback.carryOut('heater-1', { vane: 'top' });
    const send = (await readback.admin('GET', '/devices/heater-1')).received.find(
      ({ purpose }) => purpose === 'send',
    );
    assert.deepEqual(JSON.parse(send?.body ?? ''), { vane: 'top' });
  });

  for (const [name, desired, words] of [
    ['an unknown field', { temprature: 21 }, /temprature.*temperature/s],
    ['a value out of range', { temperature: 82 }, /82.*5–30 °C/],
    ['a wrong type', { temperature: 'warm' }, /warm.*temperature|temperature.*warm/],
    ['nothing desired', {}, /temperature/],
  ] as const) {
    it(`refuses ${name} with what is allowed, and starts nothing`, async () => {
      await assert.rejects(
        readback.submit('heater-2', desired),
        (error) => error instanceof InputError && words.test(error.message),
      );
      assert.equal((await readback.commands.list(OPERATOR, { limit: 5, device: 'heater-2' })).length, 0);
    });
  }

  it('refuses an unknown device and says which one may have been meant', async () => {
    await assert.rejects(readback.submit('heatr-1', { temperature: 21 }), /Did you mean heater-1/);
  });

  it('cancels a settling command: it stays cancelled and says what was sent', async () => {
    const id = await readback.submit('heater-3', { temperature: 25 });
    await until(id, ({ view }) => view.phase === 'settling');
    assert.equal(await readback.commands.cancel(id, OPERATOR), true);
    const { status, view } = await readback.ended(id);
    assert.deepEqual([status, view.result?.outcome, view.sent.count], ['cancelled', 'cancelled', 1]);
    assert.match(view.result?.detail ?? '', /sent once; that is not undone/);
    assert.equal(await readback.commands.cancel(id, OPERATOR), true);
    assert.equal((await readback.commands.get(id, OPERATOR))?.status, 'cancelled');
  });

  it('lets a send that is under way finish when it is cancelled, records it, and sends no more', async () => {
    const id = await readback.submit('hanging', { temperature: 25 });
    while ((await sends('hanging')) === 0) await new Promise((resolve) => setTimeout(resolve, 50));
    assert.equal((await readback.commands.get(id, OPERATOR))?.view.phase, 'sending');
    await readback.commands.cancel(id, OPERATOR);
    const { status, view } = await readback.ended(id);
    assert.deepEqual(
      [status, view.sent.count, view.sent.certain, await sends('hanging')],
      ['cancelled', 1, true, 1],
    );
  });

  it('answers alike for an unknown id, another workflow of the namespace, and a stranger', async () => {
    const id = await readback.submit('heater-4', { temperature: 25 });
    const asked = await Promise.all(
      ['no-such-command', 'lane/heater-4', 'x'.repeat(5000), ''].map((other) =>
        readback.commands.get(other, { kind: 'owner', subject: 'local' }),
      ),
    );
    assert.deepEqual(asked, [undefined, undefined, undefined, undefined]);
    assert.equal(await readback.commands.get(id, { kind: 'owner', subject: 'stranger' }), undefined);
    assert.equal(await readback.commands.cancel(id, { kind: 'owner', subject: 'stranger' }), false);
    assert.equal((await readback.ended(id)).view.result?.outcome, 'verified');
  });

  it('joins the same open call, and takes it as a new command once the first has ended well', async () => {
    const [first, second] = await Promise.all([
      readback.submit('heater-5', { temperature: 25 }),
      readback.submit('heater-5', { temperature: 25 }),
    ]);
    assert.equal(first, second);
    assert.equal(await readback.submit('heater-5', { temperature: 25 }), first);
    await readback.ended(first);
    assert.notEqual(await readback.submit('heater-5', { temperature: 25 }), first);
    assert.equal(await sends('heater-5'), 1);
  });

  it('answers the same requestId with the same command, and refuses other content under it', async () => {
    const first = await readback.submit('heater-6', { temperature: 25 }, { requestId: 'r-1' });
    await readback.ended(first);
    assert.equal(await readback.submit('heater-6', { temperature: 25 }, { requestId: 'r-1' }), first);
    await assert.rejects(
      readback.submit('heater-6', { temperature: 26 }, { requestId: 'r-1' }),
      /requestId "r-1" was used for another command/,
    );
    assert.notEqual(await readback.submit('heater-6', { temperature: 25 }, { requestId: 'r-2' }), first);
    const atOnce = await Promise.allSettled(
      [21, 22].map((temperature) => readback.submit('heater-6', { temperature }, { requestId: 'r-3' })),
    );
    assert.deepEqual(
      atOnce.map(({ status }) => status),
      ['fulfilled', 'rejected'],
    );
  });

  it('refuses to repeat what ended unsafely, until it is told which command is meant', async () => {
    const call = { device: 'gate', desired: { door: 'open' }, caller: LOCAL };
    const first = await readback.commands.submit(call);
    assert.equal((await readback.ended(first.commandId)).view.result?.outcome, 'unknown');
    const again = await readback.commands.submit(call);
    assert.deepEqual(again, { kind: 'repeatRefused', commandId: first.commandId });
    assert.equal(await sends('gate'), 1);
    await assert.rejects(readback.commands.submit({ ...call, resendOf: 'something-else' }), InputError);
    const anyway = await readback.commands.submit({ ...call, resendOf: first.commandId });
    assert.equal(anyway.kind, 'started');
    await readback.ended(anyway.commandId);
    assert.equal(await sends('gate'), 2);
    // The same words again, as a harness repeats them: the resend has ended unsafely itself.
    const repeated = await readback.commands.submit({ ...call, resendOf: first.commandId });
    assert.deepEqual(repeated, { kind: 'repeatRefused', commandId: anyway.commandId });
    assert.equal(await sends('gate'), 2);
  });

  it('sends nothing before the approval, and then does as approved', async () => {
    const id = await readback.submit('heater-10', { temperature: 25 }, { reason: 'the user is cold' });
    const asking = await until(id, isAsking);
    assert.equal(asking.view.approval?.before['temperature'], 20);
    assert.equal(await sends('heater-10'), 0);
    assert.deepEqual(await decide(asking, 'approved', 'ann', { comment: 'fine' }), {
      taken: true,
      standing: 'approved',
      by: 'ann',
    });
    const { view } = await readback.ended(id);
    assert.deepEqual(
      [view.result?.outcome, view.decidedBy?.by, view.decidedBy?.comment],
      ['verified', 'ann', 'fine'],
    );
    assert.equal(await decide(asking, 'declined', 'bob'), 'ended');
  });

  it('takes the first of two racing decisions and tells the other one what stands', async () => {
    const asking = await until(await readback.submit('heater-14', { temperature: 25 }), isAsking);
    const receipts = await Promise.all([
      decide(asking, 'declined', 'ann'),
      decide(asking, 'approved', 'bob'),
    ]);
    assert.equal(
      receipts.filter((receipt) => receipt !== 'ended' && receipt !== 'queued' && receipt.taken).length,
      1,
    );
    assert.equal(
      new Set(receipts.map((receipt) => (typeof receipt === 'string' ? receipt : receipt.by))).size,
      1,
    );
    const { view } = await readback.ended(asking.commandId);
    assert.equal(view.result?.outcome, view.decidedBy?.decision === 'declined' ? 'declined' : 'verified');
  });

  it('ignores a decision with a forged seal, one of the requester, and one by the asking client on a rule for operators', async () => {
    const asking = await until(await readback.submit('heater-12', { temperature: 27 }), isAsking);
    const nothingTaken = { taken: false, standing: 'open', by: null };
    assert.deepEqual(await decide(asking, 'approved', 'ann', { key: randomBytes(32) }), nothingTaken);
    assert.deepEqual(await decide(asking, 'approved', 'local'), nothingTaken);
    assert.deepEqual(await decide(asking, 'approved', 'ann', { via: 'form' }), nothingTaken);
    assert.ok(asking.view.approval);
    const answer = { decision: 'approved', by: 'ann', via: 'cli', comment: null } as const;
    const ofAnother = sealed(readback.sealKey, 'another-command', asking.view.approval, answer);
    const { client } = readback.temporal;
    assert.deepEqual(await deliverAnswer(client, asking.commandId, ofAnother), nothingTaken, 'replayed');
    assert.equal(await sends('heater-12'), 0);
    await decide(asking, 'declined');
    assert.equal((await readback.ended(asking.commandId)).view.result?.outcome, 'declined');
  });

  it('asks nobody where the rule does not match', async () => {
    assert.equal(
      (await readback.carryOut('heater-15', { temperature: 25 })).view.result?.outcome,
      'verified',
    );
  });

  it('takes a rule that throws for one that needs an operator', async () => {
    const asking = await until(await readback.submit('heater-13', { temperature: 25 }), isAsking);
    assert.equal(asking.view.approval?.by, 'operator');
    await readback.commands.cancel(asking.commandId, OPERATOR);
    const { status, view } = await readback.ended(asking.commandId);
    assert.deepEqual([status, view.sent.count, await sends('heater-13')], ['cancelled', 0, 0]);
  });

  it('takes a yes of the requester only from a boolean true, and leaves a dismissed question open', async () => {
    const asking = await until(await readback.submit('heater-11', { temperature: 25 }), isAsking);
    const owner = { kind: 'owner', subject: 'local' } as const;
    const answer = async (response: unknown): Promise<CommandSnapshot> => {
      const { view } = await until(asking.commandId, isAsking);
      await readback.commands.answer(
        asking.commandId,
        owner,
        { [view.approval?.key ?? '']: response },
        { via: 'form', askedAt: null },
      );
      return (await readback.commands.get(asking.commandId, owner)) as CommandSnapshot;
    };
    for (const response of [
      { action: 'accept', content: { approve: 'true' } },
      { action: 'cancel' },
      { action: 'accept' },
      'yes',
      null,
    ]) {
      assert.equal((await answer(response)).view.decidedBy, null, JSON.stringify(response));
    }
    assert.equal(await sends('heater-11'), 0);
    await answer({ action: 'accept', content: { approve: true } });
    assert.equal((await readback.ended(asking.commandId)).view.result?.outcome, 'verified');
  });
});
