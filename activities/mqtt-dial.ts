/** Makes a network connection to a broker and signs in, once. */
import { randomBytes } from 'node:crypto';
import { connect, type IConnackPacket } from 'mqtt';
import { describeFailure } from './http-request.ts';
import { BAD_SIGN_IN, type Endpoint } from './mqtt-endpoint.ts';
import { type MqttSession, sessionOf } from './mqtt-session.ts';

/** A broker that is gone without a word is noticed after one and a half of these, seconds. */
const KEEP_ALIVE_SECONDS = 20;
const BAD_PROTOCOL: readonly number[] = [1, 132];

export type Dialled =
  | { readonly kind: 'up'; readonly session: MqttSession }
  | {
      readonly kind: 'down';
      readonly why: string;
      readonly signedOut: boolean;
      /** The broker speaks an older version of the protocol. */
      readonly tooNew: boolean;
    };

/** Connects and signs in, once. Never rejects. */
export function dial(endpoint: Endpoint, protocolVersion: 4 | 5): Promise<Dialled> {
  const client = connect({
    ...endpoint.options,
    protocolVersion,
    clientId: `readback-${randomBytes(6).toString('hex')}`,
    clean: true,
    reconnectPeriod: 0,
    resubscribe: false,
    keepalive: KEEP_ALIVE_SECONDS,
    connectTimeout: endpoint.timeoutMs,
    ...(protocolVersion === 5 ? { properties: { maximumPacketSize: endpoint.largest.packetBytes } } : {}),
  });
  return new Promise((resolve) => {
    const fail = (error?: unknown): void => {
      release();
      client.end(true);
      resolve(failedDial(endpoint, error));
    };
    const closed = (): void => fail();
    const signedIn = ({ properties }: IConnackPacket): void => {
      release();
      resolve({ kind: 'up', session: sessionOf(client, endpoint, properties?.receiveMaximum) });
    };
    // One by one: the library listens to these events itself.
    const release = (): void => void client.off('error', fail).off('close', closed).off('connect', signedIn);
    client.on('error', fail).on('close', closed).on('connect', signedIn);
  });
}

function failedDial({ host, timeoutMs }: Endpoint, error: unknown): Dialled {
  const code = error instanceof Error && 'code' in error ? error.code : undefined;
  const down = (why: string, more: { signedOut?: boolean; tooNew?: boolean } = {}): Dialled => ({
    kind: 'down',
    why,
    signedOut: false,
    tooNew: false,
    ...more,
  });
  if (typeof code === 'number' && BAD_PROTOCOL.includes(code))
    return down(`the broker at ${host} speaks neither MQTT 5 nor 3.1.1`, { tooNew: true });
  if (typeof code === 'number' && BAD_SIGN_IN.includes(code))
    return down(`the broker at ${host} does not accept the user name and password`, { signedOut: true });
  if (typeof code === 'number')
    return down(`the broker at ${host} refuses the connection (reason code ${code})`);
  if (error === undefined) return down(`${host} closed the connection before we were signed in`);
  if (typeof code === 'string') return down(describeFailure(error, host));
  return down(`no answer from a broker at ${host} within ${timeoutMs / 1000} s`);
}
