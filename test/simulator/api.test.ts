/** How the API in front of a device behaves: routes, shapes, limits, sign-in, and replies that go wrong. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { simulate } from './talking-to-devices.ts';

const lamp = { state: { power: 'off' } };
const on = { power: 'on' };

test('routes and shapes of a device’s own: a list read, a request a field, values in path, query and form', async (t) => {
  const unit = (id: string) => ({
    state: { mode: 'cool', setpoint: 24 },
    labels: { id },
    shape: { id: '$id', settings: { mode: '$mode', temp: '$setpoint' } },
    routes: [
      { request: 'GET /units', read: 'list' },
      { request: `GET /units/${id}/setpoint`, read: 'one', shape: { value: '$setpoint' } },
      { request: `PATCH /units/${id}/mode`, send: { mode: 'change.to' } },
      { request: `POST /units/${id}/setpoint/{setpoint}`, send: {} },
      { request: `POST /units/${id}/set?temp={setpoint}` },
      { request: `POST /units/${id}/form`, send: { mode: 'm', setpoint: 't' } },
      { request: `POST /units/${id}/poll`, action: 'refresh' },
    ],
  });
  const house = await simulate(t, {
    one: unit('1'),
    two: unit('2'),
    three: { ...unit('3'), unlisted: true },
  });
  const form = new URLSearchParams({ m: 'heat', t: '19' });
  await house.request('PATCH', '/units/1/mode', { change: { to: 'dry' }, other: 1 });
  await house.request('POST', '/units/1/setpoint/21.5');
  assert.deepEqual((await house.request('GET', '/units')).body, [
    { id: '1', settings: { mode: 'dry', temp: 21.5 } },
    { id: '2', settings: { mode: 'cool', temp: 24 } },
  ]);
  await house.request('POST', '/units/2/set?temp=20');
  assert.deepEqual((await house.request('GET', '/units/2/setpoint')).body, { value: 20 });
  await house.request('POST', '/units/2/form', undefined, { body: form });
  assert.deepEqual(await house.read('two'), { id: '2', settings: { mode: 'heat', temp: 19 } });
  await house.request('POST', '/units/1/poll');
  assert.equal((await house.device('one')).counters.refreshes, 1);
  assert.equal((await house.request('POST', '/units/1/set')).status, 404);
});

test('a list may word its items in its own way', async (t) => {
  const plug = { ...lamp, routes: [{ request: 'GET /plugs', read: 'list', shape: { relay: '$power' } }] };
  const house = await simulate(t, { one: plug, two: { ...plug, shape: { state: '$power' } } });
  assert.deepEqual((await house.request('GET', '/plugs')).body, [{ relay: 'off' }, { relay: 'off' }]);
  assert.deepEqual(await house.read('two'), { state: 'off' });
});

test('a query that a route names must be there', async (t) => {
  const relay = { state: { turn: 'off' }, routes: [{ request: 'POST /relay?channel=0&turn={turn}' }] };
  const house = await simulate(t, { relay });
  assert.equal((await house.request('POST', '/relay?channel=1&turn=on')).status, 404);
  assert.equal((await house.request('POST', '/relay?channel=0&turn=on')).status, 200);
  assert.deepEqual(await house.read('relay'), { turn: 'on' });
});

test('the root says which devices and routes there are', async (t) => {
  const house = await simulate(t, { lamp });
  const { status, body } = await house.request('GET', '/');
  assert.deepEqual([status, body.devices], [200, ['lamp']]);
});

test('an unknown path says which devices and routes there are', async (t) => {
  const house = await simulate(t, { lamp });
  const answer = await house.request('GET', '/devices/lmap');
  assert.equal(answer.status, 404);
  assert.deepEqual(answer.body.devices, ['lamp']);
  assert.ok(answer.body.routes.includes('PUT /devices/{id}'));
});

test('an error status acts only where it says so', async (t) => {
  const house = await simulate(t, {
    before: { ...lamp, onSend: { status: 503 } },
    after: { ...lamp, onSend: { status: 500, acts: 'at-once', body: { error: 'late failure' } } },
    refusing: { ...lamp, onSend: { status: 403, body: { error: 'child lock' } } },
    lying: { ...lamp, onSend: { acts: 'never' } },
  });
  const outcome = async (id: string) => [(await house.send(id, on)).status, (await house.read(id)).power];
  assert.deepEqual(await outcome('before'), [503, 'off']);
  assert.deepEqual(await outcome('after'), [500, 'on']);
  assert.deepEqual(await outcome('refusing'), [403, 'off']);
  assert.deepEqual(await outcome('lying'), [200, 'off']);
  assert.deepEqual((await house.device('before')).counters.sends, { arrived: 1, acted: 0, turnedAway: 0 });
  assert.deepEqual((await house.device('after')).counters.sends, { arrived: 1, acted: 1, turnedAway: 0 });
});

test('a list of conducts is used up in order, sends and reads apart', async (t) => {
  const house = await simulate(t, {
    lamp: {
      ...lamp,
      onSend: [
        { times: 2, status: 500 },
        { times: 1, status: 502 },
      ],
      onRead: { times: 1, status: 504 },
    },
  });
  const sent = [];
  for (let n = 0; n < 4; n++) sent.push((await house.send('lamp', on)).status);
  const read = [];
  for (let n = 0; n < 2; n++) read.push((await house.request('GET', '/devices/lamp')).status);
  assert.deepEqual(
    [sent, read],
    [
      [500, 500, 502, 200],
      [504, 200],
    ],
  );
});

test('drops tears the connection before, losesReply after the device acted', async (t) => {
  const house = await simulate(t, {
    before: { ...lamp, onSend: { drops: true } },
    after: { ...lamp, onSend: { losesReply: true } },
  });
  await assert.rejects(house.send('before', on), TypeError);
  await assert.rejects(house.send('after', on), TypeError);
  assert.deepEqual(
    [await house.read('before'), await house.read('after')],
    [{ power: 'off' }, { power: 'on' }],
  );
  assert.equal((await house.device('after')).received[0]?.answer, 'torn');
});

test('hangs answers after real time, having acted at once', async (t) => {
  const house = await simulate(t, { lamp: { ...lamp, onSend: { hangs: '1500ms' } } });
  const startedAt = performance.now();
  let answered = false;
  const answer = house.send('lamp', on).finally(() => (answered = true));
  await house.request('GET', '/admin/devices');
  while ((await house.read('lamp')).power === 'off') assert.ok(!answered);
  assert.ok(!answered, 'it acts before it answers');
  assert.equal((await answer).status, 200);
  assert.ok(performance.now() - startedAt >= 1490);
});

test('down on the shared port: torn before it is read, nothing counted as arrived', async (t) => {
  const house = await simulate(t, { lamp: { ...lamp, down: true }, other: lamp });
  await assert.rejects(house.send('lamp', on), TypeError);
  assert.equal((await house.send('other', on)).status, 200);
  const { counters, received } = await house.device('lamp');
  assert.deepEqual([counters.sends.arrived, counters.dropped, received.length], [0, 1, 0]);
});

test('down with a port of its own: the connection is refused, and taken again later at the same port', async (t) => {
  const house = await simulate(t, { lamp: { ...lamp, port: 0 }, other: lamp });
  const url = `${house.deviceUrls.lamp}/devices/lamp`;
  const reach = () =>
    fetch(url).then(
      ({ status }) => status,
      (error) => error.cause?.code,
    );
  const until = async (expected: unknown) => {
    const deadline = performance.now() + 5000;
    while ((await reach()) !== expected) assert.ok(performance.now() < deadline, `never ${String(expected)}`);
  };
  assert.equal(await reach(), 200);
  assert.equal((await fetch(`${house.deviceUrls.lamp}/devices/other`)).status, 404);
  await house.admin('PATCH', '/devices/lamp/behaviour', { down: true });
  await until('ECONNREFUSED');
  await house.admin('PATCH', '/devices/lamp/behaviour', { down: false });
  await until(200);
});

test('a limit of one device answers 429 with Retry-After, and counts that as turned away', async (t) => {
  const house = await simulate(t, {
    lamp: { ...lamp, limit: { requests: 1, per: '10s', retryAfter: true } },
  });
  assert.equal((await house.send('lamp', on)).status, 200);
  await house.advance('4s');
  const over = await house.request('GET', '/devices/lamp');
  assert.deepEqual([over.status, over.headers.get('retry-after')], [429, '6']);
  await house.advance('6s');
  assert.deepEqual(await house.read('lamp'), { power: 'on' });
  assert.deepEqual((await house.device('lamp')).counters.reads, { arrived: 1, turnedAway: 1 });
});

test('sign-in by bearer, basic, header or query, else 401; and no secret is recorded', async (t) => {
  const basic = `Basic ${Buffer.from('user:pass').toString('base64')}`;
  const ways: [object, string, Record<string, string>][] = [
    [{ bearer: 'token-1' }, '', { authorization: 'Bearer token-1' }],
    [{ basic: { username: 'user', password: 'pass' } }, '', { authorization: basic }],
    [{ header: { 'X-Api-Key': 'key-1' } }, '', { 'x-api-key': 'key-1' }],
    [{ query: { apiKey: 'key-2' } }, '?apiKey=key-2', {}],
  ];
  for (const [auth, query, headers] of ways) {
    const house = await simulate(t, { lamp: { ...lamp, auth } });
    assert.equal((await house.send('lamp', on)).status, 401);
    const signedIn = await house.request('PUT', `/devices/lamp${query}`, on, { headers });
    assert.equal(signedIn.status, 200);
    const { counters, received } = await house.device('lamp');
    assert.deepEqual(counters.sends, { arrived: 1, acted: 1, turnedAway: 1 });
    for (const secret of ['token-1', basic, 'key-1', 'key-2'])
      assert.ok(!JSON.stringify(received).includes(secret));
  }
});

test('honoursKey acts once for one idempotency key', async (t) => {
  const house = await simulate(t, {
    relay: { state: { count: 0 }, actions: { pulse: { counts: 'count' } }, honoursKey: 'Idempotency-Key' },
  });
  const pulse = (key: string) =>
    house.request('POST', '/devices/relay/pulse', undefined, { headers: { 'idempotency-key': key } });
  await pulse('a');
  assert.equal((await pulse('a')).status, 200);
  await pulse('b');
  assert.deepEqual(await house.read('relay'), { count: 2 });
  assert.deepEqual((await house.device('relay')).counters.sends, { arrived: 3, acted: 2, turnedAway: 0 });
});

test('bodies that no client expects', async (t) => {
  const oddities = ['html', 'empty', 'truncated', 'nan', 'huge', 'redirect'];
  const meter = { state: { power: 1.5, name: 'meter' } };
  const house = await simulate(
    t,
    Object.fromEntries(oddities.map((oddity) => [oddity, { ...meter, onRead: { oddity } }])),
  );
  const read = async (id: string) => house.request('GET', `/devices/${id}`);
  const html = await read('html');
  assert.deepEqual([html.status, html.headers.get('content-type'), html.body], [200, 'text/html', undefined]);
  assert.equal((await read('empty')).text, '');
  const whole = '{"power":1.5,"name":"meter"}';
  const { text } = await read('truncated');
  assert.ok(text.length > 0 && text.length < whole.length && whole.startsWith(text));
  assert.equal((await read('nan')).text, '{"power":NaN,"name":"meter"}');
  assert.ok((await read('huge')).text.length > 5_000_000);
  const redirect = await read('redirect');
  assert.deepEqual(
    [redirect.status, redirect.headers.get('location')],
    [302, 'http://localhost:9/elsewhere'],
  );
});

test('drip sends one character at a time', async (t) => {
  const house = await simulate(t, { meter: { state: { power: 1 }, onRead: { oddity: 'drip' } } });
  const response = await fetch(`${house.url}/devices/meter`);
  const chunks: string[] = [];
  for await (const chunk of response.body as unknown as AsyncIterable<Uint8Array>)
    chunks.push(Buffer.from(chunk).toString());
  assert.equal(chunks.join(''), '{"power":1}');
  assert.ok(chunks.length > 5, `came in ${chunks.length} pieces`);
});

test('a body over a megabyte is refused with 413', async (t) => {
  const house = await simulate(t, { lamp });
  assert.equal((await house.send('lamp', { power: 'x'.repeat(1_100_000) })).status, 413);
});

test('closing ends hanging requests at once', async (t) => {
  const house = await simulate(t, { lamp: { ...lamp, onSend: { hangs: '1h' } } });
  const hanging = assert.rejects(house.send('lamp', on), TypeError);
  while ((await house.device('lamp')).counters.sends.arrived === 0);
  await house.close();
  await hanging;
});
