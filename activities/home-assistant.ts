/**
 * Entities of a Home Assistant, over its REST API. It answers 200 to much that it doesn't do, and counts temperatures in the
 * instance's own unit; this adapter knows both, and asks the entity itself what it can do before anything is sent.
 */
import type { Connection, DeviceDefinition } from '../domain/catalogue/definition.ts';
import type { SendResult } from '../domain/exchange.ts';
import { troubledSample } from '../domain/interpretation.ts';
import type { Json } from '../domain/values.ts';
import type { DeviceAdapter, ReadResult } from './adapter.ts';
import { objectionOf } from './home-assistant-entity.ts';
import {
  dependsOnUnit,
  inSteps,
  instanceUnit,
  inUnit,
  memberOf,
  TOKEN_NOT_ACCEPTED,
} from './home-assistant-units.ts';
import { failedRead, httpAdapter, notSent } from './http.ts';
import { type HttpConnection, openHttpConnection } from './http-connection.ts';

/** The question after a doubtful send is worth this much of a worker's time. */
const CHECK_WITHIN_MS = 2_000;

/** Throws, naming the connection, for what `openHttpConnection` can't use. */
export function homeAssistantAdapter(
  connection: Connection,
  http: HttpConnection = openHttpConnection(connection),
): DeviceAdapter {
  const entities = httpAdapter(connection, http);
  const askUnit = instanceUnit(http);

  async function sendIn(
    localised: DeviceDefinition,
    ...rest: Rest<DeviceAdapter['send']>
  ): Promise<SendResult> {
    const result = await entities.send(localised, ...rest);
    if (result.class === 'signedOut') return { ...result, detail: TOKEN_NOT_ACCEPTED };
    // The reply lists the states that changed. None did: it was so already, or nobody is there to do it.
    const nothingChanged = result.class === 'accepted' && result.reply?.body === '[]';
    return nothingChanged && localised.entity !== null
      ? await checked(http, localised, localised.entity, result)
      : result;
  }

  return {
    async read(device, context, signal) {
      if (!dependsOnUnit(device)) return explained(await entities.read(device, context, signal));
      const known = await askUnit(device.reply, signal);
      if (known.unit === null)
        return failedRead(device, known.failure.detail, {}, known.failure.retryAfterMs);
      const result = explained(await entities.read(inUnit(device, known.unit), context, signal));
      return { ...result, device: inSteps(device, known.unit, attributesIn(result)) };
    },

    refresh: entities.refresh,
    wake: entities.wake,

    async send(device, step, desired, current, options) {
      if (!dependsOnUnit(device)) return sendIn(device, step, desired, current, options);
      const known = await askUnit(device.reply, options.signal).catch((error: unknown) => {
        if (!options.signal.aborted) throw error;
        return { unit: null, failure: notSent('unreached', 'stopped before it was sent') };
      });
      if (known.unit === null) return known.failure;
      return sendIn(inUnit(device, known.unit), step, desired, current, options);
    },

    objection(device, desired, read) {
      if (device.entity === null) return null;
      if (statusOf(read) === 404) return noSuchEntity(device.entity);
      const attributes = attributesIn(read);
      return attributes === undefined ? null : objectionOf(device.entity, attributes, read.device, desired);
    },
  };
}

type Rest<F> = F extends (first: never, ...rest: infer R) => unknown ? R : never;

/** 404 and 401 have one meaning here, and people should read that instead of a number. */
function explained(result: ReadResult): ReadResult {
  const { sample, device } = result;
  const why = meaningOf(statusOf(result), device.entity);
  if (sample.trouble === null || why === null) return result;
  return {
    ...result,
    sample: { ...troubledSample(device, sample.at, why), retryAfterMs: sample.retryAfterMs },
  };
}

function meaningOf(status: number | undefined, entity: string | null): string | null {
  if (status === 401) return TOKEN_NOT_ACCEPTED;
  return status === 404 && entity !== null ? noSuchEntity(entity) : null;
}

/** An acknowledged send that changed nothing, once the entity has been looked at. Its absence is the only sure refusal. */
async function checked(
  http: HttpConnection,
  device: DeviceDefinition,
  entity: string,
  result: SendResult,
): Promise<SendResult> {
  const request = {
    method: 'GET',
    path: `/api/states/${encodeURIComponent(entity)}`,
    headers: {},
    body: null,
  };
  const signal = AbortSignal.timeout(CHECK_WITHIN_MS);
  const seen = await http
    .exchange(request, { device: device.id, purpose: 'readback', rules: device.reply, signal })
    .catch((error: unknown) => {
      if (!signal.aborted) throw error;
      return null;
    });
  if (seen?.kind !== 'reply') return result;
  if (seen.reply.status === 404)
    return {
      ...result,
      class: 'refused',
      acknowledged: false,
      detail: `${result.detail}, but ${noSuchEntity(entity)}`,
    };
  if (memberOf(seen.reply.body, 'state') === 'unavailable') {
    return {
      ...result,
      class: 'maybe',
      detail: `${result.detail}, but ${entity} is unavailable, and Home Assistant skips what is`,
    };
  }
  return result;
}

const noSuchEntity = (entity: string): string => `Home Assistant has no entity ${entity}`;

function statusOf(read: ReadResult): number | undefined {
  return Object.values(read.replies)[0]?.status;
}

function attributesIn(read: ReadResult): Json | undefined {
  return memberOf(Object.values(read.replies)[0]?.body, 'attributes');
}
