import assert from 'node:assert/strict';
import type { ServerResponse } from 'node:http';
import { test } from 'node:test';
import { closedPort, json, serveHttp } from './loopback-server.ts';
import { openAll } from './opened.ts';

const SECRET = 'token-3f9a-very-secret';

/** The simplest device, on a connection with whatever a test adds. */
async function heater(baseUrl: string, connection = '') {
  const yaml = `
version: 1
connections: { vendor: { kind: http, baseUrl: "${baseUrl}", timeout: 500ms, auth: { bearer: "\${TOKEN}" } ${connection} } }
devices:
  heater:
    connection: vendor
    send: { request: PUT /heater, idempotencyHeader: Idempotency-Key }
    read: GET /heater
    fields: { power: onoff, temperature: { type: celsius, min: 5, max: 30, step: 0.5 } }
`;
  return (await openAll(yaml, { TOKEN: SECRET }))('heater');
}

const page = (response: ServerResponse, status = 200) => {
  response.writeHead(status, { 'content-type': 'text/html' });
  response.end('<!doctype html><title>Hotel Wi-Fi</title>');
};

// Sends: every class, and the reply that shows it.

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
    answer: (r) => page(r, 404),
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
    answer: (r) => page(r),
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

// Redirects.

test('a send follows no redirect, not even on its own origin', async (t) => {
  const server = await serveHttp(t, (_request, response) =>
    response.writeHead(307, { location: '/elsewhere' }).end(),
  );
  const result = await (await heater(server.baseUrl)).send({ power: 'on' });
  assert.equal(result.class, 'maybe');
  assert.match(result.detail, /^HTTP 307, but it redirects to another path, which is not followed$/);
  assert.equal(server.received.length, 1);
});

test('a read follows a redirect on its own origin, a few times', async (t) => {
  const server = await serveHttp(t, ({ path }, response) => {
    if (path === '/heater') response.writeHead(302, { location: '/v2/heater' }).end();
    else json(response, 200, { power: 'on', temperature: 20 });
  });
  const { sample } = await (await heater(server.baseUrl)).read();
  assert.deepEqual(sample.fields.power, { kind: 'value', value: 'on' });

  const endless = await serveHttp(t, (_request, response) =>
    response.writeHead(302, { location: '/again' }).end(),
  );
  const circle = await (await heater(endless.baseUrl)).read();
  assert.match(circle.sample.trouble ?? '', /HTTP 302/);
  assert.equal(endless.received.length, 4);
});

test('nothing follows a redirect to another origin, and the token stays at home', async (t) => {
  const other = await serveHttp(t, (_request, response) => json(response, 200, { power: 'on' }));
  const server = await serveHttp(t, (_request, response) =>
    response.writeHead(302, { location: `${other.baseUrl}/heater?session=abc` }).end(),
  );
  const device = await heater(server.baseUrl);
  const { sample } = await device.read();
  assert.match(
    sample.trouble ?? '',
    /it redirects to another origin, http:\/\/127\.0\.0\.1:\d+, which is never followed/,
  );
  assert.doesNotMatch(sample.trouble ?? '', /session/);
  assert.equal((await device.send({ power: 'on' })).class, 'maybe');
  assert.equal(other.received.length, 0);
});

// Reads.

const BAD_READS: readonly [string, (response: ServerResponse) => void, RegExp][] = [
  ['a login page', (r) => page(r), /HTTP 200, but its body is a web page/],
  [
    'broken JSON',
    (r) => r.setHeader('content-type', 'application/json').end('{"power":"o'),
    /broken off or malformed/,
  ],
  ['an empty body', (r) => r.end(), /./],
  ['5 MB', (r) => r.end('x'.repeat(5_000_000)), /longer than 1 MB/],
  ['nothing at all', () => undefined, /no reply from .* within 0\.5 s/],
  [
    'a reset in mid-body',
    (r) => {
      r.writeHead(200, { 'content-length': '50' }).write('{"power":');
      setTimeout(() => r.socket?.resetAndDestroy(), 10);
    },
    /broke off after 9 bytes/,
  ],
  ['a 503', (r) => json(r, 503, { power: 'on' }), /HTTP 503/],
  ['a 401', (r) => json(r, 401, { power: 'on' }), /HTTP 401/],
  [
    'compressed bytes that nobody asked for',
    (r) => r.setHeader('content-encoding', 'gzip').end('\u001f\u008b'),
    /compressed \(gzip\)/,
  ],
];

for (const [what, answer, trouble] of BAD_READS) {
  test(`reading: ${what} makes every field unreadable, and says why`, async (t) => {
    const server = await serveHttp(t, (_request, response) => answer(response));
    const { sample } = await (await heater(server.baseUrl)).read();
    assert.equal(sample.fields.power?.kind, 'unreadable');
    assert.equal(sample.fields.temperature?.kind, 'unreadable');
    assert.match(
      sample.trouble ?? (sample.fields.power?.kind === 'unreadable' ? sample.fields.power.why : ''),
      trouble,
    );
  });
}

test('reading: a number in text, and JSON under a wrong content type, are read all the same', async (t) => {
  const server = await serveHttp(t, (_request, response) =>
    response.setHeader('content-type', 'text/plain').end('{"power":"On","temperature":"21.5"}'),
  );
  const { sample } = await (await heater(server.baseUrl)).read();
  assert.equal(sample.trouble, null);
  assert.deepEqual(sample.fields, {
    power: { kind: 'value', value: 'on' },
    temperature: { kind: 'value', value: 21.5 },
  });
});

test('reading: rejects only when it is given up', async (t) => {
  const server = await serveHttp(t, () => undefined);
  const stop = new AbortController();
  setTimeout(() => stop.abort(), 30);
  await assert.rejects((await heater(server.baseUrl)).read(stop.signal), { name: 'AbortError' });
});

// Pacing.

test('after a 429 the connection holds back by itself: the next send never leaves', async (t) => {
  const server = await serveHttp(t, (_request, response) => json(response, 429, {}, { 'retry-after': '60' }));
  const device = await heater(server.baseUrl);
  const first = await device.send({ power: 'on' });
  assert.deepEqual([first.class, first.retryAfterMs], ['limited', 60_000]);

  const second = await device.send({ power: 'on' });
  assert.equal(second.class, 'limited');
  assert.match(second.detail, /the API's request limit is used up for another 60 s; not sent yet/);
  assert.ok((second.retryAfterMs ?? 0) > 59_000);
  const { sample } = await device.read();
  assert.match(sample.trouble ?? '', /request limit is used up/);
  assert.ok((sample.retryAfterMs ?? 0) > 59_000);
  assert.equal(server.received.length, 1);
});

test('a short pause is sat out, and can be given up before anything is sent', async (t) => {
  const server = await serveHttp(t, (_request, response, nth) =>
    nth === 1 ? json(response, 429, {}, { 'retry-after': '1' }) : json(response, 200, {}),
  );
  const device = await heater(server.baseUrl);
  await device.send({ power: 'on' });
  const stop = new AbortController();
  setTimeout(() => stop.abort(), 50);
  const stopped = await device.send({ power: 'on' }, { signal: stop.signal });
  assert.deepEqual([stopped.class, stopped.detail], ['unreached', 'stopped before it was sent']);
  assert.equal(server.received.length, 1);

  const began = Date.now();
  assert.equal((await device.send({ power: 'on' })).class, 'accepted');
  assert.ok(Date.now() - began >= 900);
});

test('a send on its way is let finish, so that its reply is known', async (t) => {
  const server = await serveHttp(t, (_request, response) => setTimeout(() => json(response, 200, {}), 150));
  const stop = new AbortController();
  setTimeout(() => stop.abort(), 50);
  const result = await (await heater(server.baseUrl)).send({ power: 'on' }, { signal: stop.signal });
  assert.equal(result.class, 'accepted');
});

// Secrets.

test('a reply that quotes our token leaves it nowhere', async (t) => {
  const server = await serveHttp(t, ({ headers }, response) =>
    json(
      response,
      400,
      { error: `bad credentials: ${headers.authorization}` },
      { 'x-echo': String(headers.authorization) },
    ),
  );
  const device = await heater(server.baseUrl);
  const results = JSON.stringify([await device.send({ power: 'on' }), await device.read()]);
  assert.match(results, /bad credentials: Bearer •••/);
  assert.ok(!results.includes(SECRET));
});

const SIGN_INS: readonly [string, string, (headers: Record<string, unknown>, path: string) => boolean][] = [
  [
    'basic',
    'basic: { username: me, password: "${TOKEN}" }',
    ({ authorization }) => authorization === `Basic ${Buffer.from(`me:${SECRET}`).toString('base64')}`,
  ],
  ['header', 'header: { X-Api-Key: "${TOKEN}" }', (headers) => headers['x-api-key'] === SECRET],
  [
    'query',
    'query: { apiKey: "${TOKEN}" }',
    (_headers, path) => path === `/heater?verbose=1&apiKey=${SECRET}`,
  ],
];

for (const [kind, auth, isSigned] of SIGN_INS) {
  test(`signing in by ${kind} reaches the API and no evidence`, async (t) => {
    const server = await serveHttp(t, ({ path, headers }, response) =>
      json(response, 404, { path, headers }),
    );
    const yaml = `
version: 1
connections: { vendor: { kind: http, baseUrl: "${server.baseUrl}", auth: { ${auth} } } }
devices: { heater: { connection: vendor, send: PUT /heater, read: "GET /heater?verbose=1", fields: { power: onoff } } }
`;
    const result = await (await openAll(yaml, { TOKEN: SECRET }))('heater').read();
    const [request] = server.received;
    assert.ok(request && isSigned(request.headers, request.path), JSON.stringify(request));
    const told = JSON.stringify(result);
    assert.ok(!told.includes(SECRET) && !told.includes(Buffer.from(`me:${SECRET}`).toString('base64')));
  });
}

test('a token with a line break is refused at the start, without being quoted', async () => {
  await assert.rejects(
    openAll(
      'version: 1\nconnections: { v: { kind: http, baseUrl: "http://127.0.0.1:1", auth: { header: { X-Key: "${T}" } } } }\n' +
        'devices: { d: { connection: v, send: PUT /d, read: GET /d, fields: { power: onoff } } }\n',
      { T: 'abc\ndef-secret' },
    ),
    (error: Error) =>
      /connection "v": its secret for the header "X-Key"/.test(error.message) &&
      !/def-secret/.test(error.message),
  );
});

test('a way of signing in that is left for later is refused by name', async () => {
  const yaml = `
version: 1
connections: { shelly: { kind: http, baseUrl: "http://127.0.0.1:1", auth: { digest: { username: admin, password: "\${P}" } } } }
devices: { plug: { connection: shelly, send: PUT /d, read: GET /d, fields: { power: onoff } } }
`;
  await assert.rejects(
    openAll(yaml, { P: 'secret' }),
    /connection "shelly" signs in with "digest".*needed by plug/,
  );
});

// What requests are made of.

test('a value in a path can neither climb out of it nor change the origin', async (t) => {
  const server = await serveHttp(t, (_request, response) => json(response, 200, {}));
  const open = await openAll(`
version: 1
connections: { vendor: { kind: http, baseUrl: "${server.baseUrl}/api" } }
profiles:
  scene: { connection: vendor, params: { id: required }, send: "PUT /scenes/{id}/{wire.text}", read: "GET /scenes/{id}", fields: { text: text } }
devices:
  plain: { profile: scene, with: { id: "@evil.example/x?y#z" } }
`);
  assert.equal((await open('plain').send({ text: '//evil.example' })).class, 'accepted');
  assert.equal((await open('plain').send({ text: '..' })).class, 'unreached');
  assert.deepEqual(
    server.received.map(({ path }) => path),
    ['/api/scenes/%40evil.example%2Fx%3Fy%23z/%2F%2Fevil.example'],
  );
});

test('devices that share a read make one request; a send ends the sharing', async (t) => {
  const server = await serveHttp(t, ({ method }, response) =>
    json(
      response,
      200,
      method === 'GET'
        ? [
            { id: '1', power: 'on' },
            { id: '2', power: 'off' },
          ]
        : {},
    ),
  );
  const open = await openAll(`
version: 1
connections: { vendor: { kind: http, baseUrl: "${server.baseUrl}" } }
profiles:
  unit: { connection: vendor, params: { id: required }, send: "PUT /units/{id}", read: { request: GET /units, pick: "body[id = $id]", share: 10s }, fields: { power: onoff } }
devices: { one: { profile: unit, with: { id: "1" } }, two: { profile: unit, with: { id: "2" } } }
`);
  const [one, two] = await Promise.all([open('one').read(), open('two').read()]);
  assert.deepEqual(
    [one.sample.fields.power, two.sample.fields.power],
    [
      { kind: 'value', value: 'on' },
      { kind: 'value', value: 'off' },
    ],
  );
  assert.equal(server.received.length, 1);
  await open('one').send({ power: 'off' });
  await open('two').read();
  assert.deepEqual(
    server.received.map(({ method }) => method),
    ['GET', 'PUT', 'GET'],
  );
});

test('a read of several requests is as old as its oldest reply, and names the one that failed', async (t) => {
  const server = await serveHttp(t, ({ path }, response) =>
    path === '/lock' ? json(response, 200, { state: 'LOCKED' }) : json(response, 500, {}),
  );
  const open = await openAll(`
version: 1
connections: { vendor: { kind: http, baseUrl: "${server.baseUrl}" } }
devices:
  front-lock:
    connection: vendor
    send: "POST /lock/{wire.lock}"
    read: { requests: { lock: GET /lock, contact: GET /contact } }
    fields: { lock: { type: enum, values: { locked: LOCKED, unlocked: UNLOCKED }, read: lock.body.state, confirm: contact.body.open = false } }
`);
  const { sample } = await open('front-lock').read();
  assert.match(sample.trouble ?? '', /contact.*HTTP 500/);
  assert.equal(sample.fields.lock?.kind, 'unreadable');
});

test('a refresh asks for a report, waits as declared, and forgives failure', async (t) => {
  const server = await serveHttp(t, ({ path }, response) =>
    path === '/poll' ? json(response, 202, {}) : json(response, 200, { power: 'on' }),
  );
  const catalogue = (baseUrl: string) => `
version: 1
connections: { vendor: { kind: http, baseUrl: "${baseUrl}" } }
devices: { trv: { connection: vendor, send: PUT /trv, read: { request: GET /trv, refresh: { request: POST /poll, wait: 120ms } }, fields: { power: onoff } } }
`;
  const began = Date.now();
  const trv = (await openAll(catalogue(server.baseUrl)))('trv');
  await trv.adapter.refresh(trv.device, new AbortController().signal);
  assert.ok(Date.now() - began >= 115);
  assert.equal(server.received[0]?.path, '/poll');
  const gone = (await openAll(catalogue(`http://127.0.0.1:${await closedPort()}`)))('trv');
  await gone.adapter.refresh(gone.device, new AbortController().signal);
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
