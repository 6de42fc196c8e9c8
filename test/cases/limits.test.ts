/** Commands at an API that counts requests, where the budget is used up in the middle of them. */
import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';
import { commandMessage } from '../../domain/message.ts';
import { type Harness, startReadback } from '../harness/readback.ts';

const OPERATOR = { kind: 'operator' } as const;
const heater = { state: { temperature: 20 } };
const names = ['free', 'waiting', 'late', 'looked-at', 'unread', 'unheard'] as const;
const account = (limit: string, more = ''): string =>
  `{ kind: http, baseUrl: "simulator:", timeout: 2s, limits: [${limit}]${more} }`;
const CATALOGUE = `
version: 1
connections:
  free: { kind: http, baseUrl: "simulator:", timeout: 2s }
  waiting: ${account('{ requests: 4, per: 6s, keepForReads: 2 }')}
  late: ${account('{ requests: 1, per: 1h }', ', deliver: 3s')}
  looked-at: ${account('{ requests: 6, per: 1h, keepForReads: 3 }')}
  unread: ${account('{ requests: 3, per: 1h, keepForReads: 1 }', ', deliver: 3s')}
  unheard: ${account('{ requests: 20, per: 1h }', ', deliver: 3s')}
defaults: { settle: { first: 200ms, every: 300ms, within: 2s, stable: 200ms } }
devices:
${names.map((id) => `  ${id}: { connection: ${id}, send: "PUT /devices/${id}", read: "GET /devices/${id}", fields: { temperature: { type: celsius, min: 5, max: 30, step: 0.5 } } }`).join('\n')}
`;

describe('at an API that counts requests', { concurrency: true }, () => {
  let readback: Harness;
  before(async () => {
    readback = await startReadback({
      devices: {
        ...Object.fromEntries(names.map((id) => [id, heater])),
        unread: { ...heater, ignores: true },
        unheard: { ...heater, onSend: { status: 429, headers: { 'retry-after': '1800' } } },
      },
      catalogue: CATALOGUE,
    });
  });
  after(() => readback.close());

  const look = (device: string) => readback.commands.readState(device);

  it('a send waits until there is a place again, says so, and costs no more history than one that need not', async () => {
    await look('waiting');
    const id = await readback.submit('waiting', { temperature: 21 });
    // A wait leaves nothing in the history, so nobody is told of it who does not ask.
    let held = await readback.commands.get(id, OPERATOR);
    while (held?.status === 'running' && !held.view.note?.includes('free again at')) {
      await sleep(100);
      held = await readback.commands.get(id, OPERATOR);
    }
    assert.ok(held);
    assert.match(
      commandMessage(held, Date.now()),
      /^NOT DONE\..*nothing was sent\. The API's request limit is used up, free again at 20[-0-9]+ [0-9:]+ UTC/i,
    );
    const { view } = await readback.ended(id);
    assert.deepEqual([view.result?.outcome, view.sent.count], ['verified', 1]);

    const unhindered = await readback.carryOut('free', { temperature: 21 });
    assert.equal(unhindered.view.result?.outcome, 'verified');
    assert.deepEqual(await readback.history(id), await readback.history(unhindered.commandId));
  });

  it('what finds no place before its deadline is undelivered, and says when there is one', async () => {
    await look('late');
    const { view } = await readback.carryOut('late', { temperature: 21 });
    assert.equal(view.result?.outcome, 'undelivered');
    assert.match(view.result.detail, /request limit is used up, free again at .* UTC\. Nothing was sent/);
    assert.equal(view.result.safeToSendAgain, true);
  });

  it('a pause that the API asks for and that goes beyond the deadline is not waited out', async () => {
    const began = Date.now();
    const { view } = await readback.carryOut('unheard', { temperature: 21 });
    assert.deepEqual([view.result?.outcome, view.sent.count], ['undelivered', 0]);
    assert.match(view.result?.detail ?? '', /HTTP 429/);
    assert.ok(Date.now() - began < 15_000);
  });

  it('looking at a device leaves the readbacks what is kept for them', async () => {
    const id = await readback.submit('looked-at', { temperature: 21 });
    await readback.commands.wait(id, OPERATOR, {
      timeoutMs: 10_000,
      until: (snapshot) => snapshot.view.sent.count === 1,
    });
    const looks = await Promise.all([1, 2, 3].map(() => look('looked-at')));
    const refused = looks.filter(({ trouble }) => trouble?.includes('request limit is used up') === true);
    assert.ok(refused.length >= 2, `${refused.length} of 3 were refused`);
    assert.equal((await readback.ended(id)).view.result?.outcome, 'verified');
  });

  it('a device that can not be read back any more is unreadable, never unchanged', async () => {
    const { view } = await readback.carryOut('unread', { temperature: 21 });
    assert.equal(view.sent.count, 1);
    assert.equal(view.result?.outcome, 'unreadable');
    assert.match(view.result.detail, /the API's request limit is used up, free again at/);
  });
});
