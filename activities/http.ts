/** Devices with an HTTP API of their own: renders what the catalogue says, exchanges it once, and says how that ended. */
import { setTimeout as sleep } from 'node:timers/promises';
import type { Purpose } from '../domain/budget.ts';
import type { Connection, DeviceDefinition, SendStep } from '../domain/catalogue/definition.ts';
import type { DeviceReply, DeviceRequest, ReadContext, SendClass, SendResult } from '../domain/exchange.ts';
import { outcomeOf } from '../domain/expression-scope.ts';
import { evidenceOf, interpretRead, troubledSample } from '../domain/interpretation.ts';
import { renderRead, renderSend, renderTemplate } from '../domain/rendering.ts';
import type { Value } from '../domain/values.ts';
import type { DeviceAdapter, ReadResult } from './adapter.ts';
import {
  type Exchanged,
  type ExchangeOptions,
  type HttpConnection,
  openHttpConnection,
} from './http-connection.ts';
import { shareReads } from './shared-reads.ts';

/** Throws, naming the connection, for what `openHttpConnection` can't use. */
export function httpAdapter(
  connection: Connection,
  http: HttpConnection = openHttpConnection(connection),
): DeviceAdapter {
  const shared = shareReads();

  return {
    async read(device, context, signal) {
      signal.throwIfAborted();
      const rendered = await renderRead(device, context.kept);
      if (!rendered.ok) return failedRead(device, `it can't be read: ${rendered.why}`);
      const shareMs = device.read?.shareMs ?? 0;
      const exchanged = await Promise.all(
        Object.entries(rendered.requests).map(async ([name, request]) => {
          const get = () => http.exchange(request, { ...of(device), purpose: purposeOf(context), signal });
          return [
            name,
            await (shareMs === 0 ? get() : shared.get(JSON.stringify(request), shareMs, get)),
          ] as const;
        }),
      );
      const trouble = exchanged
        .map(([name, one]) => troubleOf(device, name, one))
        .filter((why) => why !== null);
      const pauses = exchanged.map(([, one]) => pauseOf(one)).filter((ms) => ms !== null);
      const retryAfterMs = pauses.length === 0 ? null : Math.max(...pauses);
      const replies = repliesIn(exchanged);
      if (trouble.length > 0) return failedRead(device, trouble.join('; '), replies, retryAfterMs);
      const { sample, raw } = await interpretRead(device, replies, context, oldest(exchanged));
      return { sample: { ...sample, retryAfterMs }, device, raw, replies };
    },

    async refresh(device, purpose, signal) {
      const refresh = device.read?.refresh ?? null;
      if (refresh === null) return;
      const rendered = await renderTemplate(device, refresh.request, {});
      if (!rendered.ok) return;
      const asked = await http.exchange(rendered.request, { ...of(device), purpose, signal });
      if (asked.kind === 'reply') await sleep(refresh.waitMs, undefined, { signal });
      shared.forget();
    },

    async send(device, step, desired, current, { idempotencyKey, signal }) {
      const fields = Object.keys(desired).filter((name) => step.for.includes(name));
      const rendered = await renderSend(device, step, fields, desired, current, connection.secrets);
      if (!rendered.ok) return notSent('unreached', `not sent: ${rendered.why}`);
      const request = withIdempotencyKey(rendered.request, step, idempotencyKey);
      // A reading from before this send, or from while it was under way, is no readback of it.
      shared.forget();
      const exchanged = await exchangeOrStop(http, request, {
        ...of(device),
        repeatable: step.repeatable,
        signal,
      });
      shared.forget();
      return exchanged.kind === 'reply'
        ? repliedResult(device, step.keep, exchanged)
        : unrepliedResult(exchanged);
    },

    async wake(device, signal) {
      if (device.wake === null) return notSent('unreached', 'nothing says how it is woken');
      const rendered = await renderTemplate(device, device.wake.request, {});
      if (!rendered.ok) return notSent('unreached', `not sent: ${rendered.why}`);
      const exchanged = await exchangeOrStop(http, rendered.request, { ...of(device), signal });
      shared.forget();
      return exchanged.kind === 'reply' ? repliedResult(device, {}, exchanged) : unrepliedResult(exchanged);
    },

    objection: () => null,
    close: () => http.close(),
  };
}

const of = (device: DeviceDefinition) => ({ device: device.id, rules: device.reply });

/** What is read after a send is a readback. */
export const purposeOf = ({ sentAt }: ReadContext): Purpose => (sentAt === undefined ? 'look' : 'readback');

type Reply = Extract<Exchanged, { kind: 'reply' }>;
type Named = readonly (readonly [string, Exchanged])[];

/** A read that brought nothing to interpret. */
export function failedRead(
  device: DeviceDefinition,
  trouble: string,
  replies: Readonly<Record<string, DeviceReply>> = {},
  retryAfterMs: number | null = null,
): ReadResult {
  return {
    sample: { ...troubledSample(device, Date.now(), trouble), retryAfterMs },
    device,
    raw: {},
    replies,
  };
}

/** What keeps a reply from being a reading, before anybody looks into it. */
function troubleOf(device: DeviceDefinition, name: string, one: Exchanged): string | null {
  const what = device.read?.single === false ? `the read of ${name}: ` : '';
  switch (one.kind) {
    case 'reply':
      return one.flaw === null ? null : `${what}HTTP ${one.reply.status}, but ${one.flaw}`;
    case 'held':
    case 'unreached':
    case 'lost':
    case 'signedOut':
      return `${what}${one.why}`;
  }
}

function pauseOf(one: Exchanged): number | null {
  if (one.kind === 'held') return one.waitMs;
  return one.kind === 'reply' ? one.pauseMs : null;
}

function repliesIn(exchanged: Named): Record<string, DeviceReply> {
  return Object.fromEntries(
    exchanged.flatMap(([name, one]) => (one.kind === 'reply' ? [[name, one.reply]] : [])),
  );
}

/** A sample is as old as the oldest reply in it. */
function oldest(exchanged: Named): number {
  return Math.min(Date.now(), ...exchanged.flatMap(([, one]) => (one.kind === 'reply' ? [one.at] : [])));
}

function withIdempotencyKey(request: DeviceRequest, step: SendStep, key: string): DeviceRequest {
  if (step.idempotencyHeader === null) return request;
  return { ...request, headers: { ...request.headers, [step.idempotencyHeader.toLowerCase()]: key } };
}

/** A send that is stopped before it began has a result like any other: nothing was sent. */
async function exchangeOrStop(
  http: HttpConnection,
  request: DeviceRequest,
  options: Omit<ExchangeOptions, 'purpose'> & { readonly signal: AbortSignal },
): Promise<Exchanged> {
  try {
    return await http.exchange(request, { ...options, purpose: 'send' });
  } catch (error) {
    if (!options.signal.aborted) throw error;
    return { kind: 'unreached', why: 'stopped before it was sent' };
  }
}

async function repliedResult(
  device: DeviceDefinition,
  keep: SendStep['keep'],
  one: Reply,
): Promise<SendResult> {
  const { reply, flaw } = one;
  // Without a rule that says otherwise a 2xx is an acknowledgement only if it looks like this API's own.
  const doubtful = flaw !== null && one.class === 'accepted' && device.reply.accepted === undefined;
  return {
    class: doubtful ? 'maybe' : one.class,
    acknowledged: isAcknowledgement(doubtful, one),
    at: one.at,
    reply: evidenceOf(reply),
    detail: flaw === null ? `HTTP ${reply.status}` : `HTTP ${reply.status}, but ${flaw}`,
    retryAfterMs: one.pauseMs,
    kept: await keptFrom(keep, reply),
  };
}

/** Also where the API says that it may have had no effect: the request itself was taken. */
function isAcknowledgement(doubtful: boolean, { class: taken, flaw, reply }: Reply): boolean {
  if (doubtful) return false;
  if (taken === 'accepted' || taken === 'already') return true;
  return taken === 'maybe' && flaw === null && reply.status >= 200 && reply.status < 300;
}

/** A send that brought no reply, whatever that proves. */
export function unrepliedResult(one: Exclude<Exchanged, Reply>): SendResult {
  if (one.kind === 'held') {
    return {
      ...notSent('limited', `${one.why}; not sent yet`),
      retryAfterMs: one.waitMs,
    };
  }
  return notSent(one.kind, one.why);
}

export function notSent(sendClass: SendClass, detail: string): SendResult {
  return {
    class: sendClass,
    acknowledged: false,
    at: Date.now(),
    reply: null,
    detail,
    retryAfterMs: null,
    kept: {},
  };
}

/** What later reads need from this reply (`keep`). What isn't there isn't kept; the read that needs it says so. */
async function keptFrom(keep: SendStep['keep'], reply: DeviceReply): Promise<Record<string, Value>> {
  const kept: Record<string, Value> = {};
  for (const [name, expression] of Object.entries(keep)) {
    const { status, headers, body } = reply;
    const { value } = await outcomeOf(expression, { input: { status, headers, body }, bindings: {} });
    if (typeof value === 'string' || typeof value === 'number' || typeof value === 'boolean')
      kept[name] = value;
  }
  return kept;
}
