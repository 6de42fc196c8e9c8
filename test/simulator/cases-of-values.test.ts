/** Each v… device of cases.yaml behaves as its description says. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { fileURLToPath } from 'node:url';
import { simulate } from './talking-to-devices.ts';

const CASES = fileURLToPath(new URL('cases.yaml', import.meta.url));

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
