/**
 * One network connection to an MQTT broker, from the sign-in to its end. It is never dialled again: the library's own
 * reconnecting would publish once more what was under way when the connection broke, and a toggle must not happen twice.
 */
import type { MqttClient } from 'mqtt';
import { describeFailure } from './http-request.ts';
import { BAD_SIGN_IN, type Endpoint } from './mqtt-endpoint.ts';

/** So much may be unacknowledged at once, where the broker names no limit of its own. */
const MOST_UNACKNOWLEDGED = 100;
/** The goodbye of a clean close is worth so much waiting. */
const CLOSE_WITHIN_MS = 1_000;

const NO_MATCHING_SUBSCRIBERS = 16;

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

interface Subscription {
  answeredAt: number | null;
  refusal: string | null;
  latest: Message | null;
}

/** What is known of one connection. */
interface Link {
  readonly client: MqttClient;
  readonly endpoint: Endpoint;
  readonly subscriptions: Map<string, Subscription>;
  /** By message id: who waits for the broker's reason code. */
  readonly unacknowledged: Map<number, (reasonCode: number) => void>;
  /** How many may be unacknowledged at once. */
  readonly window: number;
  readonly waiting: Set<() => void>;
  received: number;
  end: string | null;
}

/** The session of a client that has just signed in. */
export function sessionOf(
  client: MqttClient,
  endpoint: Endpoint,
  receiveMaximum: number | undefined,
): MqttSession {
  const link: Link = {
    client,
    endpoint,
    subscriptions: new Map(),
    unacknowledged: new Map(),
    window: Math.min(MOST_UNACKNOWLEDGED, receiveMaximum ?? MOST_UNACKNOWLEDGED),
    waiting: new Set(),
    received: 0,
    end: null,
  };
  watchForEnd(link);
  watchForMessages(link);
  return {
    ended: () => link.end,
    latest: (topic) => link.subscriptions.get(topic)?.latest ?? null,
    subscribedAt: (topic) => link.subscriptions.get(topic)?.answeredAt ?? Date.now(),
    received: () => link.received,
    until: (holds, deadline, signal) => until(link, holds, deadline, signal),
    subscribe: (topics, signal) => subscribe(link, topics, signal),
    publish: (topic, payload) => publish(link, topic, payload),
    close: () => close(link),
  };
}

function notify({ waiting }: Link): void {
  for (const wake of [...waiting]) wake();
}

function finish(link: Link, why: string): string {
  link.end ??= why;
  link.client.end(true);
  notify(link);
  return link.end;
}

function watchForEnd(link: Link): void {
  const { client, endpoint } = link;
  const { host, largest } = endpoint;
  client.on('error', (error) => finish(link, wordsFor(error, host)));
  client.on('disconnect', ({ reasonCode }) =>
    finish(link, `the broker at ${host} ended the connection (reason code ${reasonCode ?? 0})`),
  );
  client.on('close', () => finish(link, `the connection to ${host} broke off`));
  let bytesSincePacket = 0;
  client.on('packetreceive', () => {
    bytesSincePacket = 0;
  });
  client.stream.on('data', (chunk: Buffer) => {
    bytesSincePacket += chunk.length;
    if (bytesSincePacket > largest.packetBytes)
      finish(link, `the broker at ${host} sent a message longer than ${largest.packetBytes / 1_000_000} MB`);
  });
}

function watchForMessages(link: Link): void {
  link.client.on('packetreceive', (packet) => {
    if (packet.cmd !== 'puback' || packet.messageId === undefined) return;
    link.unacknowledged.get(packet.messageId)?.(packet.reasonCode ?? 0);
    notify(link);
  });
  link.client.on('message', (topic, payload, { retain }) => {
    link.received += 1;
    const subscription = link.subscriptions.get(topic);
    if (subscription === undefined) return;
    subscription.latest = {
      payload: payload.length > link.endpoint.largest.payloadBytes ? null : payload,
      retained: retain,
      at: Date.now(),
      order: link.received,
    };
    notify(link);
  });
}

async function until(
  link: Link,
  holds: () => boolean,
  deadline: number,
  signal?: AbortSignal,
): Promise<boolean> {
  for (;;) {
    signal?.throwIfAborted();
    if (holds()) return true;
    const leftMs = deadline - Date.now();
    if (link.end !== null || leftMs <= 0) return false;
    await somethingNew(link, leftMs, signal);
  }
}

function somethingNew({ waiting }: Link, withinMs: number, signal?: AbortSignal): Promise<void> {
  return new Promise((resolve) => {
    const wake = (): void => {
      clearTimeout(timer);
      waiting.delete(wake);
      signal?.removeEventListener('abort', wake);
      resolve();
    };
    const timer = setTimeout(wake, withinMs);
    waiting.add(wake);
    signal?.addEventListener('abort', wake, { once: true });
  });
}

async function subscribe(
  link: Link,
  topics: readonly string[],
  signal?: AbortSignal,
): Promise<string | null> {
  const { host, timeoutMs } = link.endpoint;
  if (link.end !== null) return link.end;
  const asked = topics.map((topic) => link.subscriptions.get(topic) ?? subscribeTo(link, topic));
  const answered = (): boolean => asked.every(({ answeredAt }) => answeredAt !== null);
  if (!(await until(link, answered, Date.now() + timeoutMs, signal)))
    return finish(link, `the broker at ${host} did not answer within ${timeoutMs / 1000} s`);
  return link.end ?? asked.find(({ refusal }) => refusal !== null)?.refusal ?? null;
}

function subscribeTo(link: Link, topic: string): Subscription {
  const asked: Subscription = { answeredAt: null, refusal: null, latest: null };
  link.subscriptions.set(topic, asked);
  link.client.subscribe(topic, { qos: 1 }, (error) => {
    asked.answeredAt = Date.now();
    if (error !== null) {
      asked.refusal = `the broker at ${link.endpoint.host} does not let us read ${topic}`;
      // The next read asks again: an account's rights may have been mended.
      link.subscriptions.delete(topic);
    }
    notify(link);
  });
  return asked;
}

async function publish(link: Link, topic: string, payload: string): Promise<Published> {
  const { client, endpoint, unacknowledged } = link;
  const { host, timeoutMs } = endpoint;
  const hasRoom = (): boolean => unacknowledged.size < link.window;
  const ready = await until(link, hasRoom, Date.now() + timeoutMs);
  if (!ready || link.end !== null || !client.connected)
    return { kind: 'unreached', why: link.end ?? `${host} takes no messages now; it was not sent` };
  const at = Date.now();
  let reasonCode: number | null = null;
  client.publish(topic, payload, { qos: 1, retain: false });
  const id = client.getLastMessageId();
  unacknowledged.set(id, (code) => {
    reasonCode = code;
    unacknowledged.delete(id);
  });
  if (await until(link, () => reasonCode !== null, at + timeoutMs))
    return outcomeOf(reasonCode, at, topic, host);
  // Ended, and so never published again; an answer that comes later could belong to another message.
  return {
    kind: 'lost',
    why: finish(link, `${host} did not acknowledge the message within ${timeoutMs / 1000} s`),
  };
}

async function close(link: Link): Promise<void> {
  link.end ??= 'closed by Readback';
  notify(link);
  await new Promise<void>((resolve) => {
    const timer = setTimeout(() => link.client.end(true, () => resolve()), CLOSE_WITHIN_MS);
    link.client.end(false, {}, () => {
      clearTimeout(timer);
      resolve();
    });
  });
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
