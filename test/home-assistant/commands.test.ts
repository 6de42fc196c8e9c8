/** Commands to a real Home Assistant, from the call to the verified reading. */
import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import { type Harness, startReadback } from '../harness/readback.ts';
import { type HomeAssistant, startHomeAssistant } from './instance.ts';

const catalogueOf = (baseUrl: string) => `
version: 1
connections:
  house: { kind: home-assistant, baseUrl: "${baseUrl}", auth: { bearer: "\${HA}" } }
  stranger: { kind: home-assistant, baseUrl: "${baseUrl}", auth: { bearer: "\${BAD}" } }
defaults: { settle: { first: 500ms, every: 1s, within: 20s, stable: 1s } }
devices:
  hvac: { connection: house, entity: climate.hvac }
  heatpump: { connection: house, entity: climate.heatpump }
  ecobee: { connection: house, entity: climate.ecobee }
  fan: { connection: house, entity: fan.living_room_fan }
  lamp: { connection: house, entity: light.bed_light }
  ceiling: { connection: house, entity: light.ceiling_lights }
  window: { connection: house, entity: cover.hall_window, settle: { within: 60s } }
  front-door: { connection: house, entity: lock.front_door }
  bad-door: { connection: house, entity: lock.poorly_installed_door }
  plug: { connection: house, entity: switch.ac }
  nobody: { connection: house, entity: climate.nobody }
  stranger-plug: { connection: stranger, entity: switch.ac }
`;

describe('a command to Home Assistant', { concurrency: true }, () => {
  let home: HomeAssistant;
  let readback: Harness;
  before(async () => {
    home = await startHomeAssistant();
    const environment = { HA: home.token, BAD: 'not-a-token-of-this-instance' };
    readback = await startReadback({ devices: {}, catalogue: catalogueOf(home.baseUrl), environment });
  });
  after(async () => {
    await readback?.close();
    await home?.stop();
  });

  for (const [name, device, desired, entity, shown] of [
    ["sets a climate's temperature", 'hvac', { temperature: 24 }, 'climate.hvac', { temperature: 24 }],
    [
      "sets a climate's mode and temperature, in that order",
      'heatpump',
      { mode: 'heat', temperature: 19 },
      'climate.heatpump',
      { temperature: 19 },
    ],
    ["sets a fan's percentage", 'fan', { percentage: 33 }, 'fan.living_room_fan', { percentage: 33 }],
    [
      "sets a light's brightness, which the device counts to 255",
      'lamp',
      { brightness: 40 },
      'light.bed_light',
      { brightness: 102 },
    ],
    [
      'moves a cover to a position',
      'window',
      { position: 40 },
      'cover.hall_window',
      { current_position: 40 },
    ],
  ] as const) {
    it(`${name}: verified`, async () => {
      const { view } = await readback.carryOut(device, desired);
      assert.equal(view.result?.outcome, 'verified', view.result?.detail);
      const { attributes } = await home.state(entity);
      for (const [attribute, value] of Object.entries(shown)) assert.equal(attributes[attribute], value);
    });
  }

  it('unlocks a lock, which takes its time: verified', async () => {
    const { view } = await readback.carryOut('front-door', { lock: 'unlocked' });
    assert.equal(view.result?.outcome, 'verified', view.result?.detail);
    assert.equal((await home.state('lock.front_door')).state, 'unlocked');
  });

  it('never verifies the badly installed door, which ends jammed', async () => {
    const { view } = await readback.carryOut('bad-door', { lock: 'locked' });
    assert.notEqual(view.result?.outcome, 'verified');
    assert.match(view.result?.detail ?? '', /jammed/);
    assert.equal(view.sent.count, 1);
  });

  it('is refused for an entity that does not exist, and says so', async () => {
    const { view } = await readback.carryOut('nobody', { temperature: 21 });
    assert.equal(view.result?.outcome, 'refused', view.result?.detail);
    assert.match(view.result?.detail ?? '', /climate\.nobody/);
  });

  it('is refused for a token that the instance does not know, without showing it', async () => {
    const { view } = await readback.carryOut('stranger-plug', { power: 'off' });
    assert.deepEqual([view.result?.outcome, view.sent.count], ['refused', 0]);
    assert.match(view.result?.detail ?? '', /credentials/);
    assert.doesNotMatch(JSON.stringify(view), /not-a-token/);
  });

  it("is refused before anything is sent when it lies beyond the entity's own limits", async () => {
    const { view } = await readback.carryOut('ecobee', { temperature: 99 });
    assert.deepEqual([view.result?.outcome, view.sent.count], ['refused', 0]);
    assert.match(view.result?.detail ?? '', /35/);
  });

  it('is refused, with nothing sent, when it contradicts itself', async () => {
    const { view } = await readback.carryOut('ceiling', { power: 'off', brightness: 40 });
    assert.deepEqual([view.result?.outcome, view.sent.count], ['refused', 0]);
  });

  it('is verified or already for a switch, and leaves it as asked', async () => {
    const { view } = await readback.carryOut('plug', { power: 'off' });
    assert.ok(['verified', 'already'].includes(view.result?.outcome ?? ''), view.result?.detail);
    assert.equal((await home.state('switch.ac')).state, 'off');
  });
});
