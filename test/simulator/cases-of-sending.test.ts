/** Each s… device of cases.yaml behaves as its description says. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { fileURLToPath } from 'node:url';
import { simulate } from './talking-to-devices.ts';

const CASES = fileURLToPath(new URL('cases.yaml', import.meta.url));

test('s1: acts at once, and its acknowledgement comes too late or never', async (t) => {
  const house = await simulate(t, CASES);
  const late = house.request('POST', '/devices/s1-relay/pulse', undefined, {
    signal: AbortSignal.timeout(200),
  });
  await assert.rejects(late, { name: 'TimeoutError' });
  await assert.rejects(house.press('s1-relay-torn', 'pulse'), TypeError);
  for (const id of ['s1-relay', 's1-relay-torn']) {
    assert.deepEqual(await house.read(id), { count: 1 });
    assert.deepEqual((await house.device(id)).counters.sends, { arrived: 1, acted: 1, turnedAway: 0 });
  }
});

test('s2: a second toggle undoes the first', async (t) => {
  const house = await simulate(t, CASES);
  await house.press('s2-gate', 'toggle');
  assert.deepEqual(await house.read('s2-gate'), { door: 'open' });
  await house.press('s2-gate', 'toggle');
  assert.deepEqual(await house.read('s2-gate'), { door: 'closed' });
});

test('s3: answers success and never changes', async (t) => {
  const house = await simulate(t, CASES);
  assert.equal((await house.send('s3-thermostat', { setpoint: 21 })).status, 200);
  await house.advance('1h');
  assert.deepEqual(await house.read('s3-thermostat'), { setpoint: 19 });
  assert.deepEqual((await house.device('s3-thermostat')).counters.sends, {
    arrived: 1,
    acted: 0,
    turnedAway: 0,
  });
});

test('s4: refuses with 400 what is already set, and takes the rest', async (t) => {
  const house = await simulate(t, CASES);
  const same = await house.send('s4-preset', { preset: 'eco' });
  assert.deepEqual([same.status, same.body], [400, { error: 'preset already active' }]);
  assert.equal((await house.send('s4-preset', { preset: 'comfort' })).status, 200);
  assert.deepEqual(await house.read('s4-preset'), { preset: 'comfort' });
});

test('s5: puts a soft error into a 200 reply, whether or not the lamp obeys', async (t) => {
  const house = await simulate(t, CASES);
  for (const [id, power] of [
    ['s5-lamp', 'off'],
    ['s5-lamp-obeys', 'on'],
  ] as const) {
    const answer = await house.send(id, { power: 'on' });
    assert.equal(answer.status, 200);
    assert.match(answer.body.errors[0].description, /may not have effect/);
    assert.deepEqual(await house.read(id), { power });
  }
});

test('s6: eleven lamps obey, one is dead, and the group fails as a whole', async (t) => {
  const house = await simulate(t, CASES);
  const lamps = Array.from({ length: 12 }, (_, index) => `s6-lamp-${index + 1}`);
  const statuses = await Promise.all(lamps.map(async (id) => (await house.send(id, { power: 'on' })).status));
  assert.deepEqual(
    lamps.filter((_, index) => statuses[index] !== 200),
    ['s6-lamp-7'],
  );
  assert.deepEqual(await house.read('s6-lamp-6'), { power: 'on' });
  assert.deepEqual(await house.read('s6-lamp-7'), { power: 'unavailable' });
  assert.equal((await house.send('s6-group', { power: 'on' })).status, 503);
  assert.deepEqual(await house.read('s6-group'), { power: 'off' });
});

test('s7: hangs on the first send and acts on it after its client gave up and sent again', async (t) => {
  const house = await simulate(t, CASES);
  const first = house.request('POST', '/devices/s7-valve/pulse', undefined, {
    signal: AbortSignal.timeout(1500),
  });
  await assert.rejects(first, { name: 'TimeoutError' });
  assert.equal((await house.device('s7-valve')).counters.sends.acted, 0);
  assert.equal((await house.press('s7-valve', 'pulse')).status, 200);
  assert.deepEqual(await house.read('s7-valve'), { count: 1 });
  await new Promise((resolve) => setTimeout(resolve, 700));
  assert.deepEqual(await house.read('s7-valve'), { count: 2 });
});

test('s8: one budget for sends and reads of an account, with its reset as an epoch second', async (t) => {
  const house = await simulate(t, CASES);
  for (let n = 0; n < 15; n++) {
    assert.equal((await house.send('s8-ac-1', { temperature: 20 })).status, 200);
    const read = await house.request('GET', '/devices/s8-ac-2');
    assert.equal(read.headers.get('x-rate-limit-remaining'), String(30 - 2 * (n + 1)));
  }
  const over = await house.send('s8-ac-2', { temperature: 20 });
  assert.equal(over.status, 429);
  const waitMs = Number(over.headers.get('x-rate-limit-reset')) * 1000 - Date.now();
  assert.ok(waitMs > 0 && waitMs <= 6000, `resets in ${waitMs} ms`);
  assert.deepEqual((await house.device('s8-ac-2')).counters.sends, { arrived: 0, acted: 0, turnedAway: 1 });
  await house.advance('6s');
  assert.equal((await house.send('s8-ac-2', { temperature: 20 })).status, 200);
});

test('s9: the cache says online, sends get 408 until it was woken, and then they arrive', async (t) => {
  const house = await simulate(t, CASES);
  assert.deepEqual(await house.read('s9-car'), { limit: 80, state: 'online' });
  assert.equal((await house.send('s9-car', { limit: 90 })).status, 408);
  await house.press('s9-car', 'wake');
  assert.equal((await house.send('s9-car', { limit: 90 })).status, 408);
  await house.advance('500ms');
  assert.equal((await house.send('s9-car', { limit: 90 })).status, 200);
  assert.deepEqual(await house.read('s9-car'), { limit: 90, state: 'online' });
  const { sends, wakes } = (await house.device('s9-car')).counters;
  assert.deepEqual([sends, wakes], [{ arrived: 1, acted: 1, turnedAway: 2 }, 1]);

  await house.press('s9-car-asleep-for-good', 'wake');
  await house.advance('1h');
  assert.equal((await house.send('s9-car-asleep-for-good', { limit: 90 })).status, 408);
});

test('s10: takes the setpoint only once the mode has really changed', async (t) => {
  const house = await simulate(t, CASES);
  assert.equal((await house.send('s10-ac', { mode: 'cool', temperature: 22 })).status, 409);
  assert.equal((await house.request('PATCH', '/s10-ac/mode', { value: 'cool' })).status, 200);
  assert.equal((await house.request('PATCH', '/s10-ac/setpoint', { value: 22 })).status, 409);
  await house.advance('300ms');
  assert.equal((await house.request('PATCH', '/s10-ac/setpoint', { value: 22 })).status, 200);
  assert.deepEqual(await house.read('s10-ac'), { mode: 'cool', temperature: 22 });
});
