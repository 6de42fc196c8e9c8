import assert from 'node:assert/strict';
import { test } from 'node:test';
import { heater } from './heater.ts';
import { json, serveHttp } from './loopback-server.ts';
import { openAll } from './opened.ts';

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

test('after a 429 the connection holds back by itself: the next send never leaves', async (t) => {
  const server = await serveHttp(t, (_request, response) => json(response, 429, {}, { 'retry-after': '60' }));
  const device = await heater(server.baseUrl);
  const first = await device.send({ power: 'on' });
  assert.deepEqual([first.class, first.retryAfterMs], ['limited', 60_000]);

  const second = await device.send({ power: 'on' });
  assert.equal(second.class, 'limited');
  assert.match(
    second.detail,
    /the API's request limit is used up, free again at [-0-9 :]+ UTC; not sent yet/,
  );
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
