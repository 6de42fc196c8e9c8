/** Asks zigbee2mqtt for all that it has: it keeps a list of its devices on the broker. */
import type { Connection } from '../domain/catalogue/definition.ts';
import type { Json } from '../domain/values.ts';
import { openBroker } from './mqtt-broker.ts';

/** Some kilobytes a device, of which there may be two hundred. */
const LARGEST_LIST = { packetBytes: 50_000_000, payloadBytes: 50_000_000 };

/** `bridge/devices` as it is. Throws, in words for people, where it can't be had. */
export async function zigbee2mqttInventory(connection: Connection, base: string): Promise<Json> {
  const topic = `${base}/bridge/devices`;
  const broker = openBroker(connection, LARGEST_LIST);
  try {
    const dialled = await broker.session();
    if (dialled.kind === 'down') throw new Error(dialled.why);
    const { session } = dialled;
    const refusal = await session.subscribe([topic]);
    if (refusal !== null) throw new Error(refusal);
    await session.until(() => session.latest(topic) !== null, Date.now() + broker.timeoutMs);
    const payload = session.latest(topic)?.payload;
    if (payload == null)
      throw new Error(
        session.ended() ??
          `nothing on ${topic}: is zigbee2mqtt running, is its base topic "${base}", and may this account read it?`,
      );
    return parsed(payload, topic);
  } finally {
    await broker.close();
  }
}

function parsed(payload: Buffer, topic: string): Json {
  try {
    return JSON.parse(payload.toString()) as Json;
  } catch {
    throw new Error(`what is on ${topic} is no JSON: does zigbee2mqtt publish there?`);
  }
}
