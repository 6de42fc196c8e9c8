import assert from 'node:assert/strict';
import { test } from 'node:test';
import { memorySignIns } from '../../../activities/sign-in/store.ts';
import { json, serveHttp } from '../loopback-server.ts';
import { openAll } from '../opened.ts';
import { REFRESHED, startGate } from './account.ts';

test('one token serves all commands, and the refresh token that it brings is the one used next', async (t) => {
  const gate = await startGate(t, REFRESHED);
  const worker = await gate.worker();
  const results = await Promise.all([worker.send('on'), worker.send('off'), worker.send('on')]);
  assert.deepEqual(
    results.map((result) => result.class),
    ['accepted', 'accepted', 'accepted'],
  );
  assert.equal((await worker.read()).sample.trouble, null);
  assert.deepEqual(await gate.counts(), { sends: 3, turnedAway: 0, granted: 1, refused: 0 });

  // Void before its time: turned away once, refreshed once with the rotated token, sent again once.
  await gate.admin('POST', '/accounts/gate/sign-out', {});
  assert.equal((await worker.send('off')).class, 'accepted');
  assert.deepEqual(await gate.counts(), { sends: 4, turnedAway: 1, granted: 2, refused: 0 });
});

test('forty commands that are turned away at once sign in once', async (t) => {
  const gate = await startGate(t, REFRESHED);
  const worker = await gate.worker();
  await worker.send('on');
  await gate.admin('POST', '/accounts/gate/sign-out', {});
  const results = await Promise.all(Array.from({ length: 40 }, () => worker.send('off')));
  assert.deepEqual(new Set(results.map((result) => result.class)), new Set(['accepted']));
  assert.equal((await gate.counts()).granted, 2);
});

test('a refused refresh ends clearly, says what to do, and is not tried again', async (t) => {
  const gate = await startGate(t, REFRESHED);
  const store = memorySignIns();
  const worker = await gate.worker({ store });
  await worker.send('on');
  await gate.admin('POST', '/accounts/gate/sign-out', { all: true });
  const first = await worker.send('off');
  assert.equal(first.class, 'signedOut');
  assert.match(
    first.detail,
    /^HTTP 401; connection "cloud" is signed out: 127\.0\.0\.1:\d+ refuses its sign-in \(invalid_grant\); sign in at the vendor again, and put the new refresh token where the catalogue takes it from\. It is tried again at \d{4}-\d\d-\d\d \d\d:\d\d UTC/,
  );
  const later = await Promise.all(Array.from({ length: 10 }, () => worker.send('off')));
  assert.deepEqual(new Set(later.map((result) => result.class)), new Set(['signedOut']));
  const { sample } = await worker.read();
  assert.match(sample.trouble ?? '', /is signed out/);
  // Neither does a worker that starts later, nor does the device hear of any of them.
  assert.equal((await (await gate.worker({ store })).send('off')).class, 'signedOut');
  assert.deepEqual(await gate.counts(), { sends: 1, turnedAway: 1, granted: 1, refused: 1 });
});

test('a new client secret goes on with the latest refresh token: the first one is long void', async (t) => {
  const gate = await startGate(t, REFRESHED);
  const store = memorySignIns();
  await (await gate.worker({ store })).send('on');
  const changed = await gate.worker({ store, scope: 'devices' });
  assert.equal((await changed.send('off')).class, 'accepted');
  assert.deepEqual(await gate.counts(), { sends: 2, turnedAway: 0, granted: 2, refused: 0 });
});

test('a token that another worker got, or this one before a restart, is hidden as well', async (t) => {
  const server = await serveHttp(t, ({ path, headers }, response) =>
    path === '/token'
      ? json(response, 200, { access_token: 'opaque-access-token', token_type: 'bearer' })
      : json(response, 400, { error: `bad request with ${headers.authorization}` }),
  );
  const yaml = oauthDevice(server.baseUrl);
  const signIns = memorySignIns();
  for (const worker of ['one that signs in', 'one that finds it kept']) {
    const lamp = (await openAll(yaml, { SECRET: 'client-secret-1' }, { signIns }))('lamp');
    const { reply } = await lamp.send({ power: 'on' });
    assert.match(reply?.body ?? '', /bad request with Bearer •••/, worker);
  }
  assert.equal(server.received.filter(({ path }) => path === '/token').length, 1);
});

test('another secret is tried at once', async (t) => {
  const gate = await startGate(t, REFRESHED);
  const store = memorySignIns();
  const wrong = await gate.worker({
    store,
    environment: { SECRET: 'wrong-secret', REFRESH: 'first-refresh-token' },
  });
  const refused = await wrong.send('on');
  assert.match(refused.detail, /invalid_client/);
  assert.equal((await (await gate.worker({ store })).send('on')).class, 'accepted');
});

test('a client signs in as itself, by header or by form', async (t) => {
  for (const clientAuth of ['basic', 'post']) {
    const gate = await startGate(t, {
      account: { oauth: { clientId: 'read&back', clientSecret: 'se:cret/%' } },
      auth: `oauth: { tokenUrl: "simulator:/sign-in/gate", clientId: "read&back", clientSecret: "\${SECRET}", clientAuth: ${clientAuth} }`,
      environment: { SECRET: 'se:cret/%' },
    });
    const worker = await gate.worker();
    assert.equal((await worker.send('on')).class, 'accepted');
    assert.deepEqual(await gate.counts(), { sends: 1, turnedAway: 0, granted: 1, refused: 0 });
  }
});

test('a token endpoint that is away delays the command, and is not stormed', async (t) => {
  const server = await serveHttp(t, ({ path }, response) =>
    path === '/token' ? response.writeHead(503, { 'retry-after': '60' }).end() : json(response, 200, {}),
  );
  const open = await openAll(oauthDevice(server.baseUrl), { SECRET: 'client-secret-1' });
  const results = [await open('lamp').send({ power: 'on' }), await open('lamp').send({ power: 'on' })];
  assert.deepEqual(
    results.map((result) => result.class),
    ['unreached', 'unreached'],
  );
  assert.match(
    results[0]?.detail ?? '',
    /connection "cloud" can't sign in now: 127\.0\.0\.1:\d+ answers its sign-in with HTTP 503/,
  );
  assert.deepEqual(
    server.received.map(({ path }) => path),
    ['/token'],
  );
});

for (const [what, answer, detail] of [
  ['a web page', '<html>Log in</html>', /none of an OAuth 2\.0 token endpoint/],
  ['no token', '{"token_type":"Bearer"}', /none of an OAuth 2\.0 token endpoint/],
  ['a secret in its error', '{"error":"bad","error_description":"client-secret-1 is wrong"}', /./],
] as const) {
  test(`a token endpoint that answers with ${what} leaves a clear end and no secret`, async (t) => {
    const server = await serveHttp(t, (_request, response) => {
      response.writeHead(what.startsWith('a secret') ? 400 : 200, { 'content-type': 'application/json' });
      response.end(answer);
    });
    const result = await (await openAll(oauthDevice(server.baseUrl), { SECRET: 'client-secret-1' }))(
      'lamp',
    ).send({ power: 'on' });
    assert.equal(result.class, 'signedOut');
    assert.match(result.detail, detail);
    assert.ok(!result.detail.includes('client-secret-1'));
    assert.equal(server.received.length, 1);
  });
}

test('an API that turns away each new token is asked for one, not for one a command', async (t) => {
  let tokens = 0;
  const server = await serveHttp(t, ({ path }, response) => {
    if (path === '/token')
      json(response, 200, {
        access_token: `token-number-${++tokens}`,
        token_type: 'bearer',
        expires_in: 3600,
      });
    else json(response, 401, {});
  });
  const lamp = (await openAll(oauthDevice(server.baseUrl), { SECRET: 'client-secret-1' }))('lamp');
  const results = [
    await lamp.send({ power: 'on' }),
    await lamp.send({ power: 'on' }),
    await lamp.send({ power: 'on' }),
  ];
  assert.deepEqual(
    results.map((result) => result.class),
    ['signedOut', 'signedOut', 'signedOut'],
  );
  assert.match(results[0]?.detail ?? '', /its API turns that sign-in away/);
  assert.equal(tokens, 1);
});

test('what only the text of a reply calls signed out is sent again where that does no harm, and else read back', async (t) => {
  let tokens = 0;
  const server = await serveHttp(t, ({ path, headers }, response) => {
    if (path === '/token')
      json(response, 200, { access_token: `token-number-${++tokens}`, token_type: 'bearer' });
    else
      json(response, 200, {
        code: headers.authorization === 'Bearer token-number-1' && tokens < 2 && path !== '/warm' ? 1010 : 0,
      });
  });
  const reply = ', reply: { signedOut: body.code = 1010 }';
  const pulse = (
    await openAll(oauthDevice(server.baseUrl, reply, 'kind: pulse'), { SECRET: 'client-secret-1' })
  )('lamp');
  // An old token, as far as this process knows, is one that has worked.
  const warm = await pulse.adapter.read(
    {
      ...pulse.device,
      read: pulse.device.read && {
        ...pulse.device.read,
        requests: {
          body: { method: 'GET', path: '/warm', headers: {}, body: null, as: 'json', topic: null },
        },
      },
    },
    { desired: null, before: null, kept: {}, baselineDeviceAt: null },
    new AbortController().signal,
  );
  assert.equal(warm.sample.trouble, null);
  const sent = await pulse.send({ power: 'on' });
  assert.deepEqual([sent.class, sent.acknowledged], ['maybe', false]);
  assert.match(sent.detail, /HTTP 200, but it says that we were signed out; it was not sent again/);
  assert.equal(server.received.filter(({ method }) => method === 'PUT').length, 1);
});

test('a send that is turned away once and may have acted at its second attempt ends as maybe, not as unsent', async (t) => {
  let tokens = 0;
  let sends = 0;
  const server = await serveHttp(t, ({ path, method }, response) => {
    if (path === '/token')
      json(response, 200, { access_token: `token-number-${++tokens}`, token_type: 'bearer' });
    else if (method === 'GET') json(response, 200, { power: 'off' });
    else json(response, ++sends === 1 ? 401 : 200, { code: 1010 });
  });
  const reply = ', reply: { signedOut: "status = 401 or body.code = 1010" }';
  const yaml = oauthDevice(server.baseUrl, reply, 'kind: pulse');
  const lamp = (await openAll(yaml, { SECRET: 'client-secret-1' }))('lamp');
  // So that the token is one that has worked.
  await lamp.read();
  const sent = await lamp.send({ power: 'on' });
  assert.deepEqual([sends, tokens], [2, 2]);
  assert.equal(sent.class, 'maybe');
  assert.match(sent.detail, /HTTP 200, but it says that we were signed out; it was not sent again/);
});

function oauthDevice(baseUrl: string, connection = '', step = 'repeatable: true'): string {
  return `
version: 1
connections: { cloud: { kind: http, baseUrl: "${baseUrl}", timeout: 1s, auth: { oauth: { tokenUrl: "${baseUrl}/token", clientId: readback, clientSecret: "\${SECRET}" } }${connection} } }
devices: { lamp: { connection: cloud, send: { request: PUT /lamp, ${step} }, read: GET /lamp, fields: { power: onoff } } }
`;
}
