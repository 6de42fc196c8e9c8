/** The devices of a zigbee2mqtt, imported from a real broker by the command line, and commanded. */
import assert from 'node:assert/strict';
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { after, before, describe, it } from 'node:test';
import type { CommandSnapshot } from '../../commands/commands.ts';
import { readback, temporaryFolder } from '../cli/readback.ts';
import { BRIDGE_DEVICES } from '../domain/import/bridge-devices.ts';
import { type Harness, startReadback } from '../harness/readback.ts';
import { type Mosquitto, PASSWORDS, startMosquitto } from './mosquitto.ts';
import { playZigbee2mqtt, type Zigbee2mqtt } from './zigbee2mqtt.ts';

describe('the devices of a zigbee2mqtt, imported', { timeout: 170_000 }, () => {
  const folder = temporaryFolder();
  const file = join(folder.path, 'readback.yaml');
  let broker: Mosquitto;
  let bridge: Zigbee2mqtt;
  let harness: Harness;
  const run = async (password: string, ...args: string[]) =>
    await readback(['devices', 'import', '--from', 'zigbee2mqtt', '--into', file, ...args], {
      cwd: folder.path,
      env: { MQTT_PASSWORD: password },
    });
  const outcome = ({ view }: CommandSnapshot): string | undefined => view.result?.outcome;

  before(async () => {
    broker = await startMosquitto();
    bridge = await playZigbee2mqtt(broker);
    // As many more as make the list longer than any state may be.
    const more = Array.from({ length: 300 }, (_, index) => ({
      ...(BRIDGE_DEVICES as readonly object[])[2],
      ieee_address: `0x00124b00000${String(index).padStart(5, '0')}`,
      friendly_name: `plug ${index}`,
    }));
    const devices = JSON.parse(JSON.stringify([...(BRIDGE_DEVICES as readonly object[]), ...more])) as never;
    await bridge.publish('zigbee2mqtt/bridge/devices', devices, { retain: true });
    const { code, stdout, stderr } = await run(
      PASSWORDS.readback,
      ...['--url', broker.url, '--user', 'readback', '--except', 'plug *', '--no-approvals'],
    );
    assert.equal(code, 0, stderr);
    assert.match(stdout, /^8 devices added on connection zigbee2mqtt/m);
    harness = await startReadback({
      devices: {},
      catalogue: `${readFileSync(file, 'utf8')}\ndefaults: { settle: { first: 200ms, every: 400ms, within: 4s, stable: 500ms } }\n`,
      environment: { MQTT_PASSWORD: PASSWORDS.readback },
    });
  });
  after(async () => {
    await harness?.close();
    await bridge?.stop();
    await broker?.stop();
    folder.remove();
  });

  it('names the variable of the password, and not the password', () => {
    const text = readFileSync(file, 'utf8');
    assert.match(text, /username: readback, password: "\$\{MQTT_PASSWORD\}"/);
    assert.ok(!text.includes(PASSWORDS.readback));
  });

  for (const [what, id, name, before, desired, told] of [
    [
      'a light, in its own brightness and mired',
      'study-desk-lamp',
      'Study/desk lamp',
      { state: 'OFF', brightness: 10, color_temp: 300 },
      { power: 'on', brightness: 50, colour_temperature: 2500 },
      { state: 'ON', brightness: 127, color_temp: 400 },
    ],
    ['a plug', 'kettle', 'kettle', { state: 'OFF', power: 0, energy: 1 }, { power: 'on' }, { state: 'ON' }],
    [
      'a radiator valve, mode first',
      'bathroom-radiator',
      'bathroom radiator',
      { system_mode: 'off', occupied_heating_setpoint: 5, local_temperature: 19 },
      { mode: 'heat', temperature: 21.5 },
      { system_mode: 'heat', occupied_heating_setpoint: 21.5 },
    ],
    ['a cover', 'bedroom-blind', 'bedroom blind', { position: 0 }, { position: 60 }, { position: 60 }],
    [
      'a lock',
      'front-door',
      'front door',
      { state: 'UNLOCK', lock_state: 'unlocked' },
      { lock: 'locked' },
      { state: 'LOCK' },
    ],
    [
      'one side of a double switch, and leaves the other alone',
      'double-switch',
      'double switch',
      { state_left: 'OFF', state_right: 'OFF' },
      { power_right: 'on' },
      { state_left: 'OFF', state_right: 'ON' },
    ],
  ] as const) {
    it(`verifies ${what}`, async () => {
      const played = bridge.device(name, { ...before });
      const ended = await harness.carryOut(id, desired);
      assert.equal(outcome(ended), 'verified', ended.view.result?.detail);
      for (const [property, value] of Object.entries(told)) assert.equal(played.state[property], value);
    });
  }

  it('claims nothing of what can be set and not asked for', async () => {
    bridge.device('garden valve', { state: 'OFF' }, { obeys: false });
    const ended = await harness.carryOut('garden-valve', { power: 'on' });
    assert.equal(outcome(ended), 'unverifiable', ended.view.result?.detail);
    assert.equal(bridge.received('garden valve', 'set').length, 1);
  });

  it('leaves the file alone when imported again, and says what is not there any more', async () => {
    const edited = `# mine\n${readFileSync(file, 'utf8')}`.replace(
      'friendly_name: kettle',
      'friendly_name: old kettle',
    );
    writeFileSync(file, edited);
    const { code, stdout } = await run(PASSWORDS.readback, '--only', 'front door');
    assert.equal(code, 0);
    assert.match(stdout, /not found[^]*kettle \(zigbee2mqtt\/old kettle\)/);
    assert.equal(readFileSync(file, 'utf8'), edited);
  });

  it('says what is wrong where it can be told nothing', async () => {
    const wrong = await run('not the password');
    assert.equal(wrong.code, 1);
    assert.match(wrong.stderr, /does not accept the user name and password\. Nothing was written/);
    const elsewhere = await run(PASSWORDS.readback, '--base', 'zigbee');
    assert.equal(elsewhere.code, 1);
    assert.match(elsewhere.stderr, /zigbee\/bridge\/devices/);
  });
});
