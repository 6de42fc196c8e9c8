/** The one connection of this process to a broker: dialled by the first who needs it, and again by the next one after it broke. */
import type { IClientOptions } from 'mqtt';
import type { Connection } from '../domain/catalogue/definition.ts';
import { type Dialled, dial } from './mqtt-dial.ts';
import { type Endpoint, LARGEST_STATE, type Largest } from './mqtt-endpoint.ts';
import { trustOf } from './tls-files.ts';
import { unlessAborted } from './unless-aborted.ts';

/** However many wait for it, a broker that can't be reached is tried once in so long. */
const DIAL_AGAIN_AFTER_MS = 1_000;
/** A wrong password doesn't mend itself, and brokers lock out those who keep trying. */
const SIGN_IN_AGAIN_AFTER_MS = 60_000;

export interface MqttBroker {
  /** `host:port`. */
  readonly host: string;
  readonly timeoutMs: number;
  /** The connection that is up, or why there is none. Rejects only when `signal` aborts. */
  session(signal?: AbortSignal): Promise<Dialled>;
  /** Says goodbye, and dials no more. */
  close(): Promise<void>;
}

/** Throws, naming the connection, for what can't be used. Nothing is dialled yet. */
export function openBroker(connection: Connection, largest: Largest = LARGEST_STATE): MqttBroker {
  const endpoint = endpointOf(connection, largest);
  let protocolVersion: 5 | 4 = 5;
  let dialling: Promise<Dialled> | null = null;
  let last: { readonly result: Dialled; readonly at: number } | null = null;
  let closed = false;

  async function dialOnce(): Promise<Dialled> {
    const result = await dial(endpoint, protocolVersion);
    if (result.kind === 'up' || !result.tooNew || protocolVersion === 4) return result;
    protocolVersion = 4;
    return await dial(endpoint, protocolVersion);
  }

  async function session(): Promise<Dialled> {
    if (closed) return { kind: 'down', why: 'Readback is stopping', signedOut: false, tooNew: false };
    if (dialling === null) {
      if (last?.result.kind === 'up' && last.result.session.ended() === null) return last.result;
      if (last !== null && Date.now() < last.at + pauseAfter(last.result)) return downOf(last.result);
      dialling = dialOnce().then((result) => {
        last = { result, at: Date.now() };
        dialling = null;
        return result;
      });
    }
    return await dialling;
  }

  return {
    host: endpoint.host,
    timeoutMs: endpoint.timeoutMs,
    session: (signal) => unlessAborted(session(), signal),
    async close() {
      closed = true;
      const result = (await dialling) ?? last?.result;
      if (result?.kind === 'up') await result.session.close();
    },
  };
}

const pauseAfter = (result: Dialled): number =>
  result.kind === 'down' && result.signedOut ? SIGN_IN_AGAIN_AFTER_MS : DIAL_AGAIN_AFTER_MS;

function downOf(result: Dialled): Dialled {
  if (result.kind === 'down') return result;
  return { kind: 'down', why: result.session.ended() ?? '', signedOut: false, tooNew: false };
}

function endpointOf(connection: Connection, largest: Largest): Endpoint {
  const { name, baseUrl, auth, timeoutMs } = connection;
  const url = URL.canParse(baseUrl) ? new URL(baseUrl) : null;
  if (url === null || !['mqtt:', 'mqtts:'].includes(url.protocol))
    throw new Error(`connection "${name}": its url must start with mqtt:// or mqtts://`);
  const secure = url.protocol === 'mqtts:';
  const host = url.hostname.replace(/^\[|\]$/g, '');
  const port = Number(url.port) || (secure ? 8883 : 1883);
  const account = accountOf(name, auth);
  const address: IClientOptions = { protocol: secure ? 'mqtts' : 'mqtt', host, hostname: host, port };
  const trust = secure ? trustIn(connection) : {};
  return {
    host: `${url.hostname}:${port}`,
    options: { ...address, ...trust, ...account },
    timeoutMs,
    largest,
  };
}

function trustIn(connection: Connection): IClientOptions {
  const { insecure, ...files } = trustOf(connection);
  const given = Object.entries(files).filter(([, content]) => content !== undefined);
  return { ...Object.fromEntries(given), rejectUnauthorized: !insecure };
}

function accountOf(name: string, auth: Connection['auth']): IClientOptions {
  if (auth.kind === 'none') return {};
  if (auth.kind === 'basic') return { username: auth.username, password: auth.password };
  throw new Error(`connection "${name}" signs in with "${auth.kind}", which brokers don't know: use basic`);
}
