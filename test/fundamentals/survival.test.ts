/** What happens to commands while nobody works on them, and on the code of tomorrow. */
import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';
import { deliverAnswer, sealed } from '../../commands/answer.ts';
import type { CommandSnapshot } from '../../commands/commands.ts';
import { type Harness, startReadback } from '../harness/readback.ts';
import { plain, thermostatCatalogue, thermostats } from '../harness/thermostats.ts';

const OPERATOR = { kind: 'operator' } as const;
const heaters = thermostats(plain('guarded', 'waiting', 'settling', 'accepted', 'asked-for'));
const CATALOGUE = thermostatCatalogue(
  heaters.entries,
  `approvals:
  - { for: { device: guarded }, by: operator, expires: 60s }
  - { for: { device: waiting }, by: operator, expires: 1s }
`,
);

describe('while no worker runs', () => {
  let readback: Harness;
  before(async () => {
    readback = await startReadback({ devices: heaters.devices, catalogue: CATALOGUE });
  });
  after(() => readback.close());

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

  it('everything waits, is told with its age within two seconds, and goes on when one runs again', async () => {
    const guarded = await until(
      await readback.submit('guarded', { temperature: 25 }),
      ({ view }) => view.approval !== null,
    );
    const waiting = await until(
      await readback.submit('waiting', { temperature: 25 }),
      ({ view }) => view.approval !== null,
    );
    const settling = await until(
      await readback.submit('settling', { temperature: 25 }),
      ({ view }) => view.phase === 'settling',
    );
    await readback.stopWorker();
    const accepted = await readback.submit('accepted', { temperature: 25 });

    // Each of these gives up by itself after two seconds.
    const shown = await Promise.all(
      [guarded.commandId, settling.commandId, accepted].map((id) => readback.commands.get(id, OPERATOR)),
    );
    assert.deepEqual(
      shown.map((snapshot) => snapshot?.view.phase),
      ['waiting_for_approval', 'settling', 'waiting_for_turn'],
    );
    assert.ok(shown.every((snapshot) => snapshot !== undefined && snapshot.lastUpdatedAt <= Date.now()));

    assert.ok(guarded.view.approval);
    const yes = sealed(readback.sealKey, guarded.commandId, guarded.view.approval, {
      decision: 'approved',
      by: 'ann',
      via: 'cli',
      comment: null,
    });
    assert.equal(await deliverAnswer(readback.temporal.client, guarded.commandId, yes), 'queued');
    // Nothing happens to it any more: only the time goes by.
    for (
      let tries = 0;
      (await readback.commands.get(waiting.commandId, OPERATOR))?.overdue !== true;
      tries += 1
    ) {
      assert.ok(tries < 100, 'it is never overdue');
      await sleep(200);
    }

    await readback.startWorker();
    const ends = await Promise.all(
      [guarded.commandId, waiting.commandId, settling.commandId, accepted].map((id) => readback.ended(id)),
    );
    assert.deepEqual(
      ends.map(({ view }) => view.result?.outcome),
      ['verified', 'expired', 'verified', 'verified'],
    );
    assert.deepEqual(
      ends.map(({ view }) => view.sent.count),
      [1, 0, 1, 1],
    );
  });

  it('a cancel is kept, and shown as requested', async () => {
    const { commandId } = await until(
      await readback.submit('asked-for', { temperature: 25 }),
      ({ view }) => view.phase === 'settling',
    );
    await readback.stopWorker();
    await readback.commands.cancel(commandId, OPERATOR);
    const shown = await readback.commands.get(commandId, OPERATOR);
    assert.deepEqual([shown?.status, shown?.cancelRequested], ['running', true]);
    await readback.startWorker();
    assert.equal((await readback.ended(commandId)).status, 'cancelled');
  });
});
