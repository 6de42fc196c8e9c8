/** Each device of cases.yaml behaves as its description says. */
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

test('v1: 73 °F is stored as 22.7 °C, and so is 22.78 °C', async (t) => {
  const house = await simulate(t, CASES);
  await house.send('v1-ac', { temperature: 73 });
  await house.send('v1-ac-celsius', { temperature: 22.78 });
  assert.deepEqual(await house.read('v1-ac'), { temperature: 22.7 });
  assert.deepEqual(await house.read('v1-ac-celsius'), { temperature: 22.7 });
});

test('v2: rests one short, and moving is a number', async (t) => {
  const house = await simulate(t, CASES);
  await house.send('v2-blind', { position: 70 });
  await house.advance('10s');
  assert.deepEqual(await house.read('v2-blind'), { position: 69, moving: 69 });
});

test('v3: 255 is echoed, 254 is read', async (t) => {
  const house = await simulate(t, CASES);
  await house.send('v3-lamp', { brightness: 255 });
  assert.deepEqual(await house.read('v3-lamp'), { brightness: 255 });
  await house.advance('300ms');
  assert.deepEqual(await house.read('v3-lamp'), { brightness: 254 });
});

test('v4: on in five spellings', async (t) => {
  const house = await simulate(t, CASES);
  await house.send('v4-switch', { power: 'on' });
  const expected = { power: 'on', truth: true, one: 1, lower: 'on', title: 'On', upper: 'ON' };
  assert.deepEqual(await house.read('v4-switch'), expected);
});

test('v5: 26 as number, as text, as text with a decimal, and as what is no number', async (t) => {
  const house = await simulate(t, CASES);
  await house.send('v5-heater', { temperature: 26 });
  assert.deepEqual(await house.read('v5-heater'), {
    temperature: 26,
    text: '26',
    decimals: '26.0',
    nonsense: 'on',
  });
});

test('v6: says true and ends at 50', async (t) => {
  const house = await simulate(t, CASES);
  assert.equal((await house.send('v6-boiler', { target: 80 })).body, true);
  await house.advance('10s');
  assert.deepEqual(await house.read('v6-boiler'), { target: 50 });
});

test('v7: shows no reading in each of its forms, and the value when it is over', async (t) => {
  const house = await simulate(t, CASES);
  const forms = {
    'v7-null': null,
    'v7-empty': '',
    'v7-unknown': 'unknown',
    'v7-unavailable': 'unavailable',
    'v7-nan': 'NaN',
  };
  for (const id of Object.keys(forms)) await house.send(id, { value: 30 });
  for (const [id, value] of Object.entries(forms)) assert.deepEqual(await house.read(id), { value });
  await house.advance('1s');
  for (const id of Object.keys(forms)) assert.deepEqual(await house.read(id), { value: 30 });
  assert.equal((await house.request('GET', '/devices/v7-nan-body')).text, '{"value":NaN}');
});
