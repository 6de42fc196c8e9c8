import assert from 'node:assert/strict';
import type { ServerResponse } from 'node:http';
import { test } from 'node:test';
import { heater, loginPage } from './heater.ts';
import { closedPort, json, serveHttp } from './loopback-server.ts';
import { openAll } from './opened.ts';

const BAD_READS: readonly [string, (response: ServerResponse) => void, RegExp][] = [
  ['a login page', (r) => loginPage(r), /HTTP 200, but its body is a web page/],
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
  await trv.adapter.refresh(trv.device, 'look', new AbortController().signal);
  assert.ok(Date.now() - began >= 115);
  assert.equal(server.received[0]?.path, '/poll');
  const gone = (await openAll(catalogue(`http://127.0.0.1:${await closedPort()}`)))('trv');
  await gone.adapter.refresh(gone.device, 'look', new AbortController().signal);
});
