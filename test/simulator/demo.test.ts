/** The demo: its catalogue fits its devices, and the devices do what the catalogue's comments promise. */
import assert from 'node:assert/strict';
import { readFile } from 'node:fs/promises';
import { test } from 'node:test';
import { fileURLToPath } from 'node:url';
import { loadCatalogue } from '../../domain/catalogue/load.ts';
import { simulate } from './talking-to-devices.ts';

const example = (name: string) => fileURLToPath(new URL(`../../examples/${name}`, import.meta.url));
const DEVICES = example('demo-devices.yaml');

async function demoCatalogue(simulatorUrl: string) {
  const loaded = await loadCatalogue({
    file: example('demo.yaml'),
    readFile: (path) => readFile(path, 'utf8'),
    environment: {},
    simulatorUrl,
  });
  assert.ok(loaded.ok, loaded.ok ? '' : JSON.stringify(loaded.problems, null, 2));
  return loaded;
}

test('the demo catalogue loads without a secret, an approval or a warning', async () => {
  const { catalogue, warnings } = await demoCatalogue('http://127.0.0.1:4100');
  assert.deepEqual([warnings, catalogue.approvals], [[], []]);
  const ac = catalogue.devices['bedroom-ac'];
  assert.deepEqual(Object.keys(ac?.fields ?? {}), [
    'power',
    'mode',
    'temperature',
    'vane_vertical',
    'vane_horizontal',
  ]);
  const { min, max, step, unit } = ac?.fields.temperature ?? {};
  assert.deepEqual([min, max, step, unit], [16, 30, 0.5, '°C']);
  assert.equal(ac?.send.length, 1);
});

test('every request of the demo catalogue is answered by the device it is for', async (t) => {
  const house = await simulate(t, DEVICES);
  const { catalogue } = await demoCatalogue(house.url);
  assert.equal(catalogue.connections.demo?.baseUrl, house.url);
  for (const device of Object.values(catalogue.devices)) {
    for (const { path } of Object.values(device.read?.requests ?? {}))
      assert.equal((await house.request('GET', path)).status, 200, path);
    const { state } = (await house.device(device.id)).behaviour as { state: Record<string, unknown> };
    for (const { request, kind } of device.send) {
      const answer = await house.request(request.method, request.path, kind === 'set' ? state : undefined);
      assert.equal(answer.status, 200, `${request.method} ${request.path}`);
    }
    const { counters } = await house.device(device.id);
    assert.deepEqual(
      [counters.sends.arrived, counters.reads.arrived],
      [device.send.length, Object.keys(device.read?.requests ?? {}).length],
    );
  }
});

test('every field of the demo catalogue is one that its device has', async (t) => {
  const house = await simulate(t, DEVICES);
  const { catalogue } = await demoCatalogue(house.url);
  for (const device of Object.values(catalogue.devices)) {
    const { behaviour } = await house.device(device.id);
    const there = Object.keys(behaviour.state as object);
    for (const { key } of Object.values(device.fields)) assert.ok(there.includes(key), `${device.id}.${key}`);
  }
});

test('the bedroom air conditioner shows each field 4 seconds after it said OK', async (t) => {
  const house = await simulate(t, DEVICES);
  const asked = { temperature: 26, vane_vertical: 'top', vane_horizontal: 'left' };
  assert.equal((await house.send('bedroom-ac', asked)).status, 200);
  const before = {
    power: 'off',
    mode: 'cool',
    temperature: 24,
    vane_vertical: 'auto',
    vane_horizontal: 'auto',
  };
  await house.advance('3999ms');
  assert.deepEqual(await house.read('bedroom-ac'), before);
  await house.advance('1ms');
  assert.deepEqual(await house.read('bedroom-ac'), { ...before, ...asked });
});

test('the other demo devices have the habits that the demo promises', async (t) => {
  const house = await simulate(t, DEVICES);
  const after = async (id: string, fields: object, by: string) => {
    assert.equal((await house.send(id, fields)).status, 200);
    await house.advance(by);
    return house.read(id);
  };
  assert.deepEqual(await after('desk-lamp', { onoff: 'ON' }, '0s'), { onoff: 'On', brightness: 127 });
  assert.deepEqual(await after('blind', { position: 80 }, '0s'), { position: 80, motion: 'stopped' });
  await house.advance('3s');
  assert.deepEqual(await house.read('blind'), { position: 50, motion: 'opening' });
  await house.advance('3s');
  assert.deepEqual(await house.read('blind'), { position: 80, motion: 'stopped' });
  assert.deepEqual(await after('attic-fan', { power: 'on' }, '1h'), { power: 'off', speed: 0 });
  assert.deepEqual(await after('boiler', { target: 60 }, '1h'), { target: 50 });
  assert.deepEqual(await after('back-lock', { lock: 'LOCKED' }, '1s'), { lock: 'LOCKED', jammed: true });
  await house.press('garage-door', 'press');
  assert.deepEqual(await house.read('garage-door'), { door: 'opening' });
  await house.advance('6s');
  assert.deepEqual(await house.read('garage-door'), { door: 'open' });
  assert.equal((await house.read('living-room-tv')).error, 190);
});
