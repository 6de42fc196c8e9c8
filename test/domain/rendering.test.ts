import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import type { DeviceDefinition, SendStep } from '../../domain/catalogue/definition.ts';
import { renderRead, renderSend, renderTemplate } from '../../domain/rendering.ts';
import type { Desired, Reading } from '../../domain/values.ts';
import { choice, device, field, onoff, percent, read, request, step } from './definitions.ts';

async function sent(
  one: DeviceDefinition,
  desired: Desired,
  current: Readonly<Record<string, Reading>> = {},
  index = 0,
) {
  const chosen = one.send[index] as SendStep;
  const fields = Object.keys(desired).filter((name) => chosen.for.includes(name));
  return renderSend(one, chosen, fields, desired, current);
}

async function refusalOf(
  one: DeviceDefinition,
  desired: Desired,
  current: Readonly<Record<string, Reading>> = {},
): Promise<string> {
  const rendered = await sent(one, desired, current);
  assert.ok(!rendered.ok, 'it was rendered');
  return rendered.why;
}

const power = onoff('power', {
  values: [
    { value: 'on', send: true, accepts: [true] },
    { value: 'off', send: false, accepts: [false] },
  ],
});
describe('rendering a request', () => {
  it('puts values into the path, encoded, and not into the default body as well', async () => {
    const lock = choice('lock', { locked: 'lock', unlocked: 'un/lock' });
    const one = device([lock], { send: [step(0, ['lock'], { request: request('POST /lock/{wire.lock}') })] });
    const rendered = await sent(one, { lock: 'unlocked' });
    assert.deepEqual(rendered, {
      ok: true,
      request: { method: 'POST', path: '/lock/un%2Flock', headers: {}, body: null },
      body: null,
    });
  });

  it('sends nothing to a path that the value would leave', async () => {
    const one = device([field('name', { type: 'text' })], {
      send: [step(0, ['name'], { request: request('PUT /names/{wire.name}') })],
    });
    assert.match(await refusalOf(one, { name: '..' }), /would leave its place/);
  });

  it('lets the catalogue’s header decide the content type, and gives none without a body', async () => {
    const patch = request('PATCH /x', { headers: { 'Content-Type': 'application/merge-patch+json' } });
    const one = device([field('replicas')], { send: [step(0, ['replicas'], { request: patch })] });
    const rendered = await sent(one, { replicas: 2 });
    assert.deepEqual(rendered.ok && rendered.request.headers, {
      'content-type': 'application/merge-patch+json',
    });
    const get = device([power], {
      send: [step(0, ['power'], { request: request('GET /relay?turn={wire.power}') })],
    });
    const asked = await sent(get, { power: 'on' });
    assert.deepEqual(asked.ok && asked.request, {
      method: 'GET',
      path: '/relay?turn=true',
      headers: {},
      body: null,
    });
  });

  it('writes text and forms, and refuses a tree in a form', async () => {
    const text = device([percent('level')], {
      send: [step(0, ['level'], { request: request('POST /level', { as: 'text' }) })],
    });
    const rendered = await sent(text, { level: 40 });
    assert.equal(rendered.ok && rendered.request.body, '40');
    const form = device([percent('level')], {
      send: [
        step(0, ['level'], {
          request: request('POST /level', { as: 'form', body: { a: { b: '=$wire.level' } } }),
        }),
      ],
    });
    assert.match(await refusalOf(form, { level: 40 }), /can't hold a tree under a/);
  });

  it('publishes to a topic for mqtt', async () => {
    const lamp = device([power], {
      params: { topic: 'desk' },
      send: [step(0, ['power'], { request: request('', { topic: 'zigbee2mqtt/{topic}/set' }) })],
    });
    const rendered = await sent(lamp, { power: 'on' });
    assert.deepEqual(rendered.ok && rendered.request, {
      method: 'PUBLISH',
      path: 'zigbee2mqtt/desk/set',
      headers: {},
      body: '{"power":true}',
    });
  });
});

describe('rendering what carries no field', () => {
  const one = device([power], {
    params: { id: 'a b' },
    read: read({
      requests: {
        state: request('GET /units/{id}'),
        job: request('POST /jobs/{kept.job}', { body: { unit: '=$id' } }),
      },
      single: false,
    }),
  });

  it('renders each request of a read by its name', async () => {
    const rendered = await renderRead(one, { job: 7 });
    assert.deepEqual(rendered, {
      ok: true,
      requests: {
        state: { method: 'GET', path: '/units/a%20b', headers: {}, body: null },
        job: {
          method: 'POST',
          path: '/jobs/7',
          headers: { 'content-type': 'application/json' },
          body: '{"unit":"a b"}',
        },
      },
    });
  });

  it('says what keeps a read from being made', async () => {
    const rendered = await renderRead(one, {});
    assert.deepEqual(rendered, { ok: false, why: '{kept.job} in /jobs/{kept.job} has no value' });
    assert.equal((await renderRead(one, { job: '..' })).ok, false);
  });

  it('renders a refresh without any body', async () => {
    const rendered = await renderTemplate(one, request('POST /units/{id}/poll'), {});
    assert.deepEqual(rendered.ok && rendered.request, {
      method: 'POST',
      path: '/units/a%20b/poll',
      headers: {},
      body: null,
    });
  });
});
