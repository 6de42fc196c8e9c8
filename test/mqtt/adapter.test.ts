/** Devices behind a real mosquitto, on which a zigbee2mqtt is played. */
import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';
import { openAll } from '../activities/opened.ts';
import { close, devicesOn, READBACK, readBack } from './devices.ts';
import { type Mosquitto, PASSWORDS, startMosquitto } from './mosquitto.ts';
import { playZigbee2mqtt, type Zigbee2mqtt } from './zigbee2mqtt.ts';

describe('a device behind a broker', () => {
  let broker: Mosquitto;
  let bridge: Zigbee2mqtt;
  let open: Awaited<ReturnType<typeof devicesOn>>;

  before(async () => {
    broker = await startMosquitto();
    bridge = await playZigbee2mqtt(broker);
    open = await devicesOn(broker.url);
  });
  after(async () => {
    await close(open('desk'));
    await bridge.stop();
    await broker.stop();
  });

  it('is asked for its state, and read from its answer', async () => {
    bridge.device('desk', { state: 'ON', brightness: 127, linkquality: 90 });
    const { sample, replies } = await open('desk').read();
    assert.equal(sample.trouble, null);
    assert.deepEqual(sample.fields['power'], { kind: 'value', value: 'on' });
    assert.equal(sample.fields['brightness']?.kind, 'value');
    assert.equal(replies['body']?.headers['retained'], 'false');
    assert.deepEqual(
      bridge.received('desk', 'get').map(({ payload }) => payload),
      ['{"state":"","brightness":""}'],
    );
  });

  it('is sent one message, which the broker does not keep', async () => {
    bridge.device('desk', { state: 'OFF', brightness: 10 });
    const earlier = bridge.received('desk', 'set').length;
    const sent = await open('desk').send({ power: 'on', brightness: 50 });
    assert.deepEqual([sent.class, sent.acknowledged], ['accepted', true]);
    assert.equal(sent.detail, 'acknowledged by the broker (PUBACK)');
    assert.equal(sent.reply, null);
    const { sample } = await open('desk').read();
    assert.deepEqual(sample.fields['power'], { kind: 'value', value: 'on' });
    const messages = bridge.received('desk', 'set').slice(earlier);
    assert.deepEqual(messages, [
      { topic: 'zigbee2mqtt/desk/set', payload: '{"state":"ON","brightness":127}', retained: false },
    ]);
  });

  it('is unreadable when it does not answer, whatever it said before', async () => {
    const desk = bridge.device('desk', { state: 'ON', brightness: 127 });
    assert.equal((await open('desk').read()).sample.trouble, null);
    desk.answers = false;
    const { sample } = await open('desk').read();
    assert.equal(sample.trouble, 'no answer to zigbee2mqtt/desk/get within 1 s');
    assert.equal(sample.fields['power']?.kind, 'unreadable');
  });

  it('may speak in plain text', async () => {
    await bridge.publish('plain/fan', 'ON', { retain: true });
    const { sample, replies } = await open('fan').read();
    assert.deepEqual(sample.fields['power'], { kind: 'value', value: 'on' });
    assert.equal(replies['body']?.headers['retained'], 'true');
  });

  it('is not read back from what the broker had in store, but from what it says since the send', async () => {
    const other = await devicesOn(broker.url);
    await bridge.publish('plain/fan', 'ON', { retain: true });
    const sentAt = Date.now();
    const stored = await readBack(other('fan'), { power: 'on' }, sentAt);
    assert.equal(
      stored.sample.trouble,
      'only a retained value is known of plain/fan, and it may be older than the send',
    );
    await bridge.publish('plain/fan', 'ON', { retain: true });
    await sleep(100);
    const fresh = await readBack(other('fan'), { power: 'on' }, sentAt);
    assert.deepEqual(fresh.sample.fields['power'], { kind: 'value', value: 'on' });
    const later = await readBack(other('fan'), { power: 'on' }, Date.now() + 1);
    assert.equal(later.sample.trouble, 'the device has said nothing on plain/fan since the send');
    await close(other('fan'));
  });

  it('is heard when it answers a send at once, and only once', async () => {
    const other = await devicesOn(broker.url);
    bridge.device('shelf', { state: 'OFF' }, { answers: false });
    const sent = await other('shelf').send({ power: 'on' });
    const { adapter, device } = other('shelf');
    assert.ok(device.read);
    const unasked = { ...device, read: { ...device.read, ask: null } };
    await sleep(100);
    const { sample } = await readBack(
      { ...other('shelf'), adapter, device: unasked },
      { power: 'on' },
      sent.at,
    );
    assert.deepEqual(sample.fields['power'], { kind: 'value', value: 'on' });
    await close(other('shelf'));
  });

  it('with several topics needs news on those of the asked fields only', async () => {
    await bridge.publish('plain/heater/power', 'ON', { retain: true });
    await bridge.publish('plain/heater/level', 40, { retain: true });
    assert.equal((await open('heater').read()).sample.trouble, null);
    const sentAt = Date.now();
    const before = await readBack(open('heater'), { level: 60 }, sentAt);
    assert.match(String(before.sample.trouble), /only a retained value is known of plain\/heater\/level/);
    await bridge.publish('plain/heater/level', 60);
    await sleep(100);
    const { sample } = await readBack(open('heater'), { level: 60 }, sentAt);
    assert.deepEqual(sample.fields['level'], { kind: 'value', value: 60 });
    assert.deepEqual(sample.fields['power'], { kind: 'value', value: 'on' });
  });

  for (const word of ['offline', '{"state":"offline"}']) {
    it(`is not available while its availability topic says ${word}`, async () => {
      bridge.device('shelf', { state: 'ON' });
      await bridge.publish('zigbee2mqtt/shelf/availability', word, { retain: true });
      await sleep(50);
      const { sample } = await open('shelf').read();
      assert.equal(
        sample.trouble,
        'the device is not available (zigbee2mqtt/shelf/availability says offline)',
      );
      await bridge.publish('zigbee2mqtt/shelf/availability', '', { retain: true });
      await sleep(50);
      assert.equal((await open('shelf').read()).sample.trouble, null);
    });
  }

  it('has sent nothing readable when its message is broken, empty or far too long', async () => {
    const troubles: (string | null)[] = [];
    for (const payload of ['{"state": "O', '', '"'.padEnd(200_000, 'x'), '<html></html>']) {
      await bridge.publish('plain/fan', payload);
      await sleep(50);
      const { sample } = await open('fan').read();
      assert.equal(sample.fields['power']?.kind, 'unreadable', payload.slice(0, 20));
      troubles.push(sample.trouble);
    }
    assert.deepEqual(troubles, [null, null, 'the message on plain/fan is too long to be a state', null]);
  });

  it('of 5 MB does not get past the broker, and memory stays flat', async () => {
    await bridge.publish('plain/fan', 'OFF', { retain: true });
    await sleep(50);
    const before = process.memoryUsage().rss;
    for (let round = 0; round < 10; round += 1) await bridge.publish('plain/fan', 'x'.repeat(5_000_000));
    const { sample } = await open('fan').read();
    assert.deepEqual(sample.fields['power'], { kind: 'value', value: 'off' });
    assert.ok(process.memoryUsage().rss - before < 100_000_000);
  });

  it('can not be reached while nobody listens for its messages, which is certain', async () => {
    const open = await openAll(`
connections: { broker: { kind: mqtt, url: "${broker.url}", auth: { basic: ${JSON.stringify(READBACK)} } } }
devices: { lamp: { connection: broker, send: { topic: plain/lamp/commands }, read: { topic: plain/lamp }, fields: { power: onoff } } }
`);
    const sent = await open('lamp').send({ power: 'on' });
    assert.equal(sent.class, 'unreached');
    assert.match(sent.detail, /^nobody listens on plain\/lamp\/commands/);
    assert.match(String((await open('lamp').read()).sample.trouble), /^no message on plain\/lamp yet/);
    await close(open('lamp'));
  });

  it('is refused to an account that may not publish to it', async () => {
    const visitor = await devicesOn(broker.url, '', { username: 'visitor', password: PASSWORDS.visitor });
    const sent = await visitor('desk').send({ power: 'on' });
    assert.equal(sent.class, 'refused');
    assert.equal(
      sent.detail,
      `the broker at 127.0.0.1:${broker.port} does not let us publish to zigbee2mqtt/desk/set`,
    );
    await close(visitor('desk'));
  });

  it('shares one connection with the others, which ends with a goodbye', async () => {
    const signedIn = () => broker.log().filter((line) => line.includes("u'readback'")).length;
    const goodbyes = () =>
      broker.log().filter((line) => /Client readback-\w+ disconnected\./.test(line)).length;
    const several = await devicesOn(broker.url);
    const earlier = { signedIn: signedIn(), goodbyes: goodbyes() };
    bridge.device('desk', { state: 'ON', brightness: 1 });
    bridge.device('shelf', { state: 'ON' });
    const reads = Array.from({ length: 40 }, (_, index) => several(index % 2 ? 'desk' : 'shelf').read());
    for (const { sample } of await Promise.all(reads)) assert.equal(sample.trouble, null);
    assert.equal(signedIn(), earlier.signedIn + 1);
    await close(several('desk'));
    await sleep(50);
    assert.equal(goodbyes(), earlier.goodbyes + 1);
    assert.equal((await several('desk').read()).sample.trouble, 'Readback is stopping');
    assert.equal(signedIn(), earlier.signedIn + 1);
  });

  it('keeps to the limits of its connection', async () => {
    const limited = await devicesOn(broker.url, ', limits: [{ requests: 1, per: 1h }]');
    bridge.device('shelf', { state: 'ON' });
    assert.equal((await limited('shelf').send({ power: 'on' })).class, 'accepted');
    const second = await limited('shelf').send({ power: 'on' });
    assert.equal(second.class, 'limited');
    assert.ok(Number(second.retryAfterMs) > 3_000_000);
    await close(limited('shelf'));
  });

  it('is no longer waited for when the read is given up', async () => {
    bridge.device('desk', { state: 'ON' }, { answers: false });
    const giveUp = new AbortController();
    const reading = open('desk').read(giveUp.signal);
    setTimeout(() => giveUp.abort(new Error('enough')), 50);
    await assert.rejects(reading, /enough/);
  });
});
