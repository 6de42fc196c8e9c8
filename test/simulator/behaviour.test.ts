/** What each option does to a field, one test an option that the tests of cases.yaml don't show already. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { simulate } from './talking-to-devices.ts';

test('without any option, a send is shown by the next read and leaves other fields alone', async (t) => {
  const house = await simulate(t, { heater: { state: { power: 'off', temperature: 20 } } });
  assert.deepEqual((await house.send('heater', { temperature: 21 })).body, { ok: true });
  assert.deepEqual(await house.read('heater'), { power: 'off', temperature: 21 });
});

test('an option at the device holds for all fields, one at a field goes before it', async (t) => {
  const house = await simulate(t, {
    ac: { state: { mode: 'cool', temperature: 24 }, follows: '10s', fields: { mode: { follows: '1s' } } },
  });
  await house.send('ac', { mode: 'heat', temperature: 26 });
  await house.advance('1s');
  assert.deepEqual(await house.read('ac'), { mode: 'heat', temperature: 24 });
  await house.advance('9s');
  assert.deepEqual(await house.read('ac'), { mode: 'heat', temperature: 26 });
});

test('a new send takes over from where the last one has got to', async (t) => {
  const house = await simulate(t, { blind: { state: { position: 0 }, ramps: { perSecond: 10 } } });
  await house.send('blind', { position: 100 });
  await house.advance('5s');
  await house.send('blind', { position: 30 });
  await house.advance('1s');
  assert.deepEqual(await house.read('blind'), { position: 40 });
  await house.advance('1m');
  assert.deepEqual(await house.read('blind'), { position: 30 });
});

test('ramps with stuckAt gets so far and says for ever that it moves', async (t) => {
  const says = { field: 'motion', up: 'opening', down: 'closing', still: 'stopped' };
  const house = await simulate(t, {
    door: {
      state: { position: 0, motion: 'stopped' },
      fields: { position: { ramps: { perSecond: 10, stuckAt: 30, says } } },
    },
  });
  await house.send('door', { position: 100 });
  await house.advance('1d');
  assert.deepEqual(await house.read('door'), { position: 30, motion: 'opening' });
});

test('ignores with echoes shows the asked value for a while and the old one after that', async (t) => {
  const house = await simulate(t, {
    lamp: { state: { power: 'off' }, ignores: true, echoes: { for: '2s' } },
  });
  await house.send('lamp', { power: 'on' });
  assert.deepEqual(await house.read('lamp'), { power: 'on' });
  await house.advance('2s');
  assert.deepEqual(await house.read('lamp'), { power: 'off' });
});

test('settlesAt ends at its own value whatever was asked', async (t) => {
  const house = await simulate(t, { lock: { state: { lock: 'open' }, settlesAt: 'jammed' } });
  await house.send('lock', { lock: 'closed' });
  assert.deepEqual(await house.read('lock'), { lock: 'jammed' });
});

test('flaps between the new and the old value, for ever or for a while', async (t) => {
  const house = await simulate(t, {
    ever: { state: { power: 'off' }, flaps: { every: '1s' } },
    once: { state: { power: 'off' }, flaps: { every: '1s', for: '3s' } },
  });
  for (const id of ['ever', 'once']) await house.send(id, { power: 'on' });
  const seen: string[] = [];
  for (let n = 0; n < 5; n++) {
    seen.push(`${(await house.read('ever')).power} ${(await house.read('once')).power}`);
    await house.advance('1s');
  }
  assert.deepEqual(seen, ['on on', 'off off', 'on on', 'off on', 'on on']);
});

test('round goes to the nearest step, down or up, without the noise of binary fractions', async (t) => {
  const house = await simulate(t, {
    nearest: { state: { value: 0 }, round: { step: 0.5 } },
    down: { state: { value: 0 }, round: { step: 0.1, to: 'down' } },
    up: { state: { value: 0 }, round: { step: 10, to: 'up' } },
  });
  const stored = async (id: string, value: number) => {
    await house.send(id, { value });
    return (await house.read(id)).value;
  };
  assert.equal(await stored('nearest', 21.3), 21.5);
  assert.equal(await stored('down', 22.7), 22.7);
  assert.equal(await stored('down', 0.3), 0.3);
  assert.equal(await stored('up', 41), 50);
});

test('understands one word and stores another', async (t) => {
  const house = await simulate(t, {
    lock: { state: { lock: 'LOCKED' }, understands: { lock: 'LOCKED', unlock: 'UNLOCKED' } },
  });
  await house.send('lock', { lock: 'unlock' });
  assert.deepEqual(await house.read('lock'), { lock: 'UNLOCKED' });
});

test('refuses outside a range, and other values than it has; then nothing of the request is taken', async (t) => {
  const house = await simulate(t, {
    ac: {
      state: { mode: 'cool', temperature: 24 },
      fields: {
        mode: { refuses: [{ notIn: ['cool', 'heat'], status: 422, body: { error: 'no such mode' } }] },
        temperature: { refuses: [{ outside: [16, 30] }] },
      },
    },
  });
  const hot = await house.send('ac', { mode: 'heat', temperature: 31 });
  assert.deepEqual([hot.status, hot.body], [400, { error: 'temperature is refused' }]);
  const dry = await house.send('ac', { mode: 'dry' });
  assert.deepEqual([dry.status, dry.body], [422, { error: 'no such mode' }]);
  assert.deepEqual(await house.read('ac'), { mode: 'cool', temperature: 24 });
  assert.equal((await house.send('ac', { mode: 'heat', temperature: 30 })).status, 200);
  assert.deepEqual((await house.device('ac')).counters.sends, { arrived: 3, acted: 1, turnedAway: 0 });
});

test('a field it does not have, a wrong type and an empty body are refused by name', async (t) => {
  const house = await simulate(t, { ac: { state: { power: false, temperature: 24 } } });
  const errors: object[] = [
    { temprature: 22 },
    { temperature: 'warm' },
    { power: 'on' },
    {},
    { constructor: 1 },
  ];
  const answers = await Promise.all(errors.map((body) => house.send('ac', body)));
  assert.deepEqual(
    answers.map(({ status, body }) => [status, body.error]),
    [
      [400, 'no such field: temprature; there are power, temperature'],
      [400, 'temperature must be a number'],
      [400, 'power must be a boolean'],
      [400, 'the body names no field'],
      [400, 'no such field: constructor; there are power, temperature'],
    ],
  );
});

test('offline: the API answers, the device takes nothing and shows no reading', async (t) => {
  const house = await simulate(t, {
    plug: { state: { power: 'off', online: true }, offline: true },
    lamp: { state: { power: 'off' }, offline: { shows: null } },
  });
  assert.equal((await house.send('plug', { power: 'on' })).status, 200);
  assert.deepEqual(await house.read('plug'), { power: 'unavailable', online: false });
  assert.deepEqual(await house.read('lamp'), { power: null });
  await house.admin('PATCH', '/devices/plug/behaviour', { offline: false });
  assert.deepEqual(await house.read('plug'), { power: 'off', online: true });
});

test('stamp never moves while the value does', async (t) => {
  const house = await simulate(t, { meter: { state: { power: 1 }, stamp: { field: 'at', moves: 'never' } } });
  const before = await house.read('meter');
  await house.advance('1h');
  await house.send('meter', { power: 2 });
  assert.deepEqual(await house.read('meter'), { power: 2, at: before.at });
});

test('shows one value whatever happens, null included', async (t) => {
  const house = await simulate(t, { sensor: { state: { value: 1 }, shows: null } });
  await house.send('sensor', { value: 2 });
  assert.deepEqual(await house.read('sensor'), { value: null });
  await house.admin('PATCH', '/devices/sensor/behaviour', { shows: 'unknown' });
  assert.deepEqual(await house.read('sensor'), { value: 'unknown' });
});

test('a script acts at its times, from the start or from each send', async (t) => {
  const house = await simulate(t, {
    radiator: {
      state: { setpoint: 19 },
      script: [
        { after: '10s', set: { setpoint: 17 } },
        { after: '1m', behaviour: { ignores: true } },
        { after: '5s', from: 'send', set: { setpoint: 16 } },
      ],
    },
  });
  const seen: number[] = [];
  const look = async () => seen.push((await house.read('radiator')).setpoint);
  await house.advance('10s');
  await look();
  await house.send('radiator', { setpoint: 22 });
  await look();
  await house.advance('5s');
  await look();
  await house.advance('1m');
  await house.send('radiator', { setpoint: 25 });
  await look();
  assert.deepEqual(seen, [17, 22, 16, 16]);
});

test('a script that changes a device while a report is on its way leaves the report as it was', async (t) => {
  const house = await simulate(t, {
    meter: {
      state: { power: 1 },
      reports: { only: 'on-refresh', takes: '1s' },
      script: [{ after: '5s', set: { power: 2 } }],
    },
  });
  await house.press('meter', 'refresh');
  await house.advance('1h');
  assert.deepEqual(await house.read('meter'), { power: 1 });
});
