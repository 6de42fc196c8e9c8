import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import type { DeviceDefinition } from '../../../domain/catalogue/definition.ts';
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
    const valve = await deviceOf(
      'entity: valve.garden, send: { request: POST /api/services/valve/set_valve_position, body: { entity_id: =$entity, position: =$wire.position } }, fields: { position: { type: percent, read: body.attributes.current_position } }',
    );
    assert.equal(valve.read?.requests['body']?.path, '/api/states/{entity}');
    assert.deepEqual(await problemsOf(house('entity: valve.garden')), [
      'devices.d.entity: the fields of valve are not built in (built in: climate, light, fan, cover, lock or switch): give "fields" and "send" yourself',
    ]);
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
