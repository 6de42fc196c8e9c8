import assert from 'node:assert/strict';
import { createHash, createHmac } from 'node:crypto';
import { test } from 'node:test';
import fc from 'fast-check';
import { createSigner } from '../../../activities/sign-in/signature.ts';
import type { SignScheme } from '../../../domain/catalogue/auth-definition.ts';
import { json, serveHttp } from '../loopback-server.ts';
import { openAll } from '../opened.ts';
import { whyNotGenuine } from '../standard-webhooks.ts';
import { startGate } from './account.ts';

const SECRET = 'signing-secret-1';
const environment = { SECRET, TOKEN: 'account-token-1' };

test('a signature is over exactly what is sent, with a time and a nonce of its own', async (t) => {
  const gate = await startGate(t, {
    account: {
      sign: {
        secret: SECRET,
        over: '{method}\n{path}\n{timestamp}\n{nonce}\n{body}',
        header: 'x-signature',
        timestamp: { header: 'x-timestamp', in: 'seconds', within: '1m' },
        nonce: 'x-nonce',
      },
    },
    auth: 'sign: { preset: request-hmac, secret: "${SECRET}", over: "{method}\\n{path}\\n{timestamp}\\n{nonce}\\n{body}", headers: { x-signature: "{signature}", x-timestamp: "{timestamp}", x-nonce: "{nonce}" } }',
    environment,
  });
  const worker = await gate.worker();
  assert.equal((await worker.send('on')).class, 'accepted');
  assert.equal((await worker.send('on')).class, 'accepted');
  // A read's query is signed with it.
  assert.equal((await worker.read()).sample.trouble, null);
  assert.deepEqual(await gate.counts(), { sends: 2, turnedAway: 0, granted: 0, refused: 0 });
});

test('a wrong secret is turned away, and nothing was done', async (t) => {
  const gate = await startGate(t, {
    account: { sign: { secret: 'another-secret', over: '{body}', header: 'x-signature' } },
    auth: 'sign: { preset: body-hmac, secret: "${SECRET}" }',
    environment,
  });
  const result = await (await gate.worker()).send('on');
  assert.deepEqual([result.class, result.detail], ['signedOut', 'HTTP 401']);
  assert.equal((await gate.counts()).sends, 0);
});

test('switchbot: token, time and nonce under an HMAC in base64', async (t) => {
  const server = await serveHttp(t, (_request, response) => json(response, 200, { power: 'on' }));
  const open = await openAll(
    device(server.baseUrl, 'preset: switchbot, token: "${TOKEN}", secret: "${SECRET}"'),
    environment,
  );
  await open('lamp').send({ power: 'on' });
  const [request] = server.received;
  assert.ok(request);
  const { authorization, t: time, nonce, sign } = request.headers;
  assert.equal(authorization, 'account-token-1');
  assert.match(String(time), /^\d{13}$/);
  assert.equal(
    sign,
    createHmac('sha256', SECRET)
      .update(`account-token-1${String(time)}${String(nonce)}`)
      .digest('base64'),
  );
});

test('tuya: the whole request, under a token that a signed request has brought', async (t) => {
  const sign = (text: string) => createHmac('sha256', SECRET).update(text).digest('hex').toUpperCase();
  let given = 0;
  const server = await serveHttp(t, ({ method, path, headers, body }, response) => {
    const { client_id: id, access_token: token = '', t: time, nonce } = headers;
    const hash = createHash('sha256').update(body).digest('hex');
    const [pathname, query] = path.split('?');
    const sorted = query === undefined ? pathname : `${pathname}?${query.split('&').sort().join('&')}`;
    const expected = sign(
      `${String(id)}${String(token)}${String(time)}${String(nonce)}${method}\n${hash}\n\n${sorted}`,
    );
    if (headers['sign'] !== expected) json(response, 200, { success: false, code: 1004 });
    else if (pathname === '/v1.0/token')
      json(response, 200, {
        success: true,
        result: { access_token: `tuya-token-${++given}`, expire_time: 7200 },
      });
    else if (token !== `tuya-token-${given}`) json(response, 200, { success: false, code: 1010 });
    else json(response, 200, { success: true, power: 'on' });
  });
  const open = await openAll(
    device(
      server.baseUrl,
      'preset: tuya, clientId: "${TOKEN}", secret: "${SECRET}"',
      ', reply: { signedOut: body.code = 1010, refused: body.success = false }',
    ),
    environment,
  );
  assert.equal((await open('lamp').send({ power: 'on' })).class, 'accepted');
  assert.equal((await open('lamp').read()).sample.trouble, null);
  assert.equal(given, 1);
  given += 1;
  assert.equal((await open('lamp').send({ power: 'on' })).class, 'accepted');
  assert.equal(given, 3);
});

test('standard webhooks, as their own receivers check them', async (t) => {
  const secret = 'whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw';
  const server = await serveHttp(t, (_request, response) => json(response, 200, {}));
  const open = await openAll(device(server.baseUrl, 'preset: standard-webhooks, secret: "${SECRET}"'), {
    SECRET: secret,
  });
  await open('lamp').send({ power: 'on' });
  const [request] = server.received;
  assert.ok(request);
  assert.equal(await whyNotGenuine(secret, request.headers, request.body), null);
});

test('no redirect is followed, so that no signature goes anywhere else', async (t) => {
  const server = await serveHttp(t, ({ path }, response) =>
    path.startsWith('/lamp')
      ? response.writeHead(302, { location: '/elsewhere' }).end()
      : json(response, 200, {}),
  );
  const open = await openAll(device(server.baseUrl, 'preset: body-hmac, secret: "${SECRET}"'), environment);
  assert.match(
    (await open('lamp').read()).sample.trouble ?? '',
    /it redirects to another path, which is not followed/,
  );
  assert.equal(server.received.length, 1);
});

test('a secret that is not written as the scheme says is refused at the start, without being quoted', async () => {
  await assert.rejects(
    openAll(
      device('http://127.0.0.1:1', 'preset: body-hmac, secretAs: hex, secret: "${SECRET}"'),
      environment,
    ),
    (error: Error) =>
      /connection "cloud": its signing secret is not written in hex/.test(error.message) &&
      !error.message.includes(SECRET),
  );
});

test('what a request holds can not pass for another part of it', () => {
  const scheme: SignScheme = {
    preset: null,
    over: '{method}|{body}|{token}',
    hash: 'sha256',
    encode: 'hex',
    secretAs: 'text',
    timestamp: 'seconds',
    headers: { s: '{signature}' },
    secret: SECRET,
    token: null,
    clientId: null,
    login: null,
  };
  const sign = createSigner('cloud', scheme);
  fc.assert(
    fc.property(fc.string(), (body) => {
      const text = `${body}{token}{signature}$&`;
      const request = { method: 'PUT', path: '/', host: 'x', token: 'T', body: text };
      assert.equal(sign(request)['s'], createHmac('sha256', SECRET).update(`PUT|${text}|T`).digest('hex'));
    }),
  );
});

function device(baseUrl: string, sign: string, connection = ''): string {
  return `
version: 1
connections: { cloud: { kind: http, baseUrl: "${baseUrl}", auth: { sign: { ${sign} } }${connection} } }
devices: { lamp: { connection: cloud, send: { request: PUT /lamp, repeatable: true }, read: "GET /lamp?z=1&a=2", fields: { power: onoff } } }
`;
}
