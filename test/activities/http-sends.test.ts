import assert from 'node:assert/strict';
import type { ServerResponse } from 'node:http';
import { test } from 'node:test';
import { heater, loginPage, SECRET } from './heater.ts';
import { closedPort, json, serveHttp } from './loopback-server.ts';
import { openAll } from './opened.ts';

const REPLIES: readonly {
  name: string;
  answer: (response: ServerResponse) => void;
  rules?: string;
  class: string;
  detail: RegExp;
}[] = [
  {
    name: 'a 200 is accepted',
    answer: (r) => json(r, 200, { ok: true }),
    class: 'accepted',
    detail: /^HTTP 200$/,
  },
  {
    name: 'a 204 without a body is accepted',
    answer: (r) => r.writeHead(204).end(),
    class: 'accepted',
    detail: /^HTTP 204$/,
  },
  {
    name: 'a 200 in plain text is accepted',
    answer: (r) => r.end('OK'),
    class: 'accepted',
    detail: /^HTTP 200$/,
  },
  {
    name: 'a 400 is refused',
    answer: (r) => json(r, 400, { error: 'too hot' }),
    class: 'refused',
    detail: /^HTTP 400$/,
  },
  {
    name: 'a 404 with a web page is refused all the same',
    answer: (r) => loginPage(r, 404),
    class: 'refused',
    detail: /web page/,
  },
  {
    name: 'a 401 means signed out',
    answer: (r) => json(r, 401, {}),
    class: 'signedOut',
    detail: /^HTTP 401$/,
  },
  {
    name: 'a 429 is limited',
    answer: (r) => json(r, 429, {}, { 'retry-after': '7' }),
    class: 'limited',
    detail: /^HTTP 429$/,
  },
  { name: 'a 500 may have acted', answer: (r) => json(r, 500, {}), class: 'maybe', detail: /^HTTP 500$/ },
  {
    name: 'a declared "already" counts before the status',
    answer: (r) => json(r, 400, { reason: 'already set' }),
    rules: 'already: \'$contains(body.reason, "already")\'',
    class: 'already',
    detail: /^HTTP 400$/,
  },
  {
    name: 'a declared "asleep" counts before the status',
    answer: (r) => json(r, 408, {}),
    rules: 'asleep: status = 408',
    class: 'asleep',
    detail: /^HTTP 408$/,
  },
  {
    name: 'a refusal inside a 200 is refused where the catalogue says so',
    answer: (r) => json(r, 200, { code: 171 }),
    rules: 'refused: body.code = 171',
    class: 'refused',
    detail: /^HTTP 200$/,
  },
  {
    name: 'a login page with a 200 is no acknowledgement',
    answer: (r) => loginPage(r),
    class: 'maybe',
    detail: /HTTP 200, but its body is a web page/,
  },
  {
    name: 'JSON that is broken off is no acknowledgement',
    answer: (r) => r.setHeader('content-type', 'application/json').end('{"ok": tr'),
    class: 'maybe',
    detail: /broken off or malformed/,
  },
  {
    name: 'a 200 whose body breaks off is no acknowledgement',
    answer: (r) => {
      r.writeHead(200, { 'content-length': '50' }).write('{');
      setTimeout(() => r.socket?.destroy(), 10);
    },
    class: 'maybe',
    detail: /broke off after 1 bytes/,
  },
  {
    name: 'a body of 5 MB is no acknowledgement',
    answer: (r) => r.end('x'.repeat(5_000_000)),
    class: 'maybe',
    detail: /longer than 1 MB/,
  },
  {
    name: 'a body that drips for ever is no acknowledgement',
    answer: (r) => {
      const drip = setInterval(() => r.write(' '), 20);
      r.on('close', () => clearInterval(drip));
    },
    class: 'maybe',
    detail: /no reply from .* within 0\.5 s/,
  },
  {
    name: 'no reply is lost',
    answer: () => undefined,
    class: 'lost',
    detail: /^no reply from 127\.0\.0\.1:\d+ within 0\.5 s$/,
  },
  {
    name: 'a reset is lost',
    answer: (r) => r.socket?.resetAndDestroy(),
    class: 'lost',
    detail: /closed the connection without a full reply/,
  },
];

for (const { name, answer, rules, class: expected, detail } of REPLIES) {
  test(`sending: ${name}`, async (t) => {
    const server = await serveHttp(t, (_request, response) => answer(response));
    const device = await heater(server.baseUrl, rules === undefined ? '' : `, reply: { ${rules} }`);
    const result = await device.send({ power: 'on' });
    assert.equal(result.class, expected);
    assert.match(result.detail, detail);
    assert.equal(server.received.length, 1, 'one request, whatever came of it');
    assert.ok((result.reply?.body.length ?? 0) <= 300);
  });
}

test('sending: where nobody listens it is unreached', async () => {
  const port = await closedPort();
  const result = await (await heater(`http://127.0.0.1:${port}`)).send({ power: 'on' });
  assert.equal(result.class, 'unreached');
  assert.equal(result.detail, `connection refused by 127.0.0.1:${port}`);
  assert.equal(result.reply, null);
});

test('a send carries the asked fields alone, the sign-in, and its idempotency key', async (t) => {
  const server = await serveHttp(t, (_request, response) => json(response, 200, {}));
  await (await heater(`${server.baseUrl}/api/v2/`)).send({ temperature: 21.5 });
  const [sent] = server.received;
  assert.deepEqual(
    [sent?.method, sent?.path, sent?.body, sent?.headers.authorization, sent?.headers['idempotency-key']],
    ['PUT', '/api/v2/heater', '{"temperature":21.5}', `Bearer ${SECRET}`, 'command-1:0:1'],
  );
});

test('a reply of 300 kB leaves 300 harmless characters as evidence', async (t) => {
  const server = await serveHttp(t, (_request, response) =>
    response.end(`a\u0000\u202Eb${'x'.repeat(300_000)}`),
  );
  const { reply } = await (await heater(server.baseUrl)).send({ power: 'on' });
  assert.equal(reply?.body.length, 300);
  assert.doesNotMatch(reply?.body ?? '', /[\p{C}]/u);
});

test('what a reply leaves for later reads is kept', async (t) => {
  const server = await serveHttp(t, ({ path }, response) =>
    json(response, 200, path === '/jobs' ? { id: 'j 7' } : { power: 'on' }),
  );
  const job = (
    await openAll(`
version: 1
connections: { vendor: { kind: http, baseUrl: "${server.baseUrl}" } }
devices: { press: { connection: vendor, send: { request: POST /jobs, keep: { job: body.id } }, read: "GET /jobs/{kept.job}", fields: { power: onoff } } }
`)
  )('press');
  const { kept } = await job.send({ power: 'on' });
  assert.deepEqual(kept, { job: 'j 7' });
  await job.adapter.read(
    job.device,
    { desired: null, before: null, kept, baselineDeviceAt: null },
    new AbortController().signal,
  );
  assert.equal(server.received[1]?.path, '/jobs/j%207');
});
