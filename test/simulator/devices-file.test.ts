/** Reading a devices file: profiles, and mistakes that are named. */
import assert from 'node:assert/strict';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { test } from 'node:test';
import { loadDevicesFile } from '../../simulator/devices-file.ts';
import { startSimulator } from '../../simulator/simulator.ts';
import { simulate } from './talking-to-devices.ts';

test('a device lays its own options over those of its profiles, the later over the earlier', async (t) => {
  const house = await simulate(
    t,
    {
      lamp: {
        profile: ['dimmable', 'slow'],
        state: { brightness: 5 },
        fields: { brightness: { clamp: [0, 50] } },
      },
    },
    {
      profiles: {
        dimmable: {
          state: { power: 'off', brightness: 0 },
          follows: '1s',
          fields: { brightness: { round: { step: 10 } } },
        },
        slow: { follows: '9s' },
      },
    },
  );
  assert.deepEqual(await house.read('lamp'), { power: 'off', brightness: 5 });
  await house.send('lamp', { brightness: 38 });
  await house.advance('8s');
  assert.deepEqual(await house.read('lamp'), { power: 'off', brightness: 5 });
  await house.advance('1s');
  assert.deepEqual(await house.read('lamp'), { power: 'off', brightness: 40 });
});

test('every mistake is named with its place, all at once', async () => {
  const wrong = {
    devices: {
      lamp: { state: { power: 'off' }, ignors: true },
      ac: { state: { power: 'off' }, follows: 'soon' },
      blind: { state: { position: 1 }, fields: { posiiton: { ignores: true } } },
      plug: { profile: 'plugs', state: { power: 'off' } },
      car: { state: { power: 'off' }, limit: 'cloud' },
      door: {},
      gate: { state: { door: 'open' }, routes: [{ request: 'gate' }] },
      tap: { state: { open: false }, script: [{ after: '1s', behaviour: { ignors: true } }] },
      dog: { state: { mood: 'good' }, sleeps: { evry: '5m' } },
    },
  };
  await assert.rejects(loadDevicesFile(wrong), ({ name, message }: Error) => {
    assert.equal(name, 'DevicesFileError');
    for (const expected of [
      'devices.lamp.ignors: there is no such option; did you mean ignores?',
      'devices.ac.follows: a duration is a number and ms, s, m, h or d, like 200ms, 4s or 5m',
      'devices.blind: names the field "posiiton", which its state lacks; there are position',
      'devices.plug.profile: there is no profile "plugs"; there are none',
      'devices.car.limit: there is no "cloud" under limits',
      'devices.door.state: ',
      'devices.gate.routes.0.request: a route is a method and a path',
      'devices.tap.ignors: ',
      'devices.dog.sleeps',
    ])
      assert.ok(message.includes(expected), `${expected}\nis not in\n${message}`);
    return true;
  });
});

test('a file that is missing, or no YAML, is named', async (t) => {
  const folder = await mkdtemp(join(tmpdir(), 'readback-simulator-'));
  t.after(() => rm(folder, { recursive: true }));
  await assert.rejects(loadDevicesFile(join(folder, 'none.yaml')), /none\.yaml can't be read/);
  await writeFile(join(folder, 'bad.yaml'), 'devices: [');
  await assert.rejects(loadDevicesFile(join(folder, 'bad.yaml')), /bad\.yaml is no valid YAML or JSON/);
  await writeFile(join(folder, 'empty.yaml'), '');
  await assert.rejects(loadDevicesFile(join(folder, 'empty.yaml')), /empty\.yaml: /);
});

test('a port in use is an error, and leaves nothing listening', async (t) => {
  const house = await simulate(t, { lamp: { state: { power: 'off' } } });
  const port = Number(new URL(house.url).port);
  const devices = { devices: { lamp: { state: { power: 'off' }, port } } };
  await assert.rejects(startSimulator({ devices }), { code: 'EADDRINUSE' });
  await assert.rejects(startSimulator({ devices, port }), { code: 'EADDRINUSE' });
});
