import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { createHiding } from '../../../activities/sign-in/hiding.ts';
import { json, serveHttp } from '../loopback-server.ts';
import { openAll } from '../opened.ts';

test('a PIN is hidden where it stands alone, and no number that holds its digits is touched', () => {
  const hiding = createHiding([], ['4711', '482913']);
  assert.deepEqual(
    hiding.json({
      code: '4711',
      n: 4711,
      list: ['x', 482913],
      said: 'code 4711 taken (482913)',
      at: 1748291300000,
      id: 'a4711b',
      t: 47.11,
    }),
    {
      code: '•••',
      n: '•••',
      list: ['x', '•••'],
      said: 'code ••• taken (•••)',
      at: 1748291300000,
      id: 'a4711b',
      t: 47.11,
    },
  );
  assert.equal(hiding.source('{"at":1748291300000,"n":4711}'), '{"at":1748291300000,"n":4711}');
});

test('what signs us in is hidden in every spelling, but not a word so short that readings are full of it', () => {
  const hiding = createHiding(['on', 'to"ken/1']);
  const shown = hiding.text('on to"ken/1 to%22ken%2F1 to%22ken%2f1 to\\"ken/1 dG8ia2VuLzE=');
  assert.equal(shown, 'on ••• ••• ••• ••• •••=');
  hiding.add('fresh-token');
  assert.equal(hiding.text('Bearer fresh-token'), 'Bearer •••');
});

test('property: a random secret of any kind comes out of no reply', () => {
  const secret = fc
    .string({ minLength: 4, maxLength: 40, unit: 'grapheme-ascii' })
    .filter((text) => text.trim() === text && /\S{4}/.test(text));
  fc.assert(
    fc.property(secret, fc.string(), (pin, noise) => {
      const hiding = createHiding([], [pin]);
      const reply = {
        echo: pin,
        nested: [{ [pin]: pin }],
        said: `: ${pin} .`,
        noise: `${noise} ${pin} ${noise}`,
      };
      const shown = JSON.stringify(hiding.json(JSON.parse(hiding.source(JSON.stringify(reply)))));
      assert.ok(!(JSON.parse(shown) as typeof reply).echo.includes(pin), shown);
      assert.ok(!(JSON.parse(shown) as typeof reply).said.includes(pin), shown);
    }),
  );
});

const lock = (baseUrl: string, as = 'json', body = '{ state: =$wire.lock, pin: =$secret.pin }'): string => `
version: 1
connections: { api: { kind: http, baseUrl: "${baseUrl}", secrets: { pin: "\${PIN}" } } }
devices:
  door:
    connection: api
    send: { request: PUT /door, as: ${as}, body: ${body} }
    read: GET /door
    fields: { lock: { type: enum, values: [locked, unlocked], read: body.state } }
`;

for (const [as, expected] of [
  ['json', '{"state":"unlocked","pin":"48\\"29&13"}'],
  ['form', 'state=unlocked&pin=48%2229%2613'],
] as const) {
  test(`a secret goes into a ${as} body as it is, and into nothing that comes back`, async (t) => {
    const server = await serveHttp(t, ({ body, method }, response) =>
      json(
        response,
        method === 'PUT' ? 400 : 200,
        { state: 'locked', got: body, pin: '48"29&13', hint: 'wrong: 48"29&13' },
        { 'x-echo': body },
      ),
    );
    const door = (await openAll(lock(server.baseUrl, as), { PIN: '48"29&13' }))('door');
    const told = JSON.stringify([await door.send({ lock: 'unlocked' }), await door.read()]);
    assert.equal(server.received[0]?.body, expected);
    for (const form of ['48"29&13', '48\\"29&13', '48%2229%2613'])
      assert.ok(!told.includes(JSON.stringify(form).slice(1, -1)), told);
    assert.match(told, /•••/);
  });
}

test('a text that a caller gives is no way to the secret', async (t) => {
  const server = await serveHttp(t, (_request, response) => json(response, 200, {}));
  const open = await openAll(
    lock(server.baseUrl)
      .replace('fields: {', 'fields: { text: text,')
      .replace('{ state: =$wire.lock, pin: =$secret.pin }', '{ text: =$wire.text, pin: =$secret.pin }'),
    { PIN: '482913' },
  ).catch(() => null);
  assert.ok(open);
  await open('door').send({ text: '=$secret.pin •••' });
  assert.equal(server.received[0]?.body, '{"text":"=$secret.pin •••","pin":"482913"}');
});
