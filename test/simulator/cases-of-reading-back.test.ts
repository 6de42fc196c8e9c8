/** Each r… device of cases.yaml behaves as its description says. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { fileURLToPath } from 'node:url';
import { simulate } from './talking-to-devices.ts';

const CASES = fileURLToPath(new URL('cases.yaml', import.meta.url));

test('r1: shows the old value for a while; an honest stamp stays too, a cloud that stamps each answer hides it', async (t) => {
  const house = await simulate(t, CASES);
  const stamps = async () => {
    const [ac, stale] = [await house.read('r1-ac'), await house.read('r1-ac-stale')];
    assert.equal(ac.temperature, stale.temperature);
    return [ac.temperature, ac.measuredAt, stale.measuredAt];
  };
  const before = await stamps();
  for (const id of ['r1-ac', 'r1-ac-stale']) await house.send(id, { temperature: 26 });
  await house.advance('2s');
  const lagging = await stamps();
  await house.advance('1s');
  const after = await stamps();
  assert.deepEqual([before[0], lagging[0], after[0]], [24, 24, 26]);
  assert.ok(before[1] < lagging[1]);
  assert.equal(before[2], lagging[2]);
  assert.ok(lagging[2] < after[2]);
});

test('r2: echoes, goes back, moves; one gets there, one stops at 55, one falls to 0', async (t) => {
  const house = await simulate(t, CASES);
  const ids = ['r2-blind', 'r2-blind-stops', 'r2-blind-falls'];
  await Promise.all(ids.map((id) => house.send(id, { position: 80 })));
  const positions = async () => Promise.all(ids.map(async (id) => (await house.read(id)).position));
  const seen = [await positions()];
  for (const by of ['200ms', '300ms', '500ms', '4s']) {
    await house.advance(by);
    seen.push(await positions());
  }
  assert.deepEqual(seen, [
    [40, 40, 80],
    [80, 80, 80],
    [40, 40, 0],
    [55, 55, 0],
    [80, 55, 0],
  ]);
});

test('r2: says that it moves while it moves, and not during the echo', async (t) => {
  const house = await simulate(t, CASES);
  await house.send('r2-blind', { position: 80 });
  const motions = [];
  for (const by of ['250ms', '500ms', '2s']) {
    await house.advance(by);
    motions.push((await house.read('r2-blind')).motion);
  }
  assert.deepEqual(motions, ['stopped', 'opening', 'stopped']);
});

test('r3: the value snaps back and is taken at the next wake-up', async (t) => {
  const house = await simulate(t, CASES);
  await house.send('r3-radiator', { setpoint: 20.5 });
  const seen = [(await house.read('r3-radiator')).setpoint];
  for (const by of ['600ms', '3s', '1400ms']) {
    await house.advance(by);
    seen.push((await house.read('r3-radiator')).setpoint);
  }
  assert.deepEqual(seen, [20.5, 19, 19, 20.5]);
});

test('r4: reads null until a refresh, whose report is of that moment', async (t) => {
  const house = await simulate(t, CASES);
  assert.deepEqual(await house.read('r4-radiator'), { setpoint: null });
  await house.send('r4-radiator', { setpoint: 21 });
  await house.advance('1m');
  assert.deepEqual(await house.read('r4-radiator'), { setpoint: null });
  await house.press('r4-radiator', 'refresh');
  await house.advance('200ms');
  assert.deepEqual(await house.read('r4-radiator'), { setpoint: 21 });
  await house.send('r4-radiator', { setpoint: 22 });
  assert.deepEqual(await house.read('r4-radiator'), { setpoint: 21 });
  assert.equal((await house.device('r4-radiator')).counters.refreshes, 1);
});

test('r5: reaches 21, and somebody turns it to 19 for good', async (t) => {
  const house = await simulate(t, CASES);
  await house.send('r5-thermostat', { setpoint: 21 });
  await house.advance('700ms');
  assert.deepEqual(await house.read('r5-thermostat'), { setpoint: 21 });
  await house.advance('100ms');
  assert.deepEqual(await house.read('r5-thermostat'), { setpoint: 19 });
  await house.advance('1h');
  assert.deepEqual(await house.read('r5-thermostat'), { setpoint: 19 });
});

test('r6: stays opening for ever, and a second toggle turns it round', async (t) => {
  const house = await simulate(t, CASES);
  await house.press('r6-garage-door', 'toggle');
  await house.advance('1d');
  assert.deepEqual(await house.read('r6-garage-door'), { door: 'opening' });
  await house.press('r6-garage-door', 'toggle');
  assert.deepEqual(await house.read('r6-garage-door'), { door: 'closing' });
});

test('r7: says locked and jammed', async (t) => {
  const house = await simulate(t, CASES);
  await house.send('r7-lock', { lock: 'LOCKED' });
  assert.deepEqual(await house.read('r7-lock'), { lock: 'LOCKING', status: 'ok', contact: { open: false } });
  await house.advance('300ms');
  assert.deepEqual(await house.read('r7-lock'), {
    lock: 'LOCKED',
    status: 'jammed',
    contact: { open: false },
  });
});

test('r8: takes the send; the status call answers an error in a 200', async (t) => {
  const house = await simulate(t, CASES);
  assert.equal((await house.send('r8-remote', { power: 'on' })).status, 200);
  const read = await house.request('GET', '/devices/r8-remote');
  assert.deepEqual([read.status, read.body.statusCode], [200, 190]);
  assert.equal((await house.device('r8-remote')).counters.sends.acted, 1);
});

test('r9: the mode is cool and the action idle', async (t) => {
  const house = await simulate(t, CASES);
  await house.send('r9-ac', { mode: 'cool' });
  assert.deepEqual(await house.read('r9-ac'), { mode: 'cool', action: 'idle' });
});

test('r10: fan_only has no setpoint', async (t) => {
  const house = await simulate(t, CASES);
  await house.send('r10-ac', { mode: 'fan_only' });
  assert.deepEqual(await house.read('r10-ac'), { mode: 'fan_only', temperature: null });
});
