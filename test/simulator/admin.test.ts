/** What the admin calls show and change. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { simulate } from './talking-to-devices.ts';

const ac = { about: 'An air conditioner.', state: { power: 'off', temperature: 24 } };

test('shows what reached a device: exact counts, and each body as it came', async (t) => {
  const house = await simulate(t, { ac, other: ac });
  await house.send('ac', { temperature: 26 });
  await house.read('ac');
  await house.read('ac');
  const { counters, received, reading } = await house.device('ac');
  assert.deepEqual(counters, {
    requests: 3,
    sends: { arrived: 1, acted: 1, turnedAway: 0 },
    reads: { arrived: 2, turnedAway: 0 },
    refreshes: 0,
    wakes: 0,
    dropped: 0,
  });
  assert.deepEqual(reading, { power: 'off', temperature: 26 });
  assert.deepEqual(
    received.map(({ purpose, method, path, body, acted, answer }) => ({
      purpose,
      method,
      path,
      body,
      acted,
      answer,
    })),
    [
      {
        purpose: 'send',
        method: 'PUT',
        path: '/devices/ac',
        body: '{"temperature":26}',
        acted: true,
        answer: 200,
      },
      { purpose: 'read', method: 'GET', path: '/devices/ac', body: '', acted: false, answer: 200 },
      { purpose: 'read', method: 'GET', path: '/devices/ac', body: '', acted: false, answer: 200 },
    ],
  );
  const all = (await house.admin('GET', '/devices')).body;
  assert.deepEqual(
    all.map(
      ({
        id,
        about,
        counters: { requests },
      }: {
        id: string;
        about: string;
        counters: { requests: number };
      }) => [id, about, requests],
    ),
    [
      ['ac', ac.about, 3],
      ['other', ac.about, 0],
    ],
  );
});

test('looking through the admin calls counts nothing', async (t) => {
  const house = await simulate(t, { ac });
  await house.device('ac');
  assert.equal((await house.device('ac')).counters.requests, 0);
});

test('keeps the latest 200 requests and 4096 characters of each, and counts on', async (t) => {
  const house = await simulate(t, { ac });
  await house.send('ac', { power: 'x'.repeat(5000) });
  assert.equal((await house.device('ac')).received[0]?.body.length, 4096);
  for (let n = 0; n < 205; n++) await house.read('ac');
  const { counters, received } = await house.device('ac');
  assert.deepEqual([counters.reads.arrived, received.length], [205, 200]);
});

test('sets a state as if somebody had done it at the device', async (t) => {
  const house = await simulate(t, { ac: { ...ac, follows: '1h' } });
  await house.send('ac', { temperature: 26 });
  await house.admin('PATCH', '/devices/ac/state', { temperature: 19 });
  assert.deepEqual(await house.read('ac'), { power: 'off', temperature: 19 });
  await house.advance('1h');
  assert.deepEqual(await house.read('ac'), { power: 'off', temperature: 19 });
});

test('changes how a device behaves; null takes an option away', async (t) => {
  const house = await simulate(t, { ac });
  await house.admin('PATCH', '/devices/ac/behaviour', {
    ignores: true,
    fields: { power: { ignores: false } },
  });
  await house.send('ac', { temperature: 26, power: 'on' });
  assert.deepEqual(await house.read('ac'), { power: 'on', temperature: 24 });
  await house.admin('PATCH', '/devices/ac/behaviour', { ignores: null });
  await house.send('ac', { temperature: 26 });
  assert.deepEqual(await house.read('ac'), { power: 'on', temperature: 26 });
});

test('a changed behaviour counts its conducts from the beginning', async (t) => {
  const house = await simulate(t, { ac });
  await house.send('ac', { power: 'on' });
  await house.admin('PATCH', '/devices/ac/behaviour', { onSend: { times: 1, status: 500 } });
  const sent = [
    (await house.send('ac', { power: 'on' })).status,
    (await house.send('ac', { power: 'on' })).status,
  ];
  assert.deepEqual(sent, [500, 200]);
});

test('plays a script from now on', async (t) => {
  const house = await simulate(t, { ac });
  await house.advance('1h');
  const script = [
    { after: '2s', set: { temperature: 18 } },
    { after: '1s', set: { temperature: 17 } },
  ];
  await house.admin('POST', '/devices/ac/script', script);
  await house.advance('1s');
  assert.deepEqual(await house.read('ac'), { power: 'off', temperature: 17 });
  await house.advance('1s');
  assert.deepEqual(await house.read('ac'), { power: 'off', temperature: 18 });
});

test('reset brings back states, behaviours and counters', async (t) => {
  const house = await simulate(t, { ac: { ...ac, limit: { requests: 2, per: '1h' } } });
  await house.send('ac', { temperature: 26 });
  await house.send('ac', { temperature: 27 });
  await house.admin('PATCH', '/devices/ac/behaviour', { ignores: true });
  await house.admin('POST', '/reset');
  const { counters, received, reading } = await house.device('ac');
  assert.deepEqual([counters.requests, received, reading], [0, [], ac.state]);
  assert.equal((await house.send('ac', { temperature: 28 })).status, 200);
  assert.deepEqual(await house.read('ac'), { power: 'off', temperature: 28 });
});

test('a wrong call is refused by name, and nothing changes', async (t) => {
  const house = await simulate(t, { ac });
  const wrong: [string, string, unknown, number, RegExp][] = [
    [
      'PATCH',
      '/devices/ac/behaviour',
      { folows: '4s' },
      400,
      /devices\.ac\.folows: there is no such option; did you mean follows\?/,
    ],
    ['PATCH', '/devices/ac/behaviour', { follows: 4 }, 400, /devices\.ac\.follows: /],
    [
      'PATCH',
      '/devices/ac/behaviour',
      { state: { power: 'on' } },
      400,
      /PATCH \/admin\/devices\/\{id\}\/state/,
    ],
    ['PATCH', '/devices/ac/state', { powr: 'on' }, 400, /"powr".*power, temperature/],
    [
      'POST',
      '/devices/ac/script',
      [{ after: '1s', behaviour: { ignore: true } }],
      400,
      /did you mean ignores\?/,
    ],
    ['POST', '/advance', { by: 5 }, 400, /body\.by/],
    ['GET', '/devices/ca', undefined, 404, /no device "ca"; there are ac/],
    ['GET', '/nothing', undefined, 404, /no such admin call/],
  ];
  for (const [method, path, body, status, error] of wrong) {
    const answer = await house.request(method, `/admin${path}`, body);
    assert.equal(answer.status, status, path);
    assert.match(answer.body.error, error);
  }
  const unparsable = await house.request('PATCH', '/admin/devices/ac/state', undefined, { body: '{' });
  assert.equal(unparsable.status, 400);
  assert.deepEqual(await house.read('ac'), ac.state);
});

test('another web page may not call it', async (t) => {
  const house = await simulate(t, { ac });
  const from = (origin: string) => house.request('POST', '/admin/reset', undefined, { headers: { origin } });
  assert.equal((await from('https://example.com')).status, 403);
  assert.equal((await from(house.url)).status, 200);
});
