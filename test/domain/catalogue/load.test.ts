/** The catalogue as a whole. */
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { catalogueOf, device, deviceOf, fields, load, withApi } from './loading.ts';

describe('approvals', () => {
  it('are kept in the catalogue’s own terms, whatever way they were written', async () => {
    const { approvals } = await catalogueOf(
      `${fields('m: { type: enum, values: { locked: LCK, unlocked: ULK } }, t: celsius', ', name: Front door')}\ntimezone: Asia/Tokyo\napprovals:\n  - { for: { device: front DOOR, field: m, becomes: [ULK, Locked] }, between: "23:00 - 06:00", by: operator }\n  - { for: { field: t, above: 28 }, by: requester, expires: 5m, reason: Hot. }`,
    );
    const nothing = {
      device: null,
      tag: null,
      area: null,
      field: null,
      becomes: null,
      unless: null,
      above: null,
      below: null,
      changesBy: null,
      unit: null,
    };
    assert.deepEqual(approvals, [
      {
        index: 0,
        for: { ...nothing, device: 'd', field: 'm', becomes: ['unlocked', 'locked'] },
        between: { from: '23:00', to: '06:00', timezone: 'Asia/Tokyo' },
        when: null,
        by: 'operator',
        expiresMs: 900_000,
        reason: null,
      },
      {
        index: 1,
        for: { ...nothing, field: 't', above: 28, unit: '°C' },
        between: null,
        when: null,
        by: 'requester',
        expiresMs: 300_000,
        reason: 'Hot.',
      },
    ]);
  });
});

describe('the simulator', () => {
  const yaml =
    'connections: { a: { kind: http, baseUrl: "simulator:" }, b: { kind: http, baseUrl: "simulator:/house/" } }';
  it('is put in where a connection names it, and its port changes no digest', async () => {
    const first = await catalogueOf(yaml, { simulatorUrl: 'http://127.0.0.1:4100/' });
    const second = await catalogueOf(yaml, { simulatorUrl: 'http://127.0.0.1:4200' });
    assert.deepEqual(
      Object.values(first.connections).map(({ baseUrl }) => baseUrl),
      ['http://127.0.0.1:4100', 'http://127.0.0.1:4100/house'],
    );
    assert.equal(first.digest, second.digest);
  });
});

describe('digests', () => {
  it('change with the device, and not with the order of its keys', async () => {
    const digest = async (yaml: string) => (await deviceOf(yaml)).digest;
    const one = await digest(fields('p: onoff, t: { type: celsius, min: 5, max: 30 }'));
    assert.equal(
      await digest(
        device('fields: { p: onoff, t: { max: 30, min: 5, type: celsius } }, read: GET /d, send: PUT /d'),
      ),
      one,
    );
    assert.notEqual(await digest(fields('p: onoff, t: { type: celsius, min: 5, max: 31 }')), one);
    assert.notEqual(
      await digest(
        fields('p: onoff, t: { type: celsius, min: 5, max: 30 }', ', faults: { f: body.f = true }'),
      ),
      one,
    );
  });

  it('of the catalogue change with its rules and connections', async () => {
    const digest = async (yaml: string) => (await catalogueOf(yaml)).digest;
    const yaml = fields('p: onoff');
    const one = await digest(yaml);
    assert.notEqual(await digest(`${yaml}\napprovals: [{ by: operator }]`), one);
    assert.notEqual(await digest(yaml.replace('4100', '4101')), one);
  });
});

describe('included files', () => {
  it('add devices, profiles, connections and rules, with paths from where they stand', async () => {
    const catalogue = await catalogueOf({
      'readback.yaml': withApi(
        'include: more/attic.yaml\ndevices: { d: { connection: api, send: PUT /d, read: GET /d, fields: { p: onoff } } }\napprovals: [{ for: { device: e }, by: operator }]',
      ),
      'more/attic.yaml':
        'include: [base.yaml]\ndevices: { e: { profile: p } }\napprovals: [{ for: { device: d }, by: requester }]',
      'more/base.yaml':
        'profiles: { p: { connection: api, send: PUT /e, read: GET /e, fields: { p: onoff } } }',
    });
    assert.deepEqual(Object.keys(catalogue.devices), ['d', 'e']);
    assert.deepEqual(
      catalogue.approvals.map((rule) => [rule.index, rule.for.device]),
      [
        [0, 'e'],
        [1, 'd'],
      ],
    );
  });

  it('that include each other, or describe a thing twice, are refused', async () => {
    const loaded = await load({
      'readback.yaml': 'include: a.yaml\nprofiles: { p: {} }',
      'a.yaml': 'include: readback.yaml\nprofiles: { p: {} }\ntimezone: UTC',
    });
    assert.ok(!loaded.ok);
    assert.deepEqual(
      loaded.problems.map(({ file, path }) => `${file} ${path}`),
      ['home/a.yaml timezone', 'home/a.yaml include', 'home/a.yaml profiles.p'],
    );
  });
});

describe('names that every object has', () => {
  it('find no device, connection or field', async () => {
    const catalogue = await catalogueOf(fields('p: onoff'));
    for (const name of ['constructor', 'toString', '__proto__']) {
      assert.equal(catalogue.devices[name], undefined);
      assert.equal(catalogue.connections[name], undefined);
      assert.equal(catalogue.devices['d']?.fields[name], undefined);
    }
  });
});

describe('a connection’s secrets', () => {
  it('stand in no device, also where its requests hold one', async () => {
    const catalogue = await catalogueOf(`
      version: 1
      connections: { door: { kind: http, baseUrl: "http://x", secrets: { pin: "1234" } } }
      devices:
        lock: { connection: door, send: { request: PUT /d, body: { p: =$wire.p, pin: =$secret.pin } }, read: GET /d, fields: { p: onoff } }`);
    assert.ok(catalogue.devices['lock']);
    assert.doesNotMatch(JSON.stringify(catalogue.devices), /1234/);
  });
});
