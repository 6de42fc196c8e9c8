/** What becomes of a command when reading back is the hard part: the cases R1 to R10, each on a device that behaves as reported. */
import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';
import { InputError } from '../../commands/commands.ts';
import { commandMessage } from '../../domain/message.ts';
import { type House, like, openHouse, SIDE_BY_SIDE } from './house.ts';

describe('reading back', { concurrency: SIDE_BY_SIDE }, () => {
  let house: House;
  before(async () => {
    house = await openHouse((cases) => ({
      // 21 for 3 s, where 4 s would make it stable: long enough to be seen also on a busy machine.
      ...like(cases, 'r5-thermostat', 'r5-thermostat', { overridden: { after: '3s', to: 19 } }),
      ...like(cases, 'r8-remote', 'r8-remote-read'),
      ...like(cases, 'r10-ac', 'r10-ac-blowing', { state: { mode: 'fan_only', temperature: null } }),
    }));
  });
  after(() => house.readback.close());

  /** What the device showed since the send, oldest first. */
  const showed = ({ snapshot }: Awaited<ReturnType<House['show']>>) =>
    snapshot.view.result?.samples.map(({ value }) => value) ?? [];

  it('R3: a sleeping radiator is waited for, without another send, and the waiting says so', async () => {
    const { readback } = house;
    const id = await readback.submit('r3-radiator', { setpoint: 20.5 });
    const said = new Set<string>();
    const told = new Set<string>();
    for (let polls = 0; polls < 200; polls += 1) {
      const snapshot = await readback.commands.get(id, { kind: 'operator' });
      if (snapshot?.status !== 'running') break;
      if (snapshot.live !== null) said.add(snapshot.live.note);
      told.add(/Waiting for the device to wake/.exec(commandMessage(snapshot, Date.now()))?.[0] ?? '');
      await sleep(100);
    }
    assert.ok(
      said.has('setpoint reads 19 °C, asked 20.5 °C; waiting for the device to wake'),
      [...said].join('\n'),
    );
    assert.ok(told.has('Waiting for the device to wake'), 'the agent is told as well');
    const shown = await house.shown('r3-radiator', id);
    assert.deepEqual([shown.outcome, shown.sends], ['verified', 1]);
    assert.deepEqual(showed(shown).slice(-2), [19, 20.5]);
  });

  it('R1: a cloud that shows the old value for a while is waited for, and sent to once', async () => {
    const shown = await house.show('r1-ac', { temperature: 26 });
    assert.deepEqual([shown.outcome, shown.sends], ['verified', 1]);
    assert.deepEqual(showed(shown), [24, 26]);
  });

  it('R1: a stamp from before the command says that the old value is no readback', async () => {
    const shown = await house.show('r1-ac-stale', { temperature: 26 });
    assert.deepEqual([shown.outcome, shown.sends], ['verified', 1]);
    assert.deepEqual(showed(shown), [null, 26]);
    assert.match(shown.snapshot.view.result?.samples[0]?.note ?? '', /is from before the command/);
  });

  it('R2: an echo is not the blind’s arrival', async () => {
    const shown = await house.show('r2-blind', { position: 80 });
    assert.deepEqual([shown.outcome, shown.sends], ['verified', 1]);
    const values = showed(shown);
    assert.ok(values.includes(40), 'it was seen where it had been');
    assert.equal(values.at(-1), 80);
    const { samples = [] } = shown.snapshot.view.result ?? {};
    const last = samples.at(-1);
    assert.ok((last?.lastAt ?? 0) - (last?.firstAt ?? 0) >= 1000, 'verified after the stable window only');
  });

  it('R2: one that echoed what was asked and then stops short is different', async () => {
    const { outcome, sends, detail, safeToSendAgain } = await house.show('r2-blind-stops', { position: 80 });
    assert.deepEqual([outcome, sends, safeToSendAgain], ['different', 1, false]);
    assert.match(detail, /asked 80 %, got 55 %/);
  });

  it('R2: one that was right once and then falls to 0 is never verified', async () => {
    const { outcome, sends, safeToSendAgain } = await house.show('r2-blind-falls', { position: 80 });
    assert.ok(['different', 'superseded'].includes(outcome), outcome);
    assert.deepEqual([sends, safeToSendAgain], [1, false]);
  });

  it('R4: a device that reports nothing unless it is asked is asked before each read', async () => {
    const { outcome, sends, counted, snapshot } = await house.show('r4-radiator', { setpoint: 21 });
    assert.deepEqual([outcome, sends, counted], ['verified', 1, 1]);
    assert.equal(snapshot.view.previous['setpoint'], 19, 'also for the baseline');
    const { refreshes, reads } = (await house.readback.admin('GET', '/devices/r4-radiator')).counters;
    assert.equal(refreshes, reads.arrived);
  });

  it('R5: a wall control that overrides is told, and not fought', async () => {
    const { outcome, sends, safeToSendAgain, message } = await house.show('r5-thermostat', { setpoint: 21 });
    assert.deepEqual([outcome, sends, safeToSendAgain], ['superseded', 1, false]);
    assert.match(message, /reached 21 °C, then 19 °C/);
  });

  it('R6: a blocked garage door is unsettled, and its toggle is not sent again', async () => {
    const { outcome, sends, safeToSendAgain, message } = await house.show('r6-garage-door', { door: 'open' });
    assert.deepEqual([outcome, sends, safeToSendAgain], ['unsettled', 1, false]);
    assert.match(message, /asked open, still opening after \d+ s/);
  });

  it('R7: a lock that says locked and jammed is not verified, and needs a person', async () => {
    const { outcome, sends, verdicts, safeToSendAgain, message } = await house.show('r7-lock', {
      lock: 'locked',
    });
    assert.deepEqual([outcome, sends, safeToSendAgain], ['different', 1, false]);
    assert.deepEqual(verdicts, { lock: 'fault' });
    assert.match(message, /^NOT VERIFIED .*reads locked, but the device reports jammed; a person is needed/);
  });

  it('R8: an infrared remote is unverifiable, and says so plainly', async () => {
    const { outcome, sends, message } = await house.show('r8-remote', { power: 'on' });
    assert.deepEqual([outcome, sends], ['unverifiable', 1]);
    assert.match(message, /nobody can verify it/);
  });

  it('R8: an error while reading never causes another send, even where sending is repeatable', async () => {
    const { outcome, sends, detail } = await house.show('r8-remote-read', { power: 'on' });
    assert.deepEqual([outcome, sends], ['unreadable', 1]);
    assert.match(detail, /answered with an error \(refused\).*wrong device/);
  });

  it('R9: a mode is verified by the mode alone, whatever the device is doing in it', async () => {
    const { outcome, sends, verdicts } = await house.show('r9-ac', { mode: 'cool' });
    assert.deepEqual([outcome, sends, verdicts], ['verified', 1, { mode: 'verified' }]);
    const { reading } = await house.readback.admin('GET', '/devices/r9-ac');
    assert.equal(reading['action'], 'idle');
  });

  it('R10: a setpoint that a mode doesn’t have is not applicable, and keeps the mode from nothing', async () => {
    const { readback } = house;
    await assert.rejects(
      readback.submit('r10-ac', { mode: 'fan_only', temperature: 22 }),
      (error) =>
        error instanceof InputError &&
        /temperature doesn't apply to r10-ac with mode fan_only.*Nothing was sent/.test(error.message),
    );
    const { outcome, sends } = await house.show('r10-ac', { mode: 'fan_only' });
    assert.deepEqual([outcome, sends], ['verified', 1]);
    const state = await readback.commands.readState('r10-ac');
    assert.equal(state.fields['temperature']?.kind, 'notApplicable');
  });

  it('R10: asked for while the device blows only, it is refused before anything is sent', async () => {
    const { outcome, sends, detail, safeToSendAgain } = await house.show('r10-ac-blowing', {
      temperature: 22,
    });
    assert.deepEqual([outcome, sends, safeToSendAgain], ['refused', 0, true]);
    assert.match(detail, /temperature applies only while mode is cool \| heat, and it is fan_only/);
  });
});
