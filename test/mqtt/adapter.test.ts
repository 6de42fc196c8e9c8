/** The MQTT adapter against a real mosquitto, and a zigbee2mqtt that is played on it. */
import assert from 'node:assert/strict';
import { once } from 'node:events';
import { type AddressInfo, createServer, type Socket } from 'node:net';
import { after, before, describe, it } from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';
import type { ReadContext } from '../../domain/exchange.ts';
import type { Desired } from '../../domain/values.ts';
import { type Opened, openAll } from '../activities/opened.ts';
import { freePort, type Mosquitto, PASSWORDS, startMosquitto } from './mosquitto.ts';
import { playZigbee2mqtt, type Zigbee2mqtt } from './zigbee2mqtt.ts';

type Account = { readonly username: string; readonly password: string };
const READBACK: Account = { username: 'readback', password: PASSWORDS.readback };

/** The devices of these tests on a broker at `url`; `more` goes into the connection. */
async function devicesOn(url: string, more = '', account: Account | null = READBACK) {
  const auth = account === null ? '' : `, auth: { basic: ${JSON.stringify(account)} }`;
  return openAll(`
connections: { broker: { kind: mqtt, url: "${url}", timeout: 1s${auth}${more} } }
devices:
  desk: { connection: broker, profile: zigbee2mqtt/light, with: { friendly_name: desk } }
  shelf: { connection: broker, profile: zigbee2mqtt/switch, with: { friendly_name: shelf } }
  fan:
    connection: broker
    send: { topic: plain/fan/set, as: text }
    read: { topic: plain/fan }
    fields: { power: { type: onoff, read: body } }
  heater:
    connection: broker
    send: { topic: plain/heater/set }
    read: { requests: { power: { topic: plain/heater/power }, level: { topic: plain/heater/level } } }
    fields: { power: { type: onoff, read: power.body }, level: { type: percent, read: level.body } }
`);
}

const never = new AbortController().signal;

/** A readback of `desired`, asked for at `sentAt`. */
function readBack({ adapter, device }: Opened, desired: Desired, sentAt: number) {
  const context: ReadContext = { desired, before: null, kept: {}, baselineDeviceAt: null, sentAt };
  return adapter.read(device, context, never);
}

const close = async ({ adapter }: Opened): Promise<void> => await adapter.close?.();

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
    assert.equal(sent.class, 'accepted');
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

describe('a broker', () => {
  it('that is not there reaches nothing, and is not tried again at once', async () => {
    const port = await freePort();
    const open = await devicesOn(`mqtt://127.0.0.1:${port}`);
    const sent = await open('desk').send({ power: 'on' });
    assert.deepEqual([sent.class, sent.detail], ['unreached', `connection refused by 127.0.0.1:${port}`]);
    assert.equal((await open('desk').read()).sample.trouble, `connection refused by 127.0.0.1:${port}`);
    await close(open('desk'));
  });

  it('that does not know the password is told so once, not with every read', async () => {
    const broker = await startMosquitto();
    const open = await devicesOn(broker.url, '', { username: 'readback', password: 'wrong horse' });
    const why = `the broker at 127.0.0.1:${broker.port} does not accept the user name and password`;
    const sent = await open('desk').send({ power: 'on' });
    assert.deepEqual([sent.class, sent.detail], ['signedOut', why]);
    for (let read = 0; read < 10; read += 1) {
      assert.equal((await open('desk').read()).sample.trouble, why);
      await sleep(150);
    }
    assert.equal(broker.log().filter((line) => /not authori[sz]ed/i.test(line)).length, 1);
    assert.doesNotMatch(JSON.stringify([sent, (await open('desk').read()).sample]), /wrong horse/);
    await close(open('desk'));
    await broker.stop();
  });

  it('that stops answering may have passed a message on, and never gets it a second time', async () => {
    const broker = await startMosquitto();
    const bridge = await playZigbee2mqtt(broker);
    bridge.device('shelf', { state: 'OFF' });
    const open = await devicesOn(broker.url);
    assert.equal((await open('shelf').read()).sample.trouble, null);
    await broker.signal('SIGSTOP');
    const sent = await open('shelf').send({ power: 'on' });
    assert.equal(sent.class, 'lost');
    assert.match(sent.detail, /did not acknowledge the message within 1 s/);
    await broker.signal('SIGCONT');
    await sleep(1_500);
    const { sample } = await open('shelf').read();
    assert.deepEqual(sample.fields['power'], { kind: 'value', value: 'on' });
    assert.equal(bridge.received('shelf', 'set').length, 1);
    await close(open('shelf'));
    await bridge.stop();
    await broker.stop();
  });

  it('that died is found again when it is back', async () => {
    const broker = await startMosquitto();
    const bridge = await playZigbee2mqtt(broker);
    bridge.device('shelf', { state: 'ON' });
    const open = await devicesOn(broker.url);
    assert.equal((await open('shelf').read()).sample.trouble, null);
    const reading = open('shelf').read();
    await broker.signal('SIGKILL');
    assert.match(String((await reading).sample.trouble), /closed the connection|broke off/);
    assert.match(String((await open('shelf').read()).sample.trouble), /broke off|closed|refused/);
    await broker.start();
    await sleep(1_500);
    const { sample } = await open('shelf').read();
    assert.equal(sample.trouble, null);
    await close(open('shelf'));
    await bridge.stop();
    await broker.stop();
  });

  it('with a certificate is trusted by its authority only, or when told to trust anybody', async () => {
    const broker = await startMosquitto({ tls: true });
    const answers = async (more: string): Promise<string> => {
      const open = await devicesOn(broker.url, more);
      const { class: taken, detail } = await open('fan').send({ power: 'on' });
      await close(open('fan'));
      return `${taken}: ${detail}`;
    };
    // Nobody plays the fan here: that the broker knows as much shows that it was reached.
    assert.match(await answers(`, tls: { ca: "${broker.ca}" }`), /^unreached: nobody listens/);
    assert.match(await answers(', tls: { insecure: true }'), /^unreached: nobody listens/);
    assert.match(await answers(''), /^unreached: no TLS connection to 127\.0\.0\.1:\d+ \(/);
    await broker.stop();
  });

  it('of an older kind is spoken to in MQTT 3.1.1', async () => {
    const versions: number[] = [];
    const server = createServer((socket) => {
      socket.on('error', () => undefined);
      socket.on('data', (data) => {
        for (const packet of packetsIn(data)) answerIn311(socket, packet, versions);
      });
    });
    server.listen(0, '127.0.0.1');
    await once(server, 'listening');
    const { port } = server.address() as AddressInfo;
    const open = await devicesOn(`mqtt://127.0.0.1:${port}`);
    assert.equal((await open('fan').send({ power: 'on' })).class, 'accepted');
    assert.equal((await open('fan').send({ power: 'off' })).class, 'accepted');
    assert.deepEqual(versions, [5, 4]);
    await close(open('fan'));
    server.close();
  });
});

/** The packets in what came, as long as each is shorter than 128 bytes. */
function packetsIn(data: Buffer): Buffer[] {
  const length = 2 + (data[1] ?? 0);
  return data.length <= length ? [data] : [data.subarray(0, length), ...packetsIn(data.subarray(length))];
}

/** The least that a broker of version 3.1.1 says: it doesn't know version 5, and acknowledges everything else. */
function answerIn311(socket: Socket, packet: Buffer, versions: number[]): void {
  const kind = (packet[0] ?? 0) >> 4;
  if (kind === 1) {
    const version = packet[packet.indexOf('MQTT') + 4] ?? 0;
    versions.push(version);
    socket.write(Buffer.from([0x20, 2, 0, version === 4 ? 0 : 1]));
  }
  if (kind === 3) {
    const after = 4 + packet.readUInt16BE(2);
    socket.write(Buffer.from([0x40, 2, ...packet.subarray(after, after + 2)]));
  }
  if (kind === 8) socket.write(Buffer.from([0x90, 3, ...packet.subarray(2, 4), 1]));
}
