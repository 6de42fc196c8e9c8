import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import fc from 'fast-check';
import type { DeviceDefinition, SendStep } from '../../domain/catalogue/definition.ts';
import { renderSend } from '../../domain/rendering.ts';
import type { Desired, Json, Reading } from '../../domain/values.ts';
import { celsius, choice, device, field, onoff, percent, readings, request, step } from './definitions.ts';

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

async function bodyOf(
  one: DeviceDefinition,
  desired: Desired,
  current: Readonly<Record<string, Reading>> = {},
): Promise<Json> {
  const rendered = await sent(one, desired, current);
  assert.ok(rendered.ok, rendered.ok ? '' : rendered.why);
  return rendered.body;
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

const withBody = (fields: Parameters<typeof device>[0], body: Json, more: Partial<SendStep> = {}) =>
  device(fields, {
    params: { id: 'A1', channel: 0 },
    send: [
      step(
        0,
        fields.map(({ name }) => name),
        { request: request('PUT /units/{id}', { body }), ...more },
      ),
    ],
  });

const power = onoff('power', {
  values: [
    { value: 'on', send: true, accepts: [true] },
    { value: 'off', send: false, accepts: [false] },
  ],
});
const hue = withBody([power, percent('brightness')], {
  on: { on: '=$wire.power' },
  dimming: { brightness: '=$wire.brightness' },
});

describe('rendering a body', () => {
  it('holds the asked fields under their keys where the catalogue gives none', async () => {
    const heater = device([onoff('power', { key: 'state' }), celsius()]);
    const rendered = await sent(heater, { temperature: 21.5 });
    assert.deepEqual(rendered, {
      ok: true,
      request: {
        method: 'PUT',
        path: '/device',
        headers: { 'content-type': 'application/json' },
        body: '{"temperature":21.5}',
      },
      body: { temperature: 21.5 },
    });
    assert.deepEqual(await bodyOf(heater, { power: 'on', temperature: 20 }), {
      state: 'on',
      temperature: 20,
    });
  });

  it('leaves out of a tree what was not asked, emptied objects too', async () => {
    assert.deepEqual(await bodyOf(hue, { brightness: 50 }), { dimming: { brightness: 50 } });
    assert.deepEqual(await bodyOf(hue, { power: 'off' }), { on: { on: false } });
    assert.deepEqual(await bodyOf(hue, { power: 'on', brightness: 5 }), {
      on: { on: true },
      dimming: { brightness: 5 },
    });
  });

  it('never shows the device a field that was not asked, for any part of the fields', async () => {
    const names = ['a', 'b', 'c', 'd'];
    const one = withBody(
      names.map((name) => field(name)),
      {
        first: { x: '=$wire.a', y: '=$wire.b' },
        second: [{ deep: { z: '=$wire.c' } }],
        kind: 'set',
        w: '=$wire.d * 2',
      },
    );
    await fc.assert(
      fc.asyncProperty(fc.subarray(names, { minLength: 1 }), async (asked) => {
        const body = JSON.stringify(await bodyOf(one, Object.fromEntries(asked.map((name) => [name, 1]))));
        const shown = { a: '"x":', b: '"y":', c: '"z":', d: '"w":' };
        for (const [name, key] of Object.entries(shown))
          assert.equal(body.includes(key), asked.includes(name), `${asked.join()} ${body}`);
        assert.ok(!body.includes('{}') && !body.includes('null'));
      }),
    );
  });

  it('keeps constants and parameters as they are written', async () => {
    const shelly = withBody([power], {
      id: '=$channel',
      on: '=$wire.power',
      source: 'readback',
      list: [1, 2],
      none: null,
      empty: {},
    });
    assert.deepEqual(await bodyOf(shelly, { power: 'on' }), {
      id: 0,
      on: true,
      source: 'readback',
      list: [1, 2],
      none: null,
      empty: {},
    });
  });

  it('sends nothing when half of the fields of one expression are asked', async () => {
    const joined = withBody([power, percent('brightness')], {
      command: '=$string($wire.power) & "," & $string($wire.brightness)',
    });
    assert.equal(
      await refusalOf(joined, { brightness: 50 }),
      'brightness can only be sent together with power',
    );
    assert.deepEqual(await bodyOf(joined, { brightness: 50, power: 'on' }), { command: 'true,50' });
  });

  it('sends a list of single values whole or not at all', async () => {
    const pair = withBody([field('x'), field('y'), field('z')], {
      at: ['=$wire.x', '=$wire.y'],
      z: '=$wire.z',
    });
    assert.deepEqual(await bodyOf(pair, { x: 1, y: 2 }), { at: [1, 2] });
    assert.deepEqual(await bodyOf(pair, { z: 3 }), { z: 3 });
    assert.match(await refusalOf(pair, { x: 1 }), /can't be sent in part/);
  });

  it('sends nothing when an expression has no value, or fails', async () => {
    assert.match(
      await refusalOf(withBody([power], { a: '=$nothing.here' }), { power: 'on' }),
      /has no value/,
    );
    assert.match(
      await refusalOf(withBody([power], { a: '=$wire.power + 1' }), { power: 'on' }),
      /the request's body/,
    );
  });
});

describe('completing a request from a fresh read', () => {
  const mode = choice('mode', { cool: 'cool', heat: 'warm', fan_only: 'blow' });
  const temperature = celsius({ key: 'temp', step: 1, appliesWhen: { mode: ['cool', 'heat'] } });
  const remo = device([power, mode, temperature], {
    send: [
      step(0, ['power', 'mode', 'temperature'], {
        fillFromCurrent: true,
        request: request('POST /settings', { as: 'form' }),
      }),
    ],
  });

  it('fills in what the device has, in the device’s words', async () => {
    const rendered = await sent(
      remo,
      { temperature: 22 },
      readings({ power: 'on', mode: 'heat', temperature: 20 }),
    );
    assert.ok(rendered.ok);
    assert.equal(rendered.request.body, 'power=true&mode=warm&temp=22');
    assert.equal(rendered.request.headers['content-type'], 'application/x-www-form-urlencoded');
  });

  it('sends nothing when what has to be filled in can’t be read', async () => {
    const current = {
      ...readings({ power: 'on', temperature: 20 }),
      mode: { kind: 'unreadable', why: 'HTTP 503' } as const,
    };
    assert.equal(
      await refusalOf(remo, { temperature: 22 }, current),
      "the request has to hold mode as it is, and it can't be read (HTTP 503)",
    );
    assert.match(await refusalOf(remo, { temperature: 22 }, {}), /power as it is/);
  });

  it('never fills in an action, which nobody asked for', async () => {
    const beep = field('beep', { type: 'action', read: null });
    const one = device([power, mode, beep], {
      send: [step(0, ['power', 'mode', 'beep'], { fillFromCurrent: true })],
    });
    const current = readings({ power: 'off', mode: 'heat', beep: false });
    assert.deepEqual(await bodyOf(one, { power: 'on' }, current), { power: true, mode: 'warm' });
    assert.deepEqual(await bodyOf(one, { power: 'on', beep: true }, current), {
      power: true,
      mode: 'warm',
      beep: true,
    });
  });

  it('leaves out what does not apply to the state that is asked for', async () => {
    const current = readings({ power: 'on', mode: 'cool', temperature: 20 });
    assert.deepEqual(await bodyOf(remo, { mode: 'fan_only' }, current), { power: true, mode: 'blow' });
    const fanOnly: Record<string, Reading> = {
      ...readings({ power: 'on', mode: 'fan_only' }),
      temperature: { kind: 'notApplicable', why: '' },
    };
    assert.deepEqual(await bodyOf(remo, { mode: 'cool' }, fanOnly), { power: true, mode: 'cool' });
  });
});

describe('a request that uses another field', () => {
  const mode = choice('mode', { cool: 'cooling', heat: 'heating' });
  const ac = withBody(
    [celsius()],
    { value: '=$wire.temperature', path: '="/modes/" & $wire.mode' },
    { uses: ['mode'], for: ['temperature'] },
  );
  const split = { ...ac, fields: { ...ac.fields, mode } };

  it('takes it as it is, or as the same command sets it', async () => {
    assert.deepEqual(await bodyOf(split, { temperature: 22 }, readings({ mode: 'heat' })), {
      value: 22,
      path: '/modes/heating',
    });
    assert.deepEqual(await bodyOf(split, { temperature: 22, mode: 'cool' }, readings({ mode: 'heat' })), {
      value: 22,
      path: '/modes/cooling',
    });
  });

  it('is not sent while that field can’t be read', async () => {
    assert.equal(
      await refusalOf(split, { temperature: 22 }),
      "the request needs the present mode, and it can't be read (not read)",
    );
  });
});
