/** Brokers that are away, stop, die, know us not, or are of an older kind. */
import assert from 'node:assert/strict';
import { once } from 'node:events';
import { type AddressInfo, createServer, type Socket } from 'node:net';
import { describe, it } from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';
import { close, devicesOn } from './devices.ts';
import { freePort, startMosquitto } from './mosquitto.ts';
import { playZigbee2mqtt } from './zigbee2mqtt.ts';

describe('a broker', () => {
  it('that is not there reaches nothing, and is not tried again at once', async () => {
    const port = await freePort();
    const open = await devicesOn(`mqtt://127.0.0.1:${port}`);
    const sent = await open('desk').send({ power: 'on' });
    assert.deepEqual([sent.class, sent.detail], ['unreached', `connection refused by 127.0.0.1:${port}`]);
    assert.equal((await open('desk').read()).sample.trouble, `connection refused by 127.0.0.1:${port}`);
    await close(open('desk'));
  });

  it('that takes the connection and says nothing is waited for once', async () => {
    const server = createServer((socket) => void socket.on('error', () => undefined)).listen(0, '127.0.0.1');
    await once(server, 'listening');
    const { port } = server.address() as AddressInfo;
    const open = await devicesOn(`mqtt://127.0.0.1:${port}`);
    const startedAt = Date.now();
    const { sample } = await open('desk').read();
    assert.equal(sample.trouble, `no answer from a broker at 127.0.0.1:${port} within 1 s`);
    assert.ok(Date.now() - startedAt < 2_000);
    await close(open('desk'));
    server.close();
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
});

describe('a broker of version 3.1.1', () => {
  it('is spoken to in its own language, once it has said that it knows no other', async () => {
    const broker = await startOldBroker();
    const open = await devicesOn(broker.url);
    assert.equal((await open('fan').send({ power: 'on' })).class, 'accepted');
    assert.equal((await open('fan').send({ power: 'off' })).class, 'accepted');
    assert.deepEqual(broker.versions, [5, 4]);
    await close(open('fan'));
    broker.stop();
  });

  it('that ends the connection instead of acknowledging gets the message no second time', async () => {
    const broker = await startOldBroker({ acknowledges: false });
    const open = await devicesOn(broker.url);
    const sent = await open('fan').send({ power: 'on' });
    assert.deepEqual([sent.class, sent.acknowledged], ['lost', false]);
    await sleep(1_200);
    await open('fan').read();
    await sleep(300);
    assert.deepEqual(broker.published, ['plain/fan/set on']);
    assert.ok(broker.versions.length >= 3, 'it was connected to again');
    await close(open('fan'));
    broker.stop();
  });

  it('may grant no subscription, and then nothing is read', async () => {
    const broker = await startOldBroker({ grants: 0x80 });
    const open = await devicesOn(broker.url);
    const { sample } = await open('fan').read();
    assert.match(String(sample.trouble), /does not let us read plain\/fan$/);
    await close(open('fan'));
    broker.stop();
  });

  it('can not fill the memory: too long a message ends the connection', async () => {
    const broker = await startOldBroker({ stored: 50_000_000 });
    const open = await devicesOn(broker.url);
    const before = process.memoryUsage().rss;
    const { sample } = await open('fan').read();
    assert.match(String(sample.trouble), /sent a message longer than 1 MB$/);
    assert.ok(process.memoryUsage().rss - before < 40_000_000);
    await close(open('fan'));
    broker.stop();
  });
});

interface OldBroker {
  readonly url: string;
  /** Versions of the protocol in which it was spoken to. */
  readonly versions: readonly number[];
  /** Topic and payload of each message. */
  readonly published: readonly string[];
  stop(): void;
}

/**
 * The least that a broker of version 3.1.1 says: it doesn't know version 5, and acknowledges everything else. `grants`: its
 * answer to a subscription; without `acknowledges` a message ends the connection; `stored`: length of a retained message, of which it goes on sending zeros.
 */
async function startOldBroker({ grants = 1, stored = 0, acknowledges = true } = {}): Promise<OldBroker> {
  const versions: number[] = [];
  const published: string[] = [];
  const answer = (socket: Socket, packet: Buffer): void => {
    const kind = (packet[0] ?? 0) >> 4;
    if (kind === 1) {
      const version = packet[packet.indexOf('MQTT') + 4] ?? 0;
      versions.push(version);
      socket.write(Buffer.from([0x20, 2, 0, version === 4 ? 0 : 1]));
    }
    if (kind === 3) {
      const after = 4 + packet.readUInt16BE(2);
      published.push(`${packet.toString('utf8', 4, after)} ${packet.toString('utf8', after + 2)}`);
      if (acknowledges) socket.write(Buffer.from([0x40, 2, ...packet.subarray(after, after + 2)]));
      else socket.destroy();
    }
    if (kind === 8) {
      socket.write(Buffer.from([0x90, 3, ...packet.subarray(2, 4), grants]));
      if (stored > 0) flood(socket, stored);
    }
  };
  const server = createServer((socket) => {
    socket.on('error', () => undefined);
    socket.on('data', (data) => {
      for (const packet of packetsIn(data)) answer(socket, packet);
    });
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const { port } = server.address() as AddressInfo;
  return { url: `mqtt://127.0.0.1:${port}`, versions, published, stop: () => server.close() };
}

/** The packets in what came, as long as each is shorter than 128 bytes. */
function packetsIn(data: Buffer): Buffer[] {
  const length = 2 + (data[1] ?? 0);
  return data.length <= length ? [data] : [data.subarray(0, length), ...packetsIn(data.subarray(length))];
}

/** Begins a message of 200 MB, and goes on with it for `length` bytes or until the reader has had enough. */
function flood(socket: Socket, length: number): void {
  socket.write(Buffer.from([0x31, 0x80, 0x84, 0xaf, 0x5f]));
  const block = Buffer.alloc(100_000);
  const more = (left: number): void => {
    if (left > 0 && socket.writable) socket.write(block, () => more(left - block.length));
  };
  more(length);
}
