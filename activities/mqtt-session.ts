/**
 * One network connection to an MQTT broker, from the sign-in to its end. It is never dialled again: the library's own
 * reconnecting would publish once more what was under way when the connection broke, and a toggle must not happen twice.
 */
import { randomBytes } from 'node:crypto';
import { connect, type IClientOptions, type IConnackPacket, type MqttClient } from 'mqtt';
import { describeFailure } from './http-request.ts';

/** Sent to the broker, which then withholds what is longer; where it is too old for that, the connection ends instead. */
const MAX_PACKET_BYTES = 1_000_000;
/** A device's state is a few hundred bytes. What is longer is named as such, and not kept. */
const MAX_PAYLOAD_BYTES = 100_000;
/** A broker that is gone without a word is noticed after one and a half of these, seconds. */
const KEEP_ALIVE_SECONDS = 20;
/** So much may be unacknowledged at once, where the broker names no limit of its own. */
const MOST_UNACKNOWLEDGED = 100;
/** The goodbye of a clean close is worth so much waiting. */
const CLOSE_WITHIN_MS = 1_000;

const BAD_PROTOCOL: readonly number[] = [1, 132];
const BAD_SIGN_IN: readonly number[] = [4, 5, 134, 135];
const NO_MATCHING_SUBSCRIBERS = 16;

export interface Endpoint {
  /** `host:port`, as people are shown it. */
  readonly host: string;
  /** Address, trust and account, as the library takes them. */
  readonly options: IClientOptions;
  /** For the sign-in, and for each answer of the broker. */
  readonly timeoutMs: number;
}

export interface Message {
  /** null: it was too long to be kept. */
  readonly payload: Buffer | null;
  /** The broker had it in store when we subscribed: nobody knows how old it is. */
  readonly retained: boolean;
  readonly at: number;
  /** Its place among all messages of this connection. */
  readonly order: number;
}

/** What became of one message that we published, as far as the broker tells. */
export type Published =
  /** `at`: when it was written, before anybody could have acted on it. */
  | { readonly kind: 'acknowledged'; readonly at: number }
  /** The broker took it and had nobody to give it to. */
  | { readonly kind: 'unheard' }
  | { readonly kind: 'refused' | 'unreached' | 'lost'; readonly why: string };

export interface MqttSession {
  /** How it ended, in words; null: it is up. */
  ended(): string | null;
  /** Once a topic. null when all are granted, else why one is not. */
  subscribe(topics: readonly string[], signal?: AbortSignal): Promise<string | null>;
  /** The last message on a subscribed topic. */
  latest(topic: string): Message | null;
  /** Since when a topic is subscribed, epoch ms. */
  subscribedAt(topic: string): number;
  /** How many messages have come; the next one has a higher `order`. */
  received(): number;
  /** Waits until `holds`; false at the deadline and when the connection ends. Rejects when `signal` aborts. */
  until(holds: () => boolean, deadline: number, signal?: AbortSignal): Promise<boolean>;
  /** One message, QoS 1, not retained, published once. Never rejects. */
  publish(topic: string, payload: string): Promise<Published>;
  close(): Promise<void>;
}

export type Dialled =
  | { readonly kind: 'up'; readonly session: MqttSession }
  | {
      readonly kind: 'down';
      readonly why: string;
      readonly signedOut: boolean;
      /** The broker speaks an older version of the protocol. */
      readonly tooNew: boolean;
    };

interface Subscription {
  answeredAt: number | null;
  refusal: string | null;
  latest: Message | null;
}

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
    ...(protocolVersion === 5 ? { properties: { maximumPacketSize: MAX_PACKET_BYTES } } : {}),
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

function sessionOf(client: MqttClient, endpoint: Endpoint, receiveMaximum: number | undefined): MqttSession {
  const { host, timeoutMs } = endpoint;
  const subscriptions = new Map<string, Subscription>();
  const unacknowledged = new Map<number, (reasonCode: number) => void>();
  const window = Math.min(MOST_UNACKNOWLEDGED, receiveMaximum ?? MOST_UNACKNOWLEDGED);
  const waiting = new Set<() => void>();
  let received = 0;
  let bytesSincePacket = 0;
  let end: string | null = null;

  const notify = (): void => {
    for (const wake of [...waiting]) wake();
  };
  const finish = (why: string): void => {
    end ??= why;
    client.end(true);
    notify();
  };

  client.on('error', (error) => finish(wordsFor(error, host)));
  client.on('disconnect', ({ reasonCode }) =>
    finish(`the broker at ${host} ended the connection (reason code ${reasonCode ?? 0})`),
  );
  client.on('close', () => finish(`the connection to ${host} broke off`));
  client.stream.on('data', (chunk: Buffer) => {
    bytesSincePacket += chunk.length;
    if (bytesSincePacket > MAX_PACKET_BYTES)
      finish(`the broker at ${host} sent a message longer than ${MAX_PACKET_BYTES / 1_000_000} MB`);
  });
  client.on('packetreceive', (packet) => {
    bytesSincePacket = 0;
    if (packet.cmd !== 'puback' || packet.messageId === undefined) return;
    unacknowledged.get(packet.messageId)?.(packet.reasonCode ?? 0);
    notify();
  });
  client.on('message', (topic, payload, { retain }) => {
    received += 1;
    const subscription = subscriptions.get(topic);
    if (subscription === undefined) return;
    subscription.latest = {
      payload: payload.length > MAX_PAYLOAD_BYTES ? null : payload,
      retained: retain,
      at: Date.now(),
      order: received,
    };
    notify();
  });

  function ask(topic: string): Subscription {
    const known = subscriptions.get(topic);
    if (known !== undefined) return known;
    const asked: Subscription = { answeredAt: null, refusal: null, latest: null };
    subscriptions.set(topic, asked);
    client.subscribe(topic, { qos: 1 }, (error) => {
      asked.answeredAt = Date.now();
      asked.refusal = error === null ? null : `the broker at ${host} does not let us read ${topic}`;
      // The next read asks again: an account's rights may have been mended.
      if (error !== null) subscriptions.delete(topic);
      notify();
    });
    return asked;
  }

  async function until(holds: () => boolean, deadline: number, signal?: AbortSignal): Promise<boolean> {
    for (;;) {
      signal?.throwIfAborted();
      if (holds()) return true;
      const leftMs = deadline - Date.now();
      if (end !== null || leftMs <= 0) return false;
      await new Promise<void>((resolve) => {
        const wake = (): void => {
          clearTimeout(timer);
          waiting.delete(wake);
          signal?.removeEventListener('abort', wake);
          resolve();
        };
        const timer = setTimeout(wake, leftMs);
        waiting.add(wake);
        signal?.addEventListener('abort', wake, { once: true });
      });
    }
  }

  return {
    ended: () => end,
    latest: (topic) => subscriptions.get(topic)?.latest ?? null,
    subscribedAt: (topic) => subscriptions.get(topic)?.answeredAt ?? Date.now(),
    received: () => received,
    until,

    async subscribe(topics, signal) {
      if (end !== null) return end;
      const asked = topics.map(ask);
      const answered = (): boolean => asked.every(({ answeredAt }) => answeredAt !== null);
      if (!(await until(answered, Date.now() + timeoutMs, signal))) {
        finish(`the broker at ${host} did not answer within ${timeoutMs / 1000} s`);
        return end;
      }
      return end ?? asked.find(({ refusal }) => refusal !== null)?.refusal ?? null;
    },

    async publish(topic, payload) {
      const hasRoom = (): boolean => unacknowledged.size < window;
      const ready = await until(hasRoom, Date.now() + timeoutMs);
      if (!ready || end !== null || !client.connected)
        return { kind: 'unreached', why: end ?? `${host} takes no messages now; it was not sent` };
      const at = Date.now();
      let reasonCode: number | null = null;
      client.publish(topic, payload, { qos: 1, retain: false });
      const id = client.getLastMessageId();
      unacknowledged.set(id, (code) => {
        reasonCode = code;
        unacknowledged.delete(id);
      });
      if (await until(() => reasonCode !== null, at + timeoutMs))
        return outcomeOf(reasonCode, at, topic, host);
      // Ended, and so never sent again: an answer that comes later could not be told from one to another message.
      const why = end ?? `${host} did not acknowledge the message within ${timeoutMs / 1000} s`;
      finish(why);
      return { kind: 'lost', why };
    },

    async close() {
      end ??= 'closed by Readback';
      notify();
      await new Promise<void>((resolve) => {
        const timer = setTimeout(() => client.end(true, () => resolve()), CLOSE_WITHIN_MS);
        client.end(false, {}, () => {
          clearTimeout(timer);
          resolve();
        });
      });
    },
  };
}

function outcomeOf(reasonCode: number | null, at: number, topic: string, host: string): Published {
  if (reasonCode === NO_MATCHING_SUBSCRIBERS) return { kind: 'unheard' };
  if (reasonCode === null || reasonCode < 0x80) return { kind: 'acknowledged', at };
  const why = BAD_SIGN_IN.includes(reasonCode)
    ? `the broker at ${host} does not let us publish to ${topic}`
    : `the broker at ${host} refused the message to ${topic} (reason code ${reasonCode})`;
  return { kind: 'refused', why };
}

/** Of errors without a code only their kind is told: their text may quote what was sent. */
function wordsFor(error: unknown, host: string): string {
  const code = error instanceof Error && 'code' in error ? error.code : undefined;
  return typeof code === 'string' ? describeFailure(error, host) : `the connection to ${host} broke off`;
}
