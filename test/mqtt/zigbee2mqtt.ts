/** Plays zigbee2mqtt on a broker: its topics, its words and its last will; and misbehaves when told to. */
import { setTimeout as sleep } from 'node:timers/promises';
import { connectAsync } from 'mqtt';
import type { Json } from '../../domain/values.ts';
import { type Mosquitto, PASSWORDS } from './mosquitto.ts';

export interface PlayedDevice {
  state: Record<string, Json>;
  /** Publishes its state retained, as the device option `retain` of zigbee2mqtt does. */
  retain: boolean;
  /** What it does with a command: carries it out, or nothing at all. */
  obeys: boolean;
  /** Whether it answers when it is asked for its state. */
  answers: boolean;
  /** Whether it reports by itself what a command has changed. */
  reports: boolean;
  delayMs: number;
}

export interface Received {
  readonly topic: string;
  readonly payload: string;
  readonly retained: boolean;
}

export interface Zigbee2mqtt {
  device(name: string, state: Record<string, Json>, behaviour?: Partial<PlayedDevice>): PlayedDevice;
  /** Commands and questions for a device, in the order in which they came. */
  received(name: string, what: 'set' | 'get'): readonly Received[];
  publish(topic: string, payload: Json, options?: { readonly retain?: boolean }): Promise<void>;
  /** Leaves as it does when it is stopped: its last words are that it is offline. */
  stop(): Promise<void>;
}

export async function playZigbee2mqtt(broker: Mosquitto): Promise<Zigbee2mqtt> {
  const devices = new Map<string, PlayedDevice>();
  const received: Received[] = [];
  const client = await connectAsync(broker.url, {
    username: 'zigbee2mqtt',
    password: PASSWORDS.zigbee2mqtt,
    reconnectPeriod: 100,
    will: { topic: 'zigbee2mqtt/bridge/state', payload: Buffer.from('offline'), qos: 1, retain: true },
  });

  const publish: Zigbee2mqtt['publish'] = async (topic, payload, { retain = false } = {}) => {
    const text = typeof payload === 'string' ? payload : JSON.stringify(payload);
    await client.publishAsync(topic, text, { qos: 1, retain });
  };
  const report = (name: string, { state, retain }: PlayedDevice): Promise<void> =>
    publish(`zigbee2mqtt/${name}`, state, { retain });

  async function act(topic: string, payload: string): Promise<void> {
    const [, name = '', what] = /^zigbee2mqtt\/(.+)\/(set|get)$/.exec(topic) ?? [];
    const device = devices.get(name);
    if (device === undefined) return;
    if (what === 'get') {
      if (device.answers) await report(name, device);
      return;
    }
    if (!device.obeys) return;
    await sleep(device.delayMs);
    const change = JSON.parse(payload) as Record<string, Json>;
    if (change['state'] === 'TOGGLE') change['state'] = device.state['state'] === 'ON' ? 'OFF' : 'ON';
    Object.assign(device.state, change);
    if (device.reports) await report(name, device);
  }

  client.on('message', (topic, payload, { retain }) => {
    received.push({ topic, payload: payload.toString(), retained: retain });
    act(topic, payload.toString()).catch(() => undefined);
  });
  // Names may hold a slash.
  const ours = ['+', '+/+'].flatMap((name) => [`zigbee2mqtt/${name}/set`, `zigbee2mqtt/${name}/get`]);
  await client.subscribeAsync([...ours, 'plain/+/set'], { qos: 1 });
  await publish('zigbee2mqtt/bridge/state', { state: 'online' }, { retain: true });
  // The last will has told of every break, also of one that was the broker's own.
  client.on('connect', () => void publish('zigbee2mqtt/bridge/state', { state: 'online' }, { retain: true }));

  return {
    device(name, state, behaviour = {}) {
      const device: PlayedDevice = {
        state,
        retain: false,
        obeys: true,
        answers: true,
        reports: true,
        delayMs: 0,
        ...behaviour,
      };
      devices.set(name, device);
      return device;
    },
    received: (name, what) => received.filter(({ topic }) => topic.endsWith(`/${name}/${what}`)),
    publish,
    async stop() {
      await Promise.race([
        publish('zigbee2mqtt/bridge/state', { state: 'offline' }, { retain: true }),
        sleep(500),
      ]);
      await client.endAsync(true);
    },
  };
}
