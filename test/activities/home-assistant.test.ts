import assert from 'node:assert/strict';
import { test } from 'node:test';
import { closedPort, json, type LoopbackServer, serveHttp } from './loopback-server.ts';
import { type Opened, openAll } from './opened.ts';

/** What a real Home Assistant does is shown in test/home-assistant; here is what it can't be made to do. */
async function entities(baseUrl: string): Promise<(id: string) => Opened> {
  return openAll(
    `
version: 1
connections: { house: { kind: home-assistant, baseUrl: "${baseUrl}", timeout: 500ms, auth: { bearer: "\${HA}" } } }
devices: { hvac: { connection: house, entity: climate.hvac }, plug: { connection: house, entity: switch.plug } }
`,
    { HA: 'a-long-lived-token' },
  );
}

const paths = ({ received }: LoopbackServer) => received.map(({ path }) => path);
const temperatureStep = ({ device }: Opened) =>
  device.send.findIndex((step) => step.for.includes('temperature'));

test('the unit of the instance is asked for once, and only for what has a temperature', async (t) => {
  const server = await serveHttp(t, ({ path }, response) =>
    path === '/api/config'
      ? json(response, 200, { unit_system: { temperature: '°F' } })
      : json(response, 200, { state: 'cool', attributes: { temperature: 77 } }),
  );
  const open = await entities(server.baseUrl);
  await open('plug').read();
  assert.deepEqual(paths(server), ['/api/states/switch.plug']);
  for (let n = 0; n < 2; n++) {
    const { sample } = await open('hvac').read();
    assert.deepEqual(sample.fields['temperature'], { kind: 'value', value: 25 });
  }
  assert.deepEqual(paths(server).slice(1), [
    '/api/config',
    '/api/states/climate.hvac',
    '/api/states/climate.hvac',
  ]);
});

test('a temperature is neither read nor sent while its unit is unknown', async (t) => {
  const server = await serveHttp(t, (_request, response) =>
    json(response, 200, { state: 'cool', attributes: {} }),
  );
  const hvac = (await entities(server.baseUrl))('hvac');
  const { sample } = await hvac.read();
  assert.match(
    sample.trouble ?? '',
    /GET \/api\/config was answered with HTTP 200 and no unit; is this a Home Assistant\?/,
  );
  const sent = await hvac.send({ temperature: 21 }, { step: temperatureStep(hvac) });
  assert.equal(sent.class, 'unreached');
  assert.deepEqual(new Set(paths(server)), new Set(['/api/config']));
});

test('an instance that is down is unreached, and one that hangs over the question for its unit is too: nothing was sent', async (t) => {
  const down = (await entities(`http://127.0.0.1:${await closedPort()}`))('hvac');
  assert.equal((await down.send({ temperature: 21 }, { step: temperatureStep(down) })).class, 'unreached');
  const server = await serveHttp(t, () => undefined);
  const hangs = (await entities(server.baseUrl))('hvac');
  assert.equal((await hangs.send({ temperature: 21 }, { step: temperatureStep(hangs) })).class, 'unreached');
  assert.deepEqual(paths(server), ['/api/config']);
});

test('a call that changed nothing on an unavailable entity may have been skipped', async (t) => {
  const server = await serveHttp(t, ({ method }, response) =>
    method === 'POST'
      ? json(response, 200, [])
      : json(response, 200, { state: 'unavailable', attributes: {} }),
  );
  const result = await (await entities(server.baseUrl))('plug').send({ power: 'on' });
  assert.equal(result.class, 'maybe');
  assert.match(result.detail, /switch\.plug is unavailable, and Home Assistant skips what is/);
});

test('a call that changed nothing stays acknowledged where the entity can not be looked at', async (t) => {
  const server = await serveHttp(t, ({ method }, response) =>
    method === 'POST' ? json(response, 200, []) : json(response, 502, {}),
  );
  assert.equal((await (await entities(server.baseUrl))('plug').send({ power: 'on' })).class, 'accepted');
});
