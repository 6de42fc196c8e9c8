import assert from 'node:assert/strict';
import { test } from 'node:test';
import { heater, SECRET } from './heater.ts';
import { json, serveHttp } from './loopback-server.ts';
import { openAll } from './opened.ts';

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
