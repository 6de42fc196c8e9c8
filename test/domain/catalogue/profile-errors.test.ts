/** Everything that can be wrong with a catalogue is told with its place, what is wrong, and what is allowed. */
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { problemsOf, tells, withApi } from './loading.ts';

describe('profiles and parameters', () => {
  const profile = (content: string, device: string): string =>
    withApi(`profiles: { p: { connection: api, ${content} } }\ndevices: { d: { ${device} } }`);
  const body =
    'params: { id: required, zone: 1 }, send: "PUT /{zone}/{id}", read: "GET /{id}", fields: { p: onoff }';
  tells([
    ['an unknown profile', profile(body, 'profile: q'), 'devices.d.profile', /no profile "q"/],
    ['a parameter that is not given', profile(body, 'profile: p'), 'devices.d.with.id', /is missing/],
    [
      'a parameter that the profile lacks',
      profile(body, 'profile: p, with: { id: 7, zoen: 2 }'),
      'devices.d.with.zoen',
      /no such parameter.*Did you mean "zone"/,
    ],
    [
      'a parameter that would climb in a path',
      profile(body, 'profile: p, with: { id: ".." }'),
      'devices.d.with.id',
      /can't be part of a path/,
    ],
    [
      'a parameter named like a function',
      profile('params: { count: 1 }, send: "PUT /{count}", read: GET /x, fields: { p: onoff }', 'profile: p'),
      'profiles.p.params.count',
      /has a meaning already/,
    ],
    [
      'an unknown name in braces',
      profile(
        'params: { id: 1 }, send: "PUT /{ident}", read: "GET /{id}", fields: { p: onoff }',
        'profile: p',
      ),
      'profiles.p.send.request',
      /\{ident\} is unknown: allowed here: \{id\} or \{wire\.p\}/,
    ],
    [
      'an open brace',
      profile('params: { id: 1 }, send: "PUT /{id", read: "GET /{id}", fields: { p: onoff }', 'profile: p'),
      'profiles.p.send.request',
      /not closed/,
    ],
    [
      'an unknown $name',
      profile(
        'params: { id: 1 }, send: PUT /x, read: { request: GET /x, pick: "body[id = $di]" }, fields: { p: onoff }',
        'profile: p',
      ),
      'profiles.p.read.pick',
      /\$di is unknown.*Did you mean \$id/,
    ],
    [
      'profiles in a circle',
      withApi('profiles: { a: { extends: b }, b: { extends: a } }'),
      'profiles.a.extends',
      /goes in a circle: a, b/,
    ],
  ]);

  it('tells a mistake of a profile once, where it stands, however many devices use it', async () => {
    const yaml = withApi(
      'profiles: { p: { connection: api, send: PUT /x, read: GET /x, fields: { t: { type: celsius, min: 30, max: 5 } } } }\ndevices: { a: { profile: p }, b: { profile: p }, c: { profile: p, fields: { t: { min: 40 } } } }',
    );
    assert.deepEqual(await problemsOf(yaml), [
      'profiles.p.fields.t.min: 30 is not below max 5',
      'devices.c.fields.t.min: 40 is not below max 5',
    ]);
  });
});
