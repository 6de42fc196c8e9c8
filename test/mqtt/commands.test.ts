/** Commands to devices behind a real mosquitto, with everything between: Temporal, worker, broker, a played zigbee2mqtt. */
import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';
import type { CommandSnapshot } from '../../commands/commands.ts';
import { type Harness, startReadback } from '../harness/readback.ts';
import { type Mosquitto, PASSWORDS, startMosquitto } from './mosquitto.ts';
import { playZigbee2mqtt, type Zigbee2mqtt } from './zigbee2mqtt.ts';

const catalogue = (url: string): string => `
timezone: UTC
connections:
  broker: { kind: mqtt, url: "${url}", timeout: 1s, auth: { basic: { username: readback, password: "\${MQTT_PASSWORD}" } } }
  # So slow that the broker can be stopped between the look and the send.
  paced: { kind: mqtt, url: "${url}", timeout: 1s, spacing: 1500ms, auth: { basic: { username: readback, password: "\${MQTT_PASSWORD}" } } }
  looking: { kind: mqtt, url: "${url}", timeout: 1s, auth: { basic: { username: visitor, password: "\${VISITOR_PASSWORD}" } } }
  mistaken: { kind: mqtt, url: "${url}", timeout: 1s, auth: { basic: { username: readback, password: not the password } } }
defaults: { settle: { first: 200ms, every: 400ms, within: 4s, stable: 500ms } }
profiles:
  toggled:
    connection: paced
    params: { name: required }
    send: { topic: "zigbee2mqtt/{name}/set", kind: toggle, body: { state: TOGGLE } }
    read: { topic: "zigbee2mqtt/{name}", ask: { topic: "zigbee2mqtt/{name}/get", body: { state: "" } } }
    fields: { power: { type: onoff, key: state } }
devices:
  desk: { connection: broker, profile: zigbee2mqtt/light, with: { friendly_name: desk } }
  hall: { connection: broker, profile: zigbee2mqtt/light, with: { friendly_name: hall } }
  blind: { connection: broker, profile: zigbee2mqtt/cover, with: { friendly_name: blind } }
  mute: { connection: broker, profile: zigbee2mqtt/switch, with: { friendly_name: mute }, read: { ask: null } }
  plug: { profile: toggled, with: { name: plug }, settle: { within: 10s } }
  socket: { profile: toggled, with: { name: socket }, settle: { within: 10s } }
  patient: { connection: broker, profile: zigbee2mqtt/switch, with: { friendly_name: patient }, settle: { within: 20s } }
  absent: { connection: broker, profile: zigbee2mqtt/switch, with: { friendly_name: absent } }
  seen: { connection: looking, profile: zigbee2mqtt/switch, with: { friendly_name: seen } }
  closed: { connection: mistaken, profile: zigbee2mqtt/switch, with: { friendly_name: closed } }
`;

describe('a command to a device behind a broker', { timeout: 170_000 }, () => {
  let broker: Mosquitto;
  let bridge: Zigbee2mqtt;
  let readback: Harness;

  before(async () => {
    broker = await startMosquitto();
    bridge = await playZigbee2mqtt(broker);
    readback = await startReadback({
      devices: {},
      catalogue: catalogue(broker.url),
      environment: { MQTT_PASSWORD: PASSWORDS.readback, VISITOR_PASSWORD: PASSWORDS.visitor },
    });
  });
  after(async () => {
    await readback.close();
    await bridge.stop();
    await broker.stop();
  });

  const outcome = ({ view }: CommandSnapshot): string | undefined => view.result?.outcome;
  const sends = (name: string): number => bridge.received(name, 'set').length;
  const until = async (holds: () => boolean, withinMs = 10_000): Promise<void> => {
    for (const deadline = Date.now() + withinMs; !holds(); await sleep(20))
      assert.ok(Date.now() < deadline, 'it did not come to that in time');
  };
  /** Asked at its turn, and once more right before it is toggled; what comes next is the toggle itself. */
  const lookedAt = async (name: string): Promise<void> => {
    await until(() => bridge.received(name, 'get').length === 2);
    await sleep(200);
  };
  /** The broker is found again only a moment after it is back. */
  const restart = async (): Promise<void> => {
    await broker.start();
    await sleep(500);
  };

  it('is verified by answers that the device itself gave', async () => {
    bridge.device('desk', { state: 'OFF', brightness: 40 });
    const ended = await readback.carryOut('desk', { power: 'on', brightness: 50 });
    assert.equal(outcome(ended), 'verified', ended.view.result?.detail);
    assert.equal(sends('desk'), 1);
    assert.equal(ended.view.sent.count, 1);
    // Once before the send, and with each of the two readbacks at least.
    assert.ok(bridge.received('desk', 'get').length >= 3);
    assert.equal(outcome(await readback.carryOut('desk', { power: 'on' })), 'already');
    assert.equal(sends('desk'), 1);
  });

  it('is not believed when only the bridge says so: the device is asked', async () => {
    const hall = bridge.device('hall', { state: 'OFF', brightness: 40 }, { obeys: false });
    const submitted = await readback.submit('hall', { power: 'on' });
    await until(() => sends('hall') === 1);
    await bridge.publish('zigbee2mqtt/hall', { state: 'ON', brightness: 40 });
    const ended = await readback.ended(submitted);
    assert.equal(outcome(ended), 'unchanged', ended.view.result?.detail);
    assert.equal(hall.state['state'], 'OFF');
  });

  it('ends different when the device rests elsewhere', async () => {
    const blind = bridge.device('blind', { position: 0, state: 'CLOSE' });
    const submitted = await readback.submit('blind', { position: 80 });
    await until(() => blind.state['position'] === 80);
    blind.state['position'] = 50;
    const ended = await readback.ended(submitted);
    assert.equal(outcome(ended), 'different', ended.view.result?.detail);
    assert.equal(ended.view.result?.fields['position']?.observed?.value, 50);
  });

  it('ends unreadable while the device is offline, though the broker took the message', async () => {
    bridge.device('desk', { state: 'OFF', brightness: 40 }, { obeys: false, answers: false });
    await bridge.publish('zigbee2mqtt/desk/availability', { state: 'offline' }, { retain: true });
    const ended = await readback.carryOut('desk', { power: 'on' });
    assert.equal(outcome(ended), 'unreadable', ended.view.result?.detail);
    assert.match(String(ended.view.result?.detail), /zigbee2mqtt\/desk\/availability says offline/);
    await bridge.publish('zigbee2mqtt/desk/availability', { state: 'online' }, { retain: true });
  });

  it('is not verified by a retained value', async () => {
    bridge.device('mute', { state: 'OFF' }, { obeys: false, retain: true });
    await bridge.publish('zigbee2mqtt/mute', { state: 'OFF' }, { retain: true });
    const submitted = await readback.submit('mute', { power: 'on' });
    await until(() => sends('mute') === 1);
    // What a worker finds that starts now, and has heard nothing live: as if somebody had set it before the send.
    await readback.stopWorker();
    await bridge.publish('zigbee2mqtt/mute', { state: 'ON' }, { retain: true });
    await readback.startWorker();
    const ended = await readback.ended(submitted);
    assert.equal(outcome(ended), 'unreadable', ended.view.result?.detail);
    assert.match(String(ended.view.result?.detail), /only a retained value is known of zigbee2mqtt\/mute/);
  });

  it('goes on when the broker is back that was killed in the middle of it', async () => {
    bridge.device('patient', { state: 'OFF' }, { delayMs: 300 });
    const submitted = await readback.submit('patient', { power: 'on' });
    await until(() => sends('patient') === 1);
    await broker.signal('SIGKILL');
    await sleep(2_000);
    await restart();
    const ended = await readback.ended(submitted);
    assert.equal(outcome(ended), 'verified', ended.view.result?.detail);
    assert.equal(sends('patient'), 1);
  });

  it('waits for a broker that is away, and is sent when it is back', async () => {
    bridge.device('patient', { state: 'OFF' });
    const earlier = sends('patient');
    await broker.signal('SIGKILL');
    const submitted = await readback.submit('patient', { power: 'on' });
    await sleep(3_000);
    assert.equal((await readback.commands.get(submitted, { kind: 'operator' }))?.status, 'running');
    await restart();
    const ended = await readback.ended(submitted);
    assert.equal(outcome(ended), 'verified', ended.view.result?.detail);
    assert.equal(sends('patient'), earlier + 1);
  });

  it('waits for a bridge that is away, since nobody has heard it', async () => {
    await bridge.stop();
    const submitted = await readback.submit('absent', { power: 'on' });
    await sleep(2_000);
    const waiting = await readback.commands.get(submitted, { kind: 'operator' });
    assert.equal(waiting?.status, 'running');
    assert.match(waiting.view.note, /nobody listens on zigbee2mqtt\/absent\/set/);
    bridge = await playZigbee2mqtt(broker);
    bridge.device('absent', { state: 'OFF' });
    const ended = await readback.ended(submitted);
    assert.equal(outcome(ended), 'verified', ended.view.result?.detail);
    assert.equal(sends('absent'), 1);
  });

  it('that toggles is not repeated when its acknowledgement is lost: the readback tells', async () => {
    bridge.device('plug', { state: 'OFF' });
    const submitted = await readback.submit('plug', { power: 'on' });
    await lookedAt('plug');
    await broker.signal('SIGSTOP');
    await sleep(4_000);
    await broker.signal('SIGCONT');
    const ended = await readback.ended(submitted);
    assert.equal(outcome(ended), 'verified', ended.view.result?.detail);
    assert.deepEqual([ended.view.sent.count, ended.view.sent.certain], [1, false]);
    assert.equal(sends('plug'), 1);
  });

  it('that toggles is not repeated either when it may have got lost: that is unknown', async () => {
    bridge.device('socket', { state: 'OFF' });
    const submitted = await readback.submit('socket', { power: 'on' });
    await lookedAt('socket');
    await broker.signal('SIGSTOP');
    await sleep(4_000);
    await broker.signal('SIGKILL');
    await restart();
    const ended = await readback.ended(submitted);
    assert.equal(outcome(ended), 'unknown', ended.view.result?.detail);
    assert.equal(ended.view.result?.safeToSendAgain, false);
    assert.deepEqual([ended.view.sent.count, sends('socket')], [1, 0]);
  });

  it('to a broker that does not know the password is refused in so many words, and knocks no more', async () => {
    const knocks = () => broker.log().filter((line) => /not authori[sz]ed/i.test(line)).length;
    const earlier = knocks();
    for (const power of ['on', 'off', 'on']) {
      const ended = await readback.carryOut('closed', { power });
      assert.equal(outcome(ended), 'refused', ended.view.result?.detail);
      assert.match(String(ended.view.result?.detail), /does not accept the user name and password/);
      assert.equal(ended.view.sent.count, 0);
      assert.doesNotMatch(JSON.stringify(ended), /not the password/);
    }
    assert.equal(knocks(), earlier + 1);
  });

  it('to a topic that the account may not publish to is refused', async () => {
    bridge.device('seen', { state: 'OFF' });
    const ended = await readback.carryOut('seen', { power: 'on' });
    assert.equal(outcome(ended), 'refused', ended.view.result?.detail);
    assert.match(String(ended.view.result?.detail), /does not let us publish to zigbee2mqtt\/seen\/set/);
    assert.equal(sends('seen'), 0);
  });
});
