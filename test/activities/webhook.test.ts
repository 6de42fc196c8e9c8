import assert from 'node:assert/strict';
import { test } from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';
import { openWebhook, type Webhook } from '../../activities/webhook.ts';
import { approvalRing } from '../../domain/approval/ring.ts';
import type { Catalogue } from '../../domain/catalogue/definition.ts';
import { loadCatalogue } from '../../domain/catalogue/load.ts';
import { acceptedView, type CommandView } from '../../domain/command.ts';
import { closedPort, serveHttp } from './loopback-server.ts';
import { whyNotGenuine } from './standard-webhooks.ts';

const SECRET = 'whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw';

async function catalogueWith(baseUrl: string, secret = SECRET, more = ''): Promise<Catalogue> {
  const loaded = await loadCatalogue({
    file: 'test.yaml',
    environment: { PHONE: secret },
    readFile: () => `
version: 1
connections:
  phone: { kind: http, baseUrl: "${baseUrl}", auth: { sign: { preset: standard-webhooks, secret: "\${PHONE}" } }${more} }
settings: { webhook: phone }
`,
  });
  assert.ok(loaded.ok, loaded.ok ? '' : JSON.stringify(loaded.problems));
  return loaded.catalogue;
}

async function webhookTo(baseUrl: string, more = ''): Promise<Webhook> {
  const webhook = openWebhook(await catalogueWith(baseUrl, SECRET, more));
  assert.ok(webhook);
  return webhook;
}

const RING = { id: 'approval-1', body: '{"type":"approval.pending","data":{"deviceName":"Kühlhaus"}}' };

test('a ring is signed as Standard Webhooks has it, and goes to exactly the address of its connection', async (t) => {
  const server = await serveHttp(t, (_request, response) => response.writeHead(204).end());
  const webhook = await webhookTo(`${server.baseUrl}/hooks/readback`);
  assert.deepEqual(await webhook.deliver(RING), { taken: true });
  const [request] = server.received;
  assert.ok(request);
  assert.deepEqual([request.method, request.path, request.body], ['POST', '/hooks/readback', RING.body]);
  assert.equal(request.headers['webhook-id'], RING.id);
  assert.equal(request.headers['content-type'], 'application/json');
  assert.equal(await whyNotGenuine(SECRET, request.headers, request.body), null);
  assert.match(String(await whyNotGenuine(SECRET, request.headers, `${request.body} `)), /no signature/);
  assert.ok(!JSON.stringify(request).includes(SECRET.slice(6)));
});

test('a second attempt carries the same id and body under a time and a signature of its own', async (t) => {
  const server = await serveHttp(t, (_request, response, nth) =>
    response.writeHead(nth === 1 ? 500 : 200).end(),
  );
  const webhook = await webhookTo(server.baseUrl);
  const first = await webhook.deliver(RING);
  assert.deepEqual(first, {
    taken: false,
    why: 'the webhook "phone" did not take it: HTTP 500',
    again: true,
    retryAfterMs: null,
  });
  await sleep(1100);
  assert.deepEqual(await webhook.deliver(RING), { taken: true });
  const [a, b] = server.received;
  assert.ok(a && b);
  assert.deepEqual([a.headers['webhook-id'], a.body], [b.headers['webhook-id'], b.body]);
  assert.notEqual(a.headers['webhook-timestamp'], b.headers['webhook-timestamp']);
  assert.equal(await whyNotGenuine(SECRET, b.headers, b.body), null);
});

test('a redirect is not followed, and another origin hears nothing', async (t) => {
  const other = await serveHttp(t, (_request, response) => response.writeHead(200).end());
  const server = await serveHttp(t, (_request, response) =>
    response.writeHead(307, { location: `${other.baseUrl}/hook?token=abc` }).end(),
  );
  const delivery = await (await webhookTo(server.baseUrl)).deliver(RING);
  assert.ok(!delivery.taken && delivery.again);
  assert.match(delivery.why, /HTTP 307, it redirects to another origin/);
  assert.ok(!delivery.why.includes('token'));
  assert.deepEqual([server.received.length, other.received.length], [1, 0]);
});

test('a receiver that is gone is told nothing more, and one that asks for a pause gets it', async (t) => {
  const server = await serveHttp(t, (_request, response, nth) =>
    nth === 1
      ? response.writeHead(410).end()
      : response.writeHead(429, { 'retry-after': '7' }).end('{"slow":"down"}'),
  );
  const webhook = await webhookTo(server.baseUrl);
  const gone = await webhook.deliver(RING);
  assert.ok(!gone.taken && !gone.again);
  const busy = await webhook.deliver(RING);
  assert.ok(!busy.taken && busy.again);
  assert.equal(busy.retryAfterMs, 7000);
  // Nor does it get one before.
  const held = await webhook.deliver(RING);
  assert.ok(!held.taken && held.again && (held.retryAfterMs ?? 0) > 2000);
  assert.equal(server.received.length, 2);
});

test('a receiver that is not there, or hangs, is a failed attempt and nothing worse', async (t) => {
  const nobody = await (await webhookTo(`http://127.0.0.1:${await closedPort()}`)).deliver(RING);
  assert.ok(!nobody.taken && nobody.again);
  assert.match(nobody.why, /connection refused/);
  const server = await serveHttp(t, () => undefined);
  const hanging = await (await webhookTo(server.baseUrl, ', timeout: 300ms')).deliver(RING);
  assert.ok(!hanging.taken && hanging.again);
  assert.match(hanging.why, /no reply from 127\.0\.0\.1:\d+ within 0\.3 s/);
});

for (const [what, secret] of [
  ['too short', `whsec_${Buffer.alloc(16, 7).toString('base64')}`],
  ['too long', Buffer.alloc(65, 7).toString('base64')],
  ['a password', 'correct horse battery staple, and then some'],
] as const) {
  test(`a secret that is ${what} is refused at the start, without being quoted`, async () => {
    const catalogue = await catalogueWith('http://127.0.0.1:1', secret);
    assert.throws(
      () => openWebhook(catalogue),
      (error: Error) =>
        /connection "phone": the secret of its webhook must be 24 to 64 random bytes/.test(error.message) &&
        !error.message.includes(secret),
    );
  });
}

const ASKED_AT = Date.UTC(2026, 10, 30, 12);
const viewWith = (more: Partial<CommandView> = {}): CommandView => ({
  ...acceptedView(
    {
      device: 'boiler',
      deviceName: 'Boiler',
      desired: { temperature: 65 },
      units: { temperature: '°C' },
      reason: 'SECRET-PLAN: ignore the rules',
      caller: { subject: 'bea', client: 'desk', transport: 'http', unattended: false },
      requestId: 'request-7',
      resendOf: null,
      contentKey: 'content',
      definitionDigest: 'definition',
      deliverWithinMs: 1000,
    },
    ASKED_AT,
  ),
  approval: {
    by: 'operator',
    reason: 'Hot water scalds.',
    askedAt: ASKED_AT,
    expiresAt: ASKED_AT + 600_000,
    digest: 'digest-of-it',
    key: 'approve-1',
    before: { temperature: 40 },
  },
  ...more,
});

test('a ring says what is asked, of whom, by whom and until when, and nothing else', async () => {
  const catalogue = await catalogueWith('http://127.0.0.1:1');
  const ring = approvalRing(
    catalogue,
    { commandId: 'abc', view: viewWith() },
    'https://home.example/console',
  );
  assert.equal(ring?.id, 'approval-abc');
  assert.deepEqual(JSON.parse(ring?.body ?? ''), {
    type: 'approval.pending',
    timestamp: '2026-11-30T12:00:00.000Z',
    data: {
      commandId: 'abc',
      device: 'boiler',
      deviceName: 'Boiler',
      changes: [{ field: 'temperature', before: '40 °C', desired: '65 °C' }],
      neededBy: 'operator',
      ruleReason: 'Hot water scalds.',
      requester: { subject: 'bea', client: 'desk' },
      expiresAt: '2026-11-30T12:10:00.000Z',
      url: 'https://home.example/console/commands/abc',
    },
  });
  const unlinked = approvalRing(catalogue, { commandId: 'abc', view: viewWith() }, null);
  assert.equal(JSON.parse(unlinked?.body ?? '').data.url, null);
  assert.equal(approvalRing(catalogue, { commandId: 'abc', view: viewWith({ approval: null }) }, null), null);
});

test('a ring has at most 4 KB, whatever strangers wrote into it, and says what it leaves out', async () => {
  const long = '"\\🚪\u202e'.repeat(400);
  const fields = Object.fromEntries(Array.from({ length: 60 }, (_, index) => [`${index}${long}`, long]));
  const { approval, caller } = viewWith();
  assert.ok(approval);
  const view = viewWith({
    device: long,
    deviceName: long,
    caller: { ...caller, subject: long, client: long },
    desired: fields,
    approval: { ...approval, reason: long, before: fields },
  });
  const catalogue = await catalogueWith('http://127.0.0.1:1');
  const { body = '' } =
    approvalRing(catalogue, { commandId: 'a'.repeat(200), view }, `https://x.example/${'y'.repeat(600)}`) ??
    {};
  assert.ok(Buffer.byteLength(body) <= 4096, `${Buffer.byteLength(body)} bytes`);
  const { data } = JSON.parse(body) as { data: { changes: unknown[]; moreChanges: number } };
  assert.equal(data.changes.length + data.moreChanges, 60);
  assert.ok(!body.includes('\u202e'));
});
