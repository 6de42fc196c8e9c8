import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import type { DeviceDefinition } from '../../../domain/catalogue/definition.ts';
import { HOME_ASSISTANT_DOMAINS } from '../../../domain/catalogue/home-assistant.ts';
import { interpretRead } from '../../../domain/interpretation.ts';
import type { Json } from '../../../domain/values.ts';
import { catalogueOf, problemsOf } from './loading.ts';

const house = (keys: string): string =>
  `connections: { house: { kind: home-assistant, baseUrl: "http://127.0.0.1:8123", auth: { bearer: t } } }\ndevices: { d: { connection: house, ${keys} } }`;

async function deviceOf(keys: string): Promise<DeviceDefinition> {
  const found = (await catalogueOf(house(keys))).devices['d'];
  assert.ok(found);
  return found;
}

const steps = (device: DeviceDefinition): Json =>
  device.send.map((step) => [
    step.for.join(' '),
    step.when,
    step.request.path.replace('/api/services/', ''),
    step.request.body,
  ]);

async function reading(device: DeviceDefinition, body: Json) {
  const name = Object.keys(device.read?.requests ?? {})[0] as string;
  const context = { desired: null, before: null, kept: {}, baselineDeviceAt: null };
  return (await interpretRead(device, { [name]: { status: 200, headers: {}, body } }, context, 0)).sample;
}

describe('entities of Home Assistant', () => {
  it('are read from their state, and one that is unavailable has no reading', async () => {
    const lamp = await deviceOf('entity: light.desk');
    assert.equal(lamp.read?.requests['body']?.path, '/api/states/{entity}');
    assert.deepEqual(lamp.params, { entity: 'light.desk' });
    assert.notEqual((await reading(lamp, { state: 'unavailable', attributes: {} })).trouble, null);
    assert.deepEqual((await reading(lamp, { state: 'on', attributes: { brightness: 51 } })).fields, {
      power: { kind: 'value', value: 'on' },
      brightness: { kind: 'value', value: 20 },
    });
  });

  it('that stand still are not called stale: their stamps move only when something changes', async () => {
    assert.equal((await deviceOf('entity: light.desk')).read?.at, null);
  });

  it('light', async () => {
    assert.deepEqual(steps(await deviceOf('entity: light.desk')), [
      [
        'power brightness',
        { power: ['on'] },
        'light/turn_on',
        { entity_id: 'light.desk', brightness: '=$wire.brightness' },
      ],
      ['power', { power: ['off'] }, 'light/turn_off', { entity_id: 'light.desk' }],
      ['brightness', {}, 'light/turn_on', { entity_id: 'light.desk', brightness: '=$wire.brightness' }],
    ]);
  });

  it('climate: mode before temperature, whose unit is the instance’s', async () => {
    const ac = await deviceOf('entity: climate.ac');
    assert.deepEqual(steps(ac), [
      ['mode', {}, 'climate/set_hvac_mode', { entity_id: 'climate.ac', hvac_mode: '=$wire.mode' }],
      [
        'temperature',
        {},
        'climate/set_temperature',
        { entity_id: 'climate.ac', temperature: '=$wire.temperature' },
      ],
    ]);
    assert.deepEqual([ac.fields['temperature']?.unit, ac.fields['temperature']?.device.unit], ['°C', null]);
    const cooling = await reading(ac, {
      state: 'cool',
      attributes: { temperature: 21, current_temperature: 24.5, hvac_action: 'idle' },
    });
    assert.deepEqual(
      Object.entries(cooling.fields).map(([name, read]) => [name, read.kind === 'value' && read.value]),
      [
        ['mode', 'cool'],
        ['temperature', 21],
        ['action', 'idle'],
        ['current_temperature', 24.5],
      ],
    );
    const fanOnly = await reading(ac, { state: 'fan_only', attributes: { temperature: null } });
    assert.equal(fanOnly.fields['temperature']?.kind, 'notApplicable');
  });

  it('fan: power and percentage in one call, a percentage alone by its own service', async () => {
    assert.deepEqual(steps(await deviceOf('entity: fan.attic')), [
      [
        'power percentage',
        { power: ['on'] },
        'fan/turn_on',
        { entity_id: 'fan.attic', percentage: '=$wire.percentage' },
      ],
      ['power', { power: ['off'] }, 'fan/turn_off', { entity_id: 'fan.attic' }],
      ['percentage', {}, 'fan/set_percentage', { entity_id: 'fan.attic', percentage: '=$wire.percentage' }],
    ]);
  });

  it('cover: on its way while opening or closing', async () => {
    const blind = await deviceOf('entity: cover.blind');
    const opening = await reading(blind, { state: 'opening', attributes: { current_position: 55 } });
    assert.deepEqual([opening.moving, opening.fields['position']], [true, { kind: 'value', value: 55 }]);
    assert.equal(
      (await reading(blind, { state: 'open', attributes: { current_position: 80 } })).moving,
      false,
    );
  });

  it('R7: lock: on its way while locking, a fault when jammed', async () => {
    const lock = await deviceOf('entity: lock.front');
    assert.deepEqual(steps(lock), [
      ['lock', { lock: ['locked'] }, 'lock/lock', { entity_id: 'lock.front' }],
      ['lock', { lock: ['unlocked'] }, 'lock/unlock', { entity_id: 'lock.front' }],
    ]);
    assert.equal((await reading(lock, { state: 'locking', attributes: {} })).moving, true);
    const jammed = await reading(lock, { state: 'jammed', attributes: {} });
    assert.deepEqual([jammed.faults, jammed.fields['lock']?.kind], [{ jammed: 'raised' }, 'unreadable']);
    assert.deepEqual((await reading(lock, { state: 'locked', attributes: {} })).faults, { jammed: 'clear' });
  });

  it('switch', async () => {
    assert.deepEqual(steps(await deviceOf('entity: switch.plug')), [
      ['power', { power: ['on'] }, 'switch/turn_on', { entity_id: 'switch.plug' }],
      ['power', { power: ['off'] }, 'switch/turn_off', { entity_id: 'switch.plug' }],
    ]);
  });
});

describe('every domain that is built in', () => {
  for (const domain of HOME_ASSISTANT_DOMAINS) {
    it(`${domain} needs nothing but an entity, and its fields are read or say that they can't be`, async () => {
      const device = await deviceOf(`entity: ${domain}.any`);
      for (const field of Object.values(device.fields))
        assert.equal(field.read !== null, field.readback, field.name);
      const written = device.send.map(({ request, repeatable, kind }) => [request.path, repeatable, kind]);
      for (const [path, repeatable, kind] of written) {
        assert.match(String(path), new RegExp(`^/api/services/${domain}/[a-z_]+$`));
        assert.equal(repeatable, kind === 'set');
      }
    });
  }

  it('tells what an entity shows: a media player in our terms', async () => {
    const tv = await deviceOf('entity: media_player.tv');
    const playing = await reading(tv, {
      state: 'playing',
      attributes: { volume_level: 0.35, is_volume_muted: false, source: 'dvd' },
    });
    assert.deepEqual(
      ['power', 'volume', 'muted', 'playback', 'source'].map((name) => playing.fields[name]),
      ['on', 35, 'off', 'playing', 'dvd'].map((value) => ({ kind: 'value', value })),
    );
    const standby = await reading(tv, { state: 'standby', attributes: {} });
    assert.deepEqual(standby.fields['power'], { kind: 'value', value: 'off' });
    assert.equal(standby.fields['volume']?.kind, 'notApplicable');
  });

  it('a number is read from text, and a vacuum that returns is on its way', async () => {
    const level = await reading(await deviceOf('entity: number.level'), { state: '42.0', attributes: {} });
    assert.deepEqual(level.fields['value'], { kind: 'value', value: 42 });
    const robot = await deviceOf('entity: vacuum.robot');
    assert.equal((await reading(robot, { state: 'returning', attributes: {} })).moving, true);
    const stuck = await reading(robot, { state: 'error', attributes: {} });
    assert.deepEqual([stuck.faults, stuck.fields['activity']?.kind], [{ error: 'raised' }, 'unreadable']);
  });

  it('a button that was never pressed can be pressed, once, and nobody claims what came of it', async () => {
    const bell = await deviceOf('entity: button.bell');
    assert.equal((await reading(bell, { state: 'unknown', attributes: {} })).trouble, null);
    assert.deepEqual(
      [bell.send[0]?.kind, bell.send[0]?.repeatable, bell.fields['press']?.readback],
      ['pulse', false, false],
    );
  });
});

describe('the catalogue over what is built in', () => {
  it('narrows fields, adds others, and changes the rest by the ordinary merge', async () => {
    const ac = await deviceOf(
      'entity: climate.ac, settle: { lag: 30s }, fields: { temperature: { min: 18, max: 26, tolerance: 0.2 }, humidity: { type: percent, readOnly: true, read: body.attributes.current_humidity } }',
    );
    const { temperature, humidity } = ac.fields;
    assert.deepEqual(
      [temperature?.min, temperature?.max, temperature?.tolerance, temperature?.read],
      [18, 26, 0.2, 'body.attributes.temperature'],
    );
    assert.deepEqual([humidity?.readOnly, ac.settle.lagMs], [true, 30_000]);
  });

  it('removes a field with null, also from the requests', async () => {
    const lamp = await deviceOf('entity: light.desk, fields: { brightness: null }');
    assert.deepEqual(Object.keys(lamp.fields), ['power']);
    assert.deepEqual(steps(lamp), [
      ['power', { power: ['on'] }, 'light/turn_on', { entity_id: 'light.desk' }],
      ['power', { power: ['off'] }, 'light/turn_off', { entity_id: 'light.desk' }],
    ]);
  });

  it('describes other domains itself', async () => {
    const text = await deviceOf(
      'entity: text.greeting, send: { request: POST /api/services/text/set_value, body: { entity_id: =$entity, value: =$wire.value } }, fields: { value: { type: text, read: body.state } }',
    );
    assert.equal(text.read?.requests['body']?.path, '/api/states/{entity}');
    assert.match(
      String(await problemsOf(house('entity: text.greeting'))),
      /^devices\.d\.entity: the fields of text are not built in \(built in: climate, .*: give "fields" and "send" yourself$/,
    );
  });

  it('leaves out of conditions and requests the values that a field does not have here', async () => {
    const heater = await deviceOf('entity: climate.heater, fields: { mode: { values: [heat, "off"] } }');
    assert.deepEqual(heater.fields['temperature']?.appliesWhen, { mode: ['off', 'heat'] });
    const timer = await deviceOf(
      'entity: vacuum.robot, fields: { activity: { values: [cleaning, docked] } }',
    );
    assert.deepEqual(
      timer.send.map(({ request }) => request.path),
      ['start', 'return_to_base', 'set_fan_speed', 'locate'].map((one) => `/api/services/vacuum/${one}`),
    );
  });

  it('keeps a field that is only read, and sends it nowhere', async () => {
    const window = await deviceOf('entity: cover.window, fields: { door: { readOnly: true } }');
    assert.deepEqual([window.fields['door']?.readOnly, window.send.length], [true, 1]);
    const shown = await deviceOf('entity: media_player.tv, fields: { power: { readOnly: true } }');
    assert.ok(shown.send.every((step) => !step.for.includes('power')));
    assert.deepEqual(shown.fields['volume']?.appliesWhen, { power: ['on'] });
  });

  it('needs an entity', async () => {
    assert.deepEqual(await problemsOf(house('name: x')), [
      'devices.d.entity: is missing: give the entity, e.g. climate.bedroom',
    ]);
    assert.match(
      String(await problemsOf(house('entity: "light.desk/../x"'))),
      /devices\.d\.entity: .*such as climate\.bedroom/,
    );
  });
});
