/** What zigbee2mqtt's devices say of themselves, as entries of a catalogue that means the same. */
import assert from 'node:assert/strict';
import { before, describe, it } from 'node:test';
import type { Catalogue, DeviceDefinition } from '../../../domain/catalogue/definition.ts';
import { describeField } from '../../../domain/devices.ts';
import { type ImportPlan, planImport } from '../../../domain/import/plan.ts';
import { zigbee2mqttProposals } from '../../../domain/import/zigbee2mqtt.ts';
import { catalogueOf } from '../catalogue/loading.ts';
import { BRIDGE_DEVICES } from './bridge-devices.ts';

describe('the devices of a zigbee2mqtt', () => {
  let plan: ImportPlan;
  let catalogue: Catalogue;
  const device = (id: string): DeviceDefinition => {
    const found = catalogue.devices[id];
    assert.ok(found, `${id} is not among ${Object.keys(catalogue.devices).join(', ')}`);
    return found;
  };
  const fields = (id: string): Record<string, string> =>
    Object.fromEntries(Object.values(device(id).fields).map((field) => [field.name, describeField(field)]));

  before(async () => {
    plan = await planImport({
      text: '',
      catalogue: null,
      connection: { name: 'zigbee', content: { kind: 'mqtt', url: 'mqtt://127.0.0.1:1883' }, isNew: true },
      found: zigbee2mqttProposals(BRIDGE_DEVICES, 'zigbee2mqtt'),
      isWanted: () => true,
      prune: false,
      guard: true,
    });
    catalogue = await catalogueOf(plan.text);
  });

  it('a light, with its colour temperature in kelvin and the device’s own mired', () => {
    assert.deepEqual(fields('study-desk-lamp'), {
      power: 'on | off',
      brightness: '1–100 %',
      colour_temperature: '2203–4000 K',
    });
    const { colour_temperature: colour } = device('study-desk-lamp').fields;
    assert.deepEqual(
      [colour?.key, colour?.device.unit, colour?.appliesWhen],
      ['color_temp', 'mired', { power: ['on'] }],
    );
    assert.deepEqual(device('study-desk-lamp').read?.ask?.body, {
      state: '',
      brightness: '',
      color_temp: '',
    });
    assert.equal(device('study-desk-lamp').params['friendly_name'], 'Study/desk lamp');
  });

  it('a plug, with what it measures, which can be read and not set', () => {
    assert.deepEqual(fields('kettle'), { power: 'on | off', load: 'read only', energy: 'read only' });
    const { load } = device('kettle').fields;
    assert.deepEqual([load?.unit, load?.key], ['W', 'power']);
  });

  it('a radiator valve, with its own limits and modes, and time to wake', () => {
    assert.deepEqual(fields('bathroom-radiator'), {
      mode: 'off | heat',
      temperature: '5–28 °C, step 0.5',
      current_temperature: 'read only',
    });
    const { fields: own, settle } = device('bathroom-radiator');
    assert.deepEqual(own['temperature']?.appliesWhen, { mode: ['heat'] });
    assert.deepEqual([settle.lagMs, settle.lagReason], [600_000, 'waiting for the device to wake']);
  });

  it('a cover by its position, and a lock with its fault', () => {
    assert.deepEqual(fields('bedroom-blind'), { position: '0–100 %' });
    assert.deepEqual(fields('front-door'), { lock: 'locked | unlocked' });
    assert.ok(device('front-door').faults['jammed']);
  });

  it('what only measures, where it answers; what only reports now and then is left out', () => {
    assert.deepEqual(fields('meter'), { load: 'read only', voltage: 'read only' });
    assert.deepEqual(
      [device('meter').send, device('meter').read?.ask?.body],
      [[], { power: '', voltage: '' }],
    );
    const why = plan.leftOut.find(({ identity }) => identity === 'zigbee2mqtt/hall thermometer')?.why;
    assert.equal(why, 'nothing of it can be set or asked for');
  });

  it('each endpoint of a double switch', () => {
    assert.deepEqual(fields('double-switch'), { power_left: 'on | off', power_right: 'on | off' });
    assert.equal(device('double-switch').fields['power_left']?.key, 'state_left');
  });

  it('what cannot be asked for has no readback: zigbee2mqtt would show what it sent', () => {
    const { power } = device('garden-valve').fields;
    assert.deepEqual([power?.readback, power?.read, device('garden-valve').read?.ask], [false, null, null]);
  });

  it('a name that no topic can hold, or that would be filled in, is left out and shown harmlessly', () => {
    assert.ok(!plan.text.includes('HA_TOKEN'));
    assert.doesNotMatch(plan.text, /[\u202e]/u);
    const why = plan.leftOut.find(({ identity }) => identity.includes('evil'))?.why;
    assert.match(String(why), /its name can be in no topic/);
  });

  it('rules for what lets somebody in or water out; asking before a blind moves', () => {
    assert.deepEqual(
      catalogue.approvals.map(({ for: { tag, field, unless, above }, by }) => [
        tag,
        field,
        unless ?? above,
        by,
      ]),
      [
        ['cover', 'position', null, 'requester'],
        ['lock', 'lock', ['locked'], 'operator'],
        ['valve', 'power', ['off'], 'operator'],
      ],
    );
  });

  it('what is no list of devices is refused in words', () => {
    assert.throws(() => zigbee2mqttProposals({ devices: [] }, 'zigbee2mqtt'), /is not as expected/);
  });
});
