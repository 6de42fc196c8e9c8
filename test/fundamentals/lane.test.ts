/** One command at a time works on a device; first come, first served; the last word given stands. */
import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import { cutSendMayArriveMs } from '../../domain/time-needed.ts';
import { type Harness, startReadback } from '../harness/readback.ts';
import { plain, thermostatCatalogue, thermostats } from '../harness/thermostats.ts';

const OPERATOR = { kind: 'operator' } as const;
const heaters = thermostats(
  {
    ...plain('queue-1', 'queue-2', 'queue-3', 'queue-5', 'queue-6', 'queue-7'),
    'queue-4': 'connection: quick',
    busy: 'lane: reject',
    newest: 'lane: supersede',
  },
  '600ms',
);
const DEVICES = {
  ...heaters.devices,
  toggled: { state: { door: 'closed' }, actions: { press: { toggles: { door: ['open', 'closed'] } } } },
};
const CATALOGUE = thermostatCatalogue(`${heaters.entries}
  toggled: { connection: sim, send: { request: POST /devices/toggled/press, kind: toggle }, read: GET /devices/toggled, fields: { door: { type: enum, values: [open, closed] } } }`).replace(
  'connections: {',
  'connections: { quick: { kind: http, baseUrl: "simulator:", timeout: 1s },',
);

describe('the lane of a device', { concurrency: true }, () => {
  let readback: Harness;
  before(async () => {
    readback = await startReadback({ devices: DEVICES, catalogue: CATALOGUE });
  });
  after(() => readback.close());

  const temperaturesSent = async (device: string): Promise<number[]> =>
    (await readback.admin('GET', `/devices/${device}`)).received
      .filter(({ purpose }) => purpose === 'send')
      .map(({ body }) => JSON.parse(body).temperature);

  it('carries commands out in the order in which they were accepted', async () => {
    const commands = [];
    for (const temperature of [21, 22, 23]) commands.push(await readback.submit('queue-1', { temperature }));
    const ended = await Promise.all(commands.map((id) => readback.ended(id)));
    const outcomes = ended.map(({ view }) => view.result?.outcome);
    assert.deepEqual(outcomes.at(-1), 'verified');
    // Whoever was overtaken on the way in has been superseded; the sends are in order in any case.
    const sent = await temperaturesSent('queue-1');
    assert.deepEqual(
      sent,
      [...sent].sort((a, b) => a - b),
    );
    assert.equal(sent.at(-1), 23);
  });

  it('lets commands on other devices pass', async () => {
    const both = await Promise.all([
      readback.carryOut('queue-2', { temperature: 25 }),
      readback.carryOut('queue-3', { temperature: 25 }),
    ]);
    assert.deepEqual(
      both.map(({ view }) => view.result?.outcome),
      ['verified', 'verified'],
    );
    const [one, other] = await Promise.all(both.map(({ commandId }) => timesOf(commandId)));
    assert.ok(one && other && one.sentAt < other.endedAt && other.sentAt < one.endedAt, 'they overlap');
  });

  it('is freed by a holder that was terminated, once its send can no longer be on its way', async () => {
    const holder = await readback.submit('queue-4', { temperature: 25 });
    await untilPhase(holder, 'settling');
    const waiting = await readback.submit('queue-4', { temperature: 26 });
    await readback.temporal.client.workflow.getHandle(holder).terminate('test');
    assert.equal((await readback.ended(waiting, 120_000)).view.result?.outcome, 'verified');
    const ended = await readback.commands.get(holder, OPERATOR);
    assert.equal(ended?.status, 'failed');
    const { connections, devices } = readback.catalogue;
    const quietMs = cutSendMayArriveMs(connections[devices['queue-4']?.connection ?? '']?.timeoutMs ?? 0);
    assert.ok((await timesOf(waiting)).sentAt >= (ended.closedAt ?? 0) + quietMs);
  });

  it('lets a waiting command be cancelled, and then nothing of it is sent', async () => {
    const first = await readback.submit('queue-5', { temperature: 25 });
    const second = await readback.submit('queue-5', { power: 'on' });
    await readback.commands.cancel(second, { kind: 'operator' });
    const cancelled = await readback.ended(second);
    assert.deepEqual([cancelled.status, cancelled.view.sent.count], ['cancelled', 0]);
    assert.equal((await readback.ended(first)).view.result?.outcome, 'verified');
    assert.deepEqual(await temperaturesSent('queue-5'), [25]);
  });

  it('gives the same call of the same caller, made on another server, the outcome and the id of the first', async () => {
    const other = await readback.otherCommands();
    const call = {
      device: 'toggled',
      desired: { door: 'open' },
      caller: { subject: 'local', client: 'test', transport: 'http', unattended: false },
    } as const;
    const [first, second] = await Promise.all([readback.commands.submit(call), other.submit(call)]);
    const ended = await Promise.all([readback.ended(first.commandId), readback.ended(second.commandId)]);
    assert.deepEqual(
      ended.map(({ view }) => view.result?.outcome),
      ['verified', 'verified'],
    );
    if (first.commandId !== second.commandId) {
      const joined = ended.map(({ view }) => view.result?.joined).filter((id) => id !== null);
      assert.equal(joined.length, 1);
    }
    assert.equal((await readback.admin('GET', '/devices/toggled')).counters.sends.arrived, 1);
  });

  it('refuses a second command where the device takes only one at a time', async () => {
    const first = await readback.submit('busy', { temperature: 25 });
    await untilPhase(first, 'settling');
    const second = await readback.carryOut('busy', { power: 'on' });
    assert.deepEqual([second.view.result?.outcome, second.view.sent.count], ['refused', 0]);
    assert.match(second.view.result?.detail ?? '', new RegExp(first));
    assert.equal((await readback.ended(first)).view.result?.outcome, 'verified');
  });

  it('ends the older command as superseded where the newest takes over', async () => {
    const first = await readback.submit('newest', { temperature: 25 });
    await untilPhase(first, 'settling');
    const second = await readback.carryOut('newest', { temperature: 26 });
    assert.equal(second.view.result?.outcome, 'verified');
    const superseded = await readback.ended(first);
    assert.equal(superseded.view.result?.outcome, 'superseded');
    assert.match(superseded.view.result?.detail ?? '', new RegExp(`${second.commandId}.*sent once`));
  });

  it('passes on the words of many commands in the order of their acceptance, or not at all', async () => {
    // They enter in any order; those that come after one accepted later have been overtaken.
    const ids: string[] = [];
    for (const temperature of [21, 22, 23, 24, 25, 26, 27, 28])
      ids.push(await readback.submit('queue-6', { temperature }));
    const ended = await Promise.all(ids.map((id) => readback.ended(id)));
    for (const { view } of ended)
      assert.ok(['verified', 'superseded'].includes(view.result?.outcome ?? ''), view.result?.detail);
    for (const { view } of ended) if (view.result?.outcome === 'superseded') assert.equal(view.sent.count, 0);
    const sent = await temperaturesSent('queue-6');
    assert.deepEqual(
      sent,
      [...sent].sort((a, b) => a - b),
    );
    assert.equal(sent.at(-1), 28);
  });

  it('adds at most eight events a command to its history', async () => {
    await readback.carryOut('queue-7', { temperature: 25 });
    await readback.carryOut('queue-7', { temperature: 26 });
    assert.ok((await readback.history('lane/queue-7')).length <= 16);
  });

  /** When the command was sent, and when it had ended. */
  async function timesOf(commandId: string): Promise<{ readonly sentAt: number; readonly endedAt: number }> {
    const timeline = (await readback.commands.timeline(commandId, OPERATOR)) ?? [];
    const at = (kind: 'send' | 'ended'): number =>
      timeline.find((entry) => entry.kind === kind)?.at ?? assert.fail(`${commandId}: no ${kind}`);
    return { sentAt: at('send'), endedAt: at('ended') };
  }

  async function untilPhase(commandId: string, phase: string): Promise<void> {
    const snapshot = await readback.commands.wait(
      commandId,
      { kind: 'operator' },
      { timeoutMs: 20_000, until: ({ view }) => view.phase === phase },
    );
    assert.equal(snapshot?.view.phase, phase);
  }
});
