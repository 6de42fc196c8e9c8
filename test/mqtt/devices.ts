/** The devices of these tests, opened on a broker. */
import type { ReadContext } from '../../domain/exchange.ts';
import type { Desired } from '../../domain/values.ts';
import { type Opened, openAll } from '../activities/opened.ts';
import { PASSWORDS } from './mosquitto.ts';

export type Account = { readonly username: string; readonly password: string };
export const READBACK: Account = { username: 'readback', password: PASSWORDS.readback };

/** The devices of these tests on a broker at `url`; `more` goes into the connection. */
export async function devicesOn(url: string, more = '', account: Account | null = READBACK) {
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
export function readBack({ adapter, device }: Opened, desired: Desired, sentAt: number) {
  const context: ReadContext = { desired, before: null, kept: {}, baselineDeviceAt: null, sentAt };
  return adapter.read(device, context, never);
}

export const close = async ({ adapter }: Opened): Promise<void> => await adapter.close?.();
