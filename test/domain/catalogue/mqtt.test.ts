/** Devices on mqtt connections, and the profiles for those behind zigbee2mqtt. */
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { interpretRead } from '../../../domain/interpretation.ts';
import { renderRead, renderSend, renderTemplate } from '../../../domain/rendering.ts';
import type { Desired, Json } from '../../../domain/values.ts';
import { catalogueOf, deviceOf, problemsOf, tells } from './loading.ts';

const BROKER = 'connections: { c: { kind: mqtt, url: "mqtt://127.0.0.1:1883" } }\n';
const lamp = (keys: string): string =>
  `${BROKER}devices: { d: { connection: c, fields: { power: onoff }, ${keys} } }`;
const behind = (profile: string, more = ''): string =>
  `${BROKER}devices: { d: { connection: c, profile: zigbee2mqtt/${profile}, with: { friendly_name: desk/1 }${more} } }`;

describe('what is wrong on an mqtt connection', () => {
  tells([
    [
      'a way of signing in that brokers do not know',
      'connections: { c: { kind: mqtt, url: "mqtt://x", auth: { bearer: abcdefgh } } }',
      'connections.c.auth.bearer',
      /use basic/,
    ],
    [
      'a certificate that nobody would look at',
      'connections: { c: { kind: mqtt, url: "mqtt://x", tls: { ca: /ca.pem } } }',
      'connections.c.tls',
      /write mqtts:\/\//,
    ],
    [
      'headers on a message',
      lamp('send: { topic: a/set, headers: { x: y } }, read: { topic: a }'),
      'devices.d.send.headers',
      /only requests over HTTP/,
    ],
    [
      'keeping something of a reply that there is not',
      lamp('send: { topic: a/set, keep: { job: body.id } }, read: { topic: a }'),
      'devices.d.send.keep',
      /without a reply/,
    ],
    [
      'an unknown parameter in an availability topic',
      lamp(
        'send: { topic: a/set }, read: { topic: a, availability: "{nme}/availability" }, with: { name: a }',
      ),
      'devices.d.read.availability',
      /\{nme\} is unknown.*Did you mean "name"/,
    ],
    [
      'an availability topic on an http connection',
      'connections: { c: { kind: http, baseUrl: "http://x" } }\ndevices: { d: { connection: c, send: PUT /d, read: { request: GET /d, availability: a }, fields: { p: onoff } } }',
      'devices.d.read.availability',
      /only mqtt devices/,
    ],
    [
      'a kind of zigbee2mqtt device that has no profile',
      behind('lite'),
      'devices.d.profile',
      /zigbee2mqtt\/light.*Did you mean "zigbee2mqtt\/light"/,
    ],
  ]);

  it('a zigbee2mqtt device without its name', async () => {
    const problems = await problemsOf(
      `${BROKER}devices: { d: { connection: c, profile: zigbee2mqtt/lock } }`,
    );
    assert.deepEqual(problems, ['devices.d.with.friendly_name: is missing: the profile needs it']);
  });
});

describe('a device behind zigbee2mqtt', () => {
  const kinds: readonly (readonly [string, Desired, Json, Json])[] = [
    ['switch', { power: 'on' }, { state: 'ON' }, { state: 'ON', power: 12 }],
    [
      'light',
      { power: 'on', brightness: 50 },
      { state: 'ON', brightness: 127 },
      { state: 'ON', brightness: 127 },
    ],
    ['light', { power: 'off' }, { state: 'OFF' }, { state: 'OFF', brightness: 127 }],
    ['cover', { position: 80 }, { position: 80 }, { state: 'OPEN', position: 80 }],
    ['lock', { lock: 'locked' }, { state: 'LOCK' }, { state: 'LOCK', lock_state: 'locked' }],
    [
      'climate',
      { mode: 'heat', temperature: 21.5 },
      { system_mode: 'heat', occupied_heating_setpoint: 21.5 },
      {
        system_mode: 'heat',
        occupied_heating_setpoint: 21.5,
        local_temperature: 19.8,
        running_state: 'heat',
      },
    ],
  ];
  for (const [kind, desired, message, state] of kinds) {
    it(`of kind ${kind} is told ${JSON.stringify(message)} and read from what it says`, async () => {
      const device = await deviceOf(behind(kind));
      const [step] = device.send;
      assert.ok(step && device.read);
      const sent = await renderSend(device, step, Object.keys(desired), desired, {});
      assert.ok(sent.ok);
      assert.equal(sent.request.path, 'zigbee2mqtt/desk/1/set');
      assert.deepEqual(sent.body, message);
      const context = { desired, before: null, kept: {}, baselineDeviceAt: null };
      const { sample } = await interpretRead(
        device,
        { body: { status: 200, headers: {}, body: state } },
        context,
        1,
      );
      assert.equal(sample.trouble, null);
      assert.equal(sample.moving, false);
      assert.ok(Object.values(sample.faults).every((fault) => fault === 'clear'));
      for (const [name, value] of Object.entries(desired)) {
        const reading = sample.fields[name];
        assert.equal(reading?.kind, 'value', name);
        assert.ok(reading.value === value || Math.abs(Number(reading.value) - Number(value)) < 0.2, name);
      }
    });
  }

  it('has its topics below the base topic, and is away when the bridge is', async () => {
    const device = await deviceOf(
      `${BROKER}devices: { d: { connection: c, profile: zigbee2mqtt/light, with: { friendly_name: desk, base: attic } } }`,
    );
    assert.ok(device.read?.ask);
    const read = await renderRead(device, {});
    assert.equal(read.ok && read.requests['body']?.path, 'attic/desk');
    const ask = await renderTemplate(device, device.read.ask, {});
    assert.deepEqual(ask.ok && [ask.request.path, ask.body], [
      'attic/desk/get',
      { state: '', brightness: '' },
    ]);
    assert.deepEqual(device.read.availability, [
      '{base}/{friendly_name}/availability',
      '{base}/bridge/state',
    ]);
  });

  it('is moving while it says so', async () => {
    const device = await deviceOf(behind('cover'));
    const moves = async (state: Json): Promise<boolean> => {
      const context = { desired: null, before: null, kept: {}, baselineDeviceAt: null };
      const replies = { body: { status: 200, headers: {}, body: state } };
      return (await interpretRead(device, replies, context, 1)).sample.moving;
    };
    assert.equal(await moves({ position: 20, moving: 'UP' }), true);
    assert.equal(await moves({ position: 20, running: true }), true);
    assert.equal(await moves({ position: 20, moving: 'STOP' }), false);
    assert.equal(await moves({ position: 20 }), false);
  });

  it('may lack what others of its kind have, and have what they lack', async () => {
    const device = await deviceOf(
      behind(
        'light',
        ', fields: { brightness: null, effect: { type: enum, values: [blink, breathe], readback: none } }, read: { ask: null }',
      ),
    );
    assert.deepEqual(Object.keys(device.fields), ['power', 'effect']);
    assert.equal(device.read?.ask, null);
  });

  it('can be what a profile of the user extends', async () => {
    const { devices } = await catalogueOf(`${BROKER}
profiles: { slow-lock: { extends: zigbee2mqtt/lock, settle: { within: 3m } } }
devices: { d: { connection: c, profile: slow-lock, with: { friendly_name: door } } }`);
    assert.equal(devices['d']?.settle.withinMs, 180_000);
    assert.deepEqual(Object.keys(devices['d']?.faults ?? {}), ['jammed']);
  });
});
