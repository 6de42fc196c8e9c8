/**
 * Devices behind an MQTT broker. What the broker acknowledges it has taken, and nothing more; what a device says, it says on
 * its own topics. A message that the broker had in store is no readback: nobody knows whether it is older than the send.
 */
import { setTimeout as sleep } from 'node:timers/promises';
import type { Purpose } from '../domain/budget.ts';
import type { Connection, DeviceDefinition } from '../domain/catalogue/definition.ts';
import type { DeviceReply, DeviceRequest, ReadContext, SendResult } from '../domain/exchange.ts';
import { interpretRead } from '../domain/interpretation.ts';
import { renderSend, renderTemplate } from '../domain/rendering.ts';
import { formatDuration } from '../domain/text.ts';
import type { DeviceAdapter, ReadResult } from './adapter.ts';
import type { Lender } from './borrowing.ts';
import { failedRead, notSent, purposeOf, unrepliedResult } from './http.ts';
import { type MqttBroker, openBroker } from './mqtt-broker.ts';
import { decodeMessage, saysOffline } from './mqtt-message.ts';
import type { MqttSession, Published } from './mqtt-session.ts';
import { newsTopics, type Topics, topicsOf } from './mqtt-topics.ts';
import { createPace, type Pace } from './pacing.ts';
import { createHiding, type Hiding } from './sign-in/hiding.ts';

/** Brokers hand out what they have in store right after granting a subscription. */
const RETAINED_WITHIN_MS = 500;

/** `since`: how many messages had come before the question was put. */
type Asked =
  | { readonly ok: true; readonly since: number }
  | { readonly ok: false; readonly why: string; readonly retryAfterMs: number | null };

interface Asking {
  readonly device: DeviceDefinition;
  readonly purpose: Purpose;
  readonly signal: AbortSignal;
}

/** The one way to a broker, and the pace at which it is used. */
interface Line {
  readonly broker: MqttBroker;
  readonly pace: Pace;
  /** Devices repeat what they were told, a code included. */
  readonly hiding: Hiding;
}

/** Throws, naming the connection, for what `openBroker` can't use. Connects when it is first needed. */
export function mqttAdapter(connection: Connection, lender?: Lender): DeviceAdapter {
  const line: Line = {
    broker: openBroker(connection),
    pace: createPace(connection, lender),
    hiding: createHiding([], Object.values(connection.secrets)),
  };
  return {
    read: (device, context, signal) => read(line, device, context, signal),

    async refresh(device, purpose, signal) {
      const refresh = device.read?.refresh ?? null;
      if (refresh === null) return;
      const rendered = await renderTemplate(device, refresh.request, {});
      if (!rendered.ok) return;
      const dialled = await line.broker.session(signal);
      if (dialled.kind === 'down') return;
      const asked = await ask(line, dialled.session, rendered.request, { device, purpose, signal });
      if (asked.ok) await sleep(refresh.waitMs, undefined, { signal });
    },

    async send(device, step, desired, current, { signal }) {
      const fields = Object.keys(desired).filter((name) => step.for.includes(name));
      const rendered = await renderSend(device, step, fields, desired, current, connection.secrets);
      return rendered.ok
        ? await publish(line, device, rendered.request, signal)
        : notSent('unreached', `not sent: ${rendered.why}`);
    },

    async wake(device, signal) {
      if (device.wake === null) return notSent('unreached', 'nothing says how it is woken');
      const rendered = await renderTemplate(device, device.wake.request, {});
      return rendered.ok
        ? await publish(line, device, rendered.request, signal)
        : notSent('unreached', `not sent: ${rendered.why}`);
    },

    objection: () => null,
    async close() {
      await Promise.all([line.broker.close(), line.pace.close()]);
    },
  };
}

async function publish(
  { broker, pace }: Line,
  device: DeviceDefinition,
  request: DeviceRequest,
  signal: AbortSignal,
): Promise<SendResult> {
  const place = await pace.take('send', device.id);
  if (place.kind === 'held') return unrepliedResult(place);
  try {
    return await published(broker, device, request, signal);
  } finally {
    place.end();
  }
}

async function published(
  broker: MqttBroker,
  device: DeviceDefinition,
  request: DeviceRequest,
  signal: AbortSignal,
): Promise<SendResult> {
  const dialled = await broker.session();
  if (dialled.kind === 'down') return notSent(dialled.signedOut ? 'signedOut' : 'unreached', dialled.why);
  // Listening before it is sent: the device may answer at once, and only once.
  const rendered = await topicsOf(device);
  if (rendered.ok) await dialled.session.subscribe(allOf(rendered.topics));
  if (signal.aborted) return notSent('unreached', 'stopped before it was sent');
  return resultOf(request.path, await dialled.session.publish(request.path, request.body ?? ''));
}

async function read(
  line: Line,
  device: DeviceDefinition,
  context: ReadContext,
  signal: AbortSignal,
): Promise<ReadResult> {
  signal.throwIfAborted();
  const rendered = await topicsOf(device);
  if (!rendered.ok) return failedRead(device, `it can't be read: ${rendered.why}`);
  const { state, availability } = rendered.topics;
  const question = device.read?.ask == null ? null : await renderTemplate(device, device.read.ask, {});
  if (question?.ok === false) return failedRead(device, `it can't be asked: ${question.why}`);

  const dialled = await line.broker.session(signal);
  if (dialled.kind === 'down') return failedRead(device, dialled.why);
  const { session } = dialled;
  const deaf = await listen(session, allOf(rendered.topics), signal);
  if (deaf !== null) return failedRead(device, deaf);
  const offline = availability.find((topic) => saysOffline(session.latest(topic)));
  if (offline !== undefined)
    return failedRead(device, `the device is not available (${offline} says offline)`);

  const news = newsTopics(device, state, context);
  const asked =
    question === null
      ? null
      : await answered(line, session, question.request, news, {
          device,
          purpose: purposeOf(context),
          signal,
        });
  if (asked?.ok === false) return failedRead(device, asked.why, {}, asked.retryAfterMs);
  return await interpretMessages(line, session, device, state, news, context);
}

/** Publishes a message that only makes the device report. */
async function ask(
  { pace }: Line,
  session: MqttSession,
  request: DeviceRequest,
  { device, purpose, signal }: Asking,
): Promise<Asked> {
  const place = await pace.take(purpose, device.id, signal);
  if (place.kind === 'held') return { ok: false, why: place.why, retryAfterMs: place.waitMs };
  const since = session.received();
  const asked = await session.publish(request.path, request.body ?? '').finally(place.end);
  if (asked.kind === 'acknowledged') return { ok: true, since };
  const why = asked.kind === 'unheard' ? unheard(request.path) : asked.why;
  return { ok: false, why, retryAfterMs: null };
}

/** Asks the device and waits until it says something on one of `topics`. */
async function answered(
  line: Line,
  session: MqttSession,
  question: DeviceRequest,
  topics: readonly string[],
  asking: Asking,
): Promise<Asked> {
  const asked = await ask(line, session, question, asking);
  if (!asked.ok) return asked;
  const { timeoutMs } = line.broker;
  const hasNews = (): boolean => topics.some((topic) => (session.latest(topic)?.order ?? 0) > asked.since);
  if (await session.until(hasNews, Date.now() + timeoutMs, asking.signal)) return asked;
  const why = session.ended() ?? `no answer to ${question.path} within ${formatDuration(timeoutMs)}`;
  return { ok: false, why, retryAfterMs: null };
}

const allOf = ({ state, availability }: Topics): readonly string[] => [
  ...Object.values(state),
  ...availability,
];

/** Nothing reached anybody, and that is certain: a message that isn't retained is gone when nobody takes it. */
const unheard = (topic: string): string =>
  `nobody listens on ${topic}: is what connects the device to the broker running?`;

function resultOf(topic: string, published: Published): SendResult {
  switch (published.kind) {
    case 'acknowledged':
      return {
        ...notSent('accepted', 'acknowledged by the broker (PUBACK)'),
        acknowledged: true,
        at: published.at,
      };
    case 'unheard':
      return notSent('unreached', unheard(topic));
    case 'refused':
    case 'unreached':
    case 'lost':
      return notSent(published.kind, published.why);
  }
}

/** Subscribes, and leaves the broker time to hand out what it has in store. Why that didn't work, or null. */
async function listen(
  session: MqttSession,
  topics: readonly string[],
  signal: AbortSignal,
): Promise<string | null> {
  const refusal = await session.subscribe(topics, signal);
  if (refusal !== null) return refusal;
  const storedBy = Math.max(...topics.map((topic) => session.subscribedAt(topic))) + RETAINED_WITHIN_MS;
  await session.until(() => topics.every((topic) => session.latest(topic) !== null), storedBy, signal);
  return session.ended();
}

/** One read, from the last message on each of the device's topics. */
async function interpretMessages(
  { hiding }: Line,
  session: MqttSession,
  device: DeviceDefinition,
  state: Topics['state'],
  news: readonly string[],
  context: ReadContext,
): Promise<ReadResult> {
  const replies: Record<string, DeviceReply> = {};
  for (const [name, topic] of Object.entries(state)) {
    const message = session.latest(topic);
    if (message === null)
      return failedRead(
        device,
        `no message on ${topic} yet: the device has not reported, or the account may not read it`,
      );
    if (message.payload === null)
      return failedRead(device, `the message on ${topic} is too long to be a state`);
    replies[name] = decodeMessage(topic, message.payload, message.retained, hiding);
  }
  const stale = context.sentAt === undefined ? null : staleness(session, news, context.sentAt);
  if (stale !== null) return failedRead(device, stale, replies);
  const { sample, raw } = await interpretRead(device, replies, context, Date.now());
  return { sample, device, raw, replies };
}

/**
 * After a send each topic that matters has to have been heard live, and one of them since: a device need not repeat on one
 * topic what has only changed on another.
 */
function staleness(session: MqttSession, news: readonly string[], sentAt: number): string | null {
  const stored = news.find((topic) => session.latest(topic)?.retained !== false);
  if (stored !== undefined)
    return `only a retained value is known of ${stored}, and it may be older than the send`;
  const isHeard = news.some((topic) => (session.latest(topic)?.at ?? 0) >= sentAt);
  return isHeard ? null : `the device has said nothing on ${news.join(', ')} since the send`;
}
