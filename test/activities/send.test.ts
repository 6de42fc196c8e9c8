/** A send that Temporal tries again: only after an attempt that left word that it held back. */
import assert from 'node:assert/strict';
import { type TestContext, test } from 'node:test';
import { ApplicationFailure } from '@temporalio/common';
import { MockActivityEnvironment } from '@temporalio/testing';
import { createAdapters } from '../../activities/adapters.ts';
import { send } from '../../activities/send.ts';
import { loadCatalogue } from '../../domain/catalogue/load.ts';
import type { SendResult } from '../../domain/exchange.ts';
import { FAILURE } from '../../workflows/messages.ts';
import { json, serveHttp } from './loopback-server.ts';

/** Makes attempts at one send to an API that answers with these statuses, the last one again and again. */
async function sending(t: TestContext, ...statuses: number[]) {
  const server = await serveHttp(t, (_request, response, nth) =>
    json(response, statuses[Math.min(nth, statuses.length) - 1] ?? 200, {}),
  );
  const yaml = `
version: 1
connections: { vendor: { kind: http, baseUrl: "${server.baseUrl}" } }
devices: { heater: { connection: vendor, send: PUT /heater, read: GET /heater, fields: { power: onoff } } }
`;
  const loaded = await loadCatalogue({ file: 'test.yaml', readFile: () => yaml, environment: {} });
  assert.ok(loaded.ok);
  const { catalogue } = loaded;
  const device = catalogue.devices['heater'];
  assert.ok(device);
  const dependencies = {
    catalogue: () => catalogue,
    adapters: createAdapters(catalogue),
    isOutdated: () => false,
  } as unknown as Parameters<typeof send>[0];
  const input = {
    request: { device: 'heater', desired: { power: 'on' } },
    step: 0,
    fields: ['power'],
    idempotencyKey: 'command-1:0:1',
    definitionDigest: device.digest,
    approved: [],
  } as unknown as Parameters<typeof send>[1];
  return {
    received: server.received,
    /** `kept`: what the attempt before it left. Its result, and what it leaves. */
    async attempt(number: number, kept?: unknown, deliverUntil: number | null = Date.now() + 60_000) {
      const environment = new MockActivityEnvironment({ attempt: number, heartbeatDetails: kept });
      let left: unknown;
      environment.on('heartbeat', (details: unknown) => (left = details));
      const given = deliverUntil === null ? input : { ...input, deliverUntil };
      const sent = await environment
        .run(() => send(dependencies, given))
        .catch((error: unknown) => error as ApplicationFailure);
      return { sent: sent as SendResult | ApplicationFailure, left };
    },
  };
}

const classOf = (sent: SendResult | ApplicationFailure): string =>
  sent instanceof ApplicationFailure ? `failed: ${sent.type}` : sent.class;

test('an attempt that holds back leaves word of it, and the next one sends', async (t) => {
  const { attempt, received } = await sending(t, 429, 200);
  const first = await attempt(1);
  assert.equal(classOf(first.sent), `failed: ${FAILURE.waitingForApi}`);
  assert.equal(classOf((await attempt(2, first.left)).sent), 'accepted');
  assert.equal(received.length, 2);
});

test('an attempt after one that left no word sends nothing: that one may have sent', async (t) => {
  const { attempt, received } = await sending(t, 429);
  const { left } = await attempt(1);
  const died = await attempt(2);
  assert.equal(classOf(died.sent), 'lost');
  // The word of the first is not that of the second.
  assert.equal(classOf((await attempt(3, left)).sent), 'lost');
  assert.equal(received.length, 1);
});

test('an attempt that comes after the deadline sends nothing, and says what kept it', async (t) => {
  const { attempt, received } = await sending(t, 429, 200);
  const { left } = await attempt(1);
  const { sent } = await attempt(2, left, Date.now() - 1);
  assert.deepEqual([classOf(sent), 'detail' in sent && sent.detail], ['limited', 'HTTP 429']);
  assert.equal(received.length, 1);
});

test('a command of an earlier version waits by itself, so its send says what it met', async (t) => {
  const { attempt } = await sending(t, 429);
  assert.equal(classOf((await attempt(1, undefined, null)).sent), 'limited');
});
