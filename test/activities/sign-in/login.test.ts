import assert from 'node:assert/strict';
import { test } from 'node:test';
import { json, serveHttp } from '../loopback-server.ts';
import { openAll } from '../opened.ts';
import { startGate } from './account.ts';

const account = (gives: string) => ({
  login: { username: 'me', password: 'swordfish-1', gives, expires: '1h' },
});
const environment = { P: 'swordfish-1' };
const BY_TOKEN =
  'login: { request: POST /sign-in/gate, username: me, password: "${P}", pick: body.token, expires: body.expiresIn }';
const BY_COOKIE =
  'login: { request: POST /sign-in/gate, username: me, password: "${P}", as: form, expires: 30m }';

for (const [gives, auth] of [
  ['token', BY_TOKEN],
  ['cookie', BY_COOKIE],
] as const) {
  test(`one login brings a ${gives} for all commands, and another one when that is void`, async (t) => {
    const gate = await startGate(t, { account: account(gives), auth, environment, basePath: '' });
    const worker = await gate.worker();
    const results = await Promise.all([worker.send('on'), worker.send('off'), worker.send('on')]);
    assert.deepEqual(
      results.map((result) => result.class),
      ['accepted', 'accepted', 'accepted'],
    );
    assert.equal((await worker.read()).sample.trouble, null);
    await gate.admin('POST', '/accounts/gate/sign-out', {});
    assert.equal((await worker.send('off')).class, 'accepted');
    assert.deepEqual(await gate.counts(), { sends: 4, turnedAway: 1, granted: 2, refused: 0 });
  });
}

test('a wrong password is tried once, and ends with what to do', async (t) => {
  const gate = await startGate(t, {
    account: account('token'),
    auth: BY_TOKEN,
    environment: { P: 'wrong-password' },
    basePath: '',
  });
  const worker = await gate.worker();
  const results = [await worker.send('on'), await worker.send('on')];
  assert.deepEqual(
    results.map((result) => result.class),
    ['signedOut', 'signedOut'],
  );
  assert.match(
    results[1]?.detail ?? '',
    /^connection "cloud" is signed out: 127\.0\.0\.1:\d+ refuses its sign-in \(HTTP 401\); mend its username and password/,
  );
  assert.deepEqual(await gate.counts(), { sends: 0, turnedAway: 0, granted: 0, refused: 1 });
});

test('a body and headers of its own carry the account and the token', async (t) => {
  const server = await serveHttp(t, ({ path }, response) =>
    json(response, 200, path === '/api/session' ? { data: { sid: 'session-id-77' } } : { power: 'on' }),
  );
  const open = await openAll(
    `
version: 1
connections:
  nas:
    kind: http
    baseUrl: "${server.baseUrl}/api"
    auth: { login: { request: POST /session, username: me, password: "\${P}", body: { user: { name: "{username}", word: "{password}" }, app: readback }, pick: body.data.sid, headers: { X-Session: "sid={token}" } } }
devices: { lamp: { connection: nas, send: PUT /lamp, read: GET /lamp, fields: { power: onoff } } }
`,
    { P: 'sword{username}"fish' },
  );
  assert.equal((await open('lamp').send({ power: 'on' })).class, 'accepted');
  const [login, send] = server.received;
  assert.deepEqual(JSON.parse(login?.body ?? ''), {
    user: { name: 'me', word: 'sword{username}"fish' },
    app: 'readback',
  });
  assert.equal(send?.headers['x-session'], 'sid=session-id-77');
});

for (const [what, status, body] of [
  ['a page', 200, '<html></html>'],
  ['no token', 200, '{"ok":true}'],
  ['a redirect', 302, ''],
  ['a token with a line break', 200, '{"token":"a\\nb"}'],
] as const) {
  test(`a login that is answered with ${what} ends clearly, after one`, async (t) => {
    const server = await serveHttp(t, (_request, response) =>
      response.writeHead(status, { location: '/x' }).end(body),
    );
    const open = await openAll(
      `
version: 1
connections: { nas: { kind: http, baseUrl: "${server.baseUrl}", auth: { login: { request: POST /session, username: me, password: "\${P}", pick: body.token } } } }
devices: { lamp: { connection: nas, send: PUT /lamp, read: GET /lamp, fields: { power: onoff } } }
`,
      environment,
    );
    const result = await open('lamp').send({ power: 'on' });
    assert.equal(result.class, 'signedOut');
    assert.match(result.detail, /has no token where the catalogue looks for it \(body\.token\)/);
    await open('lamp').read();
    assert.equal(server.received.length, 1);
  });
}
