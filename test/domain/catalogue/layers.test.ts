/** What becomes of a catalogue that is right: layers merged, short forms written out, defaults filled in. */
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { catalogueOf, device, deviceOf, fields, withApi } from './loading.ts';

describe('the simplest device', () => {
  const heater = withApi(
    'devices:\n  heater: { connection: api, send: PUT /heater, read: GET /heater, fields: { power: onoff, temperature: { type: celsius, min: 5, max: 30, step: 0.5 } } }',
  );

  it('gets everything else by default', async () => {
    const { digest, fields: known, ...rest } = await deviceOf(heater, 'heater');
    assert.match(digest, /^[0-9a-f]{64}$/);
    assert.deepEqual(Object.keys(known), ['power', 'temperature']);
    assert.deepEqual(rest, {
      id: 'heater',
      name: 'heater',
      aliases: [],
      area: null,
      tags: [],
      hint: null,
      connection: 'api',
      entity: null,
      params: {},
      send: [
        {
          index: 0,
          for: ['power', 'temperature'],
          when: {},
          request: { method: 'PUT', path: '/heater', headers: {}, body: null, as: 'json', topic: null },
          fillFromCurrent: false,
          uses: [],
          kind: 'set',
          repeatable: false,
          then: { kind: 'verify' },
          keep: {},
          idempotencyHeader: null,
        },
      ],
      read: {
        requests: {
          body: { method: 'GET', path: '/heater', headers: {}, body: null, as: 'json', topic: null },
        },
        single: true,
        pick: null,
        shareMs: 0,
        refresh: null,
        ask: null,
        availability: [],
        available: null,
        fresh: null,
        moving: null,
        at: null,
      },
      faults: {},
      settle: {
        firstMs: 1000,
        everyMs: 2000,
        withinMs: 60_000,
        stableMs: 2000,
        reads: 2,
        lagMs: 0,
        lagReason: null,
        maxSends: 1,
      },
      wake: null,
      deliverWithinMs: 900_000,
      lane: 'queue',
      reply: {},
    });
  });

  it('has fields with their units, ranges and readings', async () => {
    const { power, temperature } = (await deviceOf(heater, 'heater')).fields;
    assert.deepEqual(
      [power?.unit, power?.read, power?.values],
      [
        null,
        'body.power',
        [
          { value: 'on', send: 'on', accepts: ['on'] },
          { value: 'off', send: 'off', accepts: ['off'] },
        ],
      ],
    );
    assert.deepEqual(
      [temperature?.unit, temperature?.read, temperature?.min, temperature?.max, temperature?.step],
      ['°C', 'body.temperature', 5, 30, 0.5],
    );
  });

  it('talks to its connection with a time-out of 10 s', async () => {
    assert.deepEqual((await catalogueOf(heater)).connections['api'], {
      name: 'api',
      kind: 'http',
      baseUrl: 'http://127.0.0.1:4100',
      timeoutMs: 10_000,
      auth: { kind: 'none' },
      tls: null,
      secrets: {},
      limits: [],
      spacingMs: 0,
      reply: {},
    });
  });
});

describe('layers', () => {
  const yaml = `
    version: 1
    defaults: { settle: { within: 20s, every: 1s, first: 3s }, reply: { limited: status = 418, refused: body.bad = true } }
    connections: { api: { kind: http, baseUrl: "http://x", settle: { every: 4s, stable: 3s }, reply: { refused: body.worse = true } } }
    profiles:
      base: { connection: api, send: { request: PUT /x, repeatable: true }, read: GET /x, settle: { stable: 5s, lag: 9s }, tags: [a, b],
        fields: { m: { type: enum, values: { cool: C, heat: H }, appliesWhen: { p: "on" } }, p: onoff, t: { type: celsius, min: 5, max: 30 } } }
      mid: { extends: base, settle: { lag: 8s }, fields: { t: { max: 28 } } }
    devices:
      d: { profile: mid, settle: { lag: null, reads: 3 }, tags: [c], send: { headers: { x-a: b } }, reply: { limited: null },
        fields: { t: { min: null, settle: { within: 90s } }, m: { values: { heat: HEAT }, appliesWhen: null } } }`;

  it('defaults < connection < profile < device: maps merge, lists replace, null removes', async () => {
    const d = await deviceOf(yaml);
    assert.deepEqual(d.settle, {
      firstMs: 3000,
      everyMs: 4000,
      withinMs: 20_000,
      stableMs: 5000,
      reads: 3,
      lagMs: 0,
      lagReason: null,
      maxSends: 1,
    });
    assert.deepEqual(d.tags, ['c']);
    assert.deepEqual(d.reply, { refused: 'body.worse = true' });
    assert.deepEqual(
      [d.fields['t']?.min, d.fields['t']?.max, d.fields['t']?.settle],
      [null, 28, { withinMs: 90_000 }],
    );
    assert.deepEqual(
      d.fields['m']?.values?.map(({ send }) => send),
      ['C', 'HEAT'],
    );
    assert.deepEqual(d.fields['m']?.appliesWhen, {});
    assert.deepEqual(
      [d.send[0]?.request.path, d.send[0]?.request.headers, d.send[0]?.repeatable],
      ['/x', { 'x-a': 'b' }, true],
    );
  });

  it('the connection itself keeps its own reply rules over the defaults', async () => {
    assert.deepEqual((await catalogueOf(yaml)).connections['api']?.reply, {
      limited: 'status = 418',
      refused: 'body.worse = true',
    });
  });

  it('a body replaces a body, and may hold null', async () => {
    const d = await deviceOf(
      withApi(
        'profiles: { p: { connection: api, send: { request: PUT /x, body: { a: =$wire.p, b: 1 } }, read: GET /x, fields: { p: onoff } } }\ndevices: { d: { profile: p, send: { body: { c: =$wire.p, e: null } } } }',
      ),
    );
    assert.deepEqual(d.send[0]?.request.body, { c: '=$wire.p', e: null });
  });

  it('another type of a field keeps what still fits', async () => {
    const d = await deviceOf(
      withApi(
        'profiles: { p: { connection: api, send: PUT /x, read: GET /x, fields: { t: { type: celsius, min: 5, max: 30, invalid: 0 } } } }\ndevices: { d: { profile: p, fields: { t: { type: number, unit: "°F", max: 90, device: { unit: "°C", step: 0.1 } } } } }',
      ),
    );
    assert.deepEqual(
      [d.fields['t']?.unit, d.fields['t']?.min, d.fields['t']?.max, d.fields['t']?.invalid],
      ['°F', 5, 90, [0]],
    );
  });
});

describe('short forms', () => {
  it('one of a list may stand alone, everywhere', async () => {
    const d = await deviceOf(
      device(
        'tags: a, aliases: b, deliver: 5m, send: [{ for: p, when: { p: "on" }, request: PUT /on }, { for: p, request: PUT /off }, { for: q, uses: p, request: PUT /q }], read: { request: GET /d, refresh: POST /r }, fields: { p: onoff, q: { type: number, invalid: -1, requires: p, appliesWhen: { p: ON } } }',
      ),
    );
    assert.deepEqual([d.tags, d.aliases, d.deliverWithinMs], [['a'], ['b'], 300_000]);
    assert.deepEqual(
      d.send.map((step) => [step.for, step.when, step.uses]),
      [
        [['p'], { p: ['on'] }, []],
        [['p'], {}, []],
        [['q'], {}, ['p']],
      ],
    );
    assert.deepEqual(d.read?.refresh, {
      request: { method: 'POST', path: '/r', headers: {}, body: null, as: 'json', topic: null },
      waitMs: 0,
    });
    assert.deepEqual(
      [d.fields['q']?.invalid, d.fields['q']?.requires, d.fields['q']?.appliesWhen],
      [[-1], ['p'], { p: ['on'] }],
    );
  });

  it('values are a list, a map to spellings, or ranges', async () => {
    const { a, b, c } = (
      await deviceOf(
        fields(
          'a: { type: enum, values: [1, low] }, b: { type: onoff, values: { "on": [ON, 1], "off": OFF } }, c: { type: onoff, values: { "on": ">=20", "off": "< 5.5" }, sends: { "on": go, "off": stop } }',
        ),
      )
    ).fields;
    assert.deepEqual(a?.values, [
      { value: '1', send: 1, accepts: [1] },
      { value: 'low', send: 'low', accepts: ['low'] },
    ]);
    assert.deepEqual(b?.values?.[0], { value: 'on', send: 'ON', accepts: ['ON', 1] });
    assert.deepEqual(c?.values, [
      { value: 'on', send: 'go', accepts: [{ comparison: '>=', than: 20 }] },
      { value: 'off', send: 'stop', accepts: [{ comparison: '<', than: 5.5 }] },
    ]);
  });

  it('a key that is no plain name is still found in the reply', async () => {
    assert.equal(
      (await deviceOf(fields('p: { type: onoff, key: "power-state" }'))).fields['p']?.read,
      'body.`power-state`',
    );
    assert.equal((await deviceOf(fields('p: { type: onoff, key: in }'))).fields['p']?.read, 'body.`in`');
  });
});

describe('parameters', () => {
  const yaml = withApi(
    'profiles: { p: { connection: api, params: { id: required, zone: 1 }, send: "PUT /{zone}/{id}", read: { request: "GET /{id}", pick: "body[id = $id]" }, fields: { p: onoff } } }\ndevices: { d: { profile: p, with: { id: "007" } }, e: { connection: api, with: { vin: X }, send: "PUT /{vin}", read: "GET /{vin}", fields: { p: onoff } } }',
  );
  it('are the profile’s defaults with the device’s values; without a profile, with alone', async () => {
    const { devices } = await catalogueOf(yaml);
    assert.deepEqual([devices['d']?.params, devices['e']?.params], [{ id: '007', zone: 1 }, { vin: 'X' }]);
  });
});
