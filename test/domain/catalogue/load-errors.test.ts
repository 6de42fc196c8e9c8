/** Everything that can be wrong with a catalogue is told with its place, what is wrong, and what is allowed. */
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { device, FILE, fields, load, problemsOf, withApi } from './loading.ts';

type Case = readonly [what: string, yaml: string, path: string, message: RegExp];

/** Exactly one problem: a mistake must not drag others behind it. */
function tells(cases: readonly Case[]): void {
  for (const [what, yaml, path, message] of cases) {
    it(what, async () => {
      const problems = await problemsOf(yaml);
      assert.equal(problems.length, 1, problems.join('\n') || 'no problem was found');
      assert.ok(problems[0]?.startsWith(`${path}: `), `${problems[0]} is not at ${path}`);
      assert.match(String(problems[0]), message);
    });
  }
}

const AC = 'power: onoff, temperature: { type: celsius, min: 5, max: 30 }';

describe('the shape of the file', () => {
  tells([
    ['another version', fields(AC).replace('version: 1', 'version: 2'), 'version', /write "version: 1"/],
    [
      'an unknown key, with what was meant',
      device(`sned: PUT /d, send: PUT /d, read: GET /d, fields: { ${AC} }`),
      'devices.d.sned',
      /unknown key\. Did you mean "send"\? Allowed here: /,
    ],
    [
      'an unknown key of a field',
      fields('t: { type: celsius, minimum: 5 }'),
      'devices.d.fields.t.minimum',
      /Did you mean "min"/,
    ],
    [
      'an unknown reply class',
      withApi('defaults: { reply: { refussed: body.x } }'),
      'defaults.reply.refussed',
      /Did you mean "refused"/,
    ],
    [
      'an unknown field type',
      fields('t: celcius'),
      'devices.d.fields.t',
      /"celcius" is not allowed: give onoff, .*Did you mean "celsius"/,
    ],
    [
      'a type of the wrong kind inside a map',
      fields('t: { type: celsius, min: low }'),
      'devices.d.fields.t.min',
      /"low" is not allowed: give a number/,
    ],
    [
      'a duration without a unit',
      fields(AC, ', settle: { every: 5 }'),
      'devices.d.settle.every',
      /500ms, 10s, 5m, 2h or 1d/,
    ],
    [
      'a send that is no request',
      device(`send: PUT d, read: GET /d, fields: { ${AC} }`),
      'devices.d.send',
      /a method and a path such as "PUT \/heater"/,
    ],
    [
      'a method that HTTP lacks',
      device(`send: { request: FETCH /d }, read: GET /d, fields: { ${AC} }`),
      'devices.d.send.request',
      /methods: GET, HEAD/,
    ],
    [
      'a path that climbs',
      device(`send: PUT /x/../d, read: GET /d, fields: { ${AC} }`),
      'devices.d.send',
      /must not hold "\." or "\.\."/,
    ],
    [
      'a path to another host',
      device(`send: PUT //evil.example/d, read: GET /d, fields: { ${AC} }`),
      'devices.d.send',
      /a method and a path/,
    ],
    [
      'an id with a slash',
      withApi(`devices: { "a/b": { connection: api, send: PUT /d, read: GET /d, fields: { ${AC} } } }`),
      'devices."a/b"',
      /an id is 1 to 64 letters/,
    ],
    [
      'an id that climbs',
      withApi(`devices: { a..b: { connection: api, send: PUT /d, read: GET /d, fields: { ${AC} } } }`),
      'devices."a..b"',
      /holds no "\.\."/,
    ],
    [
      'an id that every object has',
      withApi(`devices: { constructor: { connection: api, send: PUT /d, read: GET /d, fields: { ${AC} } } }`),
      'devices.constructor',
      /an id is/,
    ],
    [
      'a field name that expressions could not hold',
      fields('set-point: celsius'),
      'devices.d.fields.set-point',
      /letters, digits or "_"/,
    ],
    [
      'an expression that is no expression',
      fields('t: { type: celsius, read: "body.t[" }'),
      'devices.d.fields.t.read',
      /this expression can't be used: Expected/,
    ],
    [
      'an expression in a body',
      device(
        'send: { request: PUT /d, body: { a: [{ b: "=$eval(1)" }] } }, read: GET /d, fields: { t: celsius }',
      ),
      'devices.d.send.body.a[0].b',
      /\$eval is not allowed/,
    ],
    [
      'a single read where an echo would pass',
      fields(AC, ', settle: { reads: 1 }'),
      'devices.d.settle.reads',
      /at least 2 reads/,
    ],
  ]);
});

describe('connections', () => {
  const of = (content: string): string => `version: 1\nconnections: { c: { ${content} } }`;
  tells([
    ['an unknown kind', of('kind: htpp, baseUrl: "http://x"'), 'connections.c.kind', /Did you mean "http"/],
    ['no address', of('kind: http'), 'connections.c.baseUrl', /is missing/],
    [
      'an address that is none',
      of('kind: http, baseUrl: api.example'),
      'connections.c.baseUrl',
      /begins with http:\/\/ or https:\/\//,
    ],
    [
      'a file as an address',
      of('kind: http, baseUrl: "file:///etc/passwd"'),
      'connections.c.baseUrl',
      /begins with http/,
    ],
    [
      'a password in the address',
      of('kind: http, baseUrl: "http://me:hunter2@x"'),
      'connections.c.baseUrl',
      /write them under "auth"/,
    ],
    [
      'a query in the address',
      of('kind: http, baseUrl: "http://x?key=1"'),
      'connections.c.baseUrl',
      /must not hold "\?"/,
    ],
    [
      'two ways of signing in',
      of('kind: http, baseUrl: "http://x", auth: { bearer: a, basic: { username: b, password: c } }'),
      'connections.c.auth',
      /exactly one of .*bearer and basic/,
    ],
    [
      'a limit that leaves nothing to send',
      of('kind: http, baseUrl: "http://x", limits: [{ requests: 5, per: 1m, keepForReads: 5 }]'),
      'connections.c.limits[0].keepForReads',
      /less than requests \(5\)/,
    ],
    [
      'a simulator that is not running',
      of('kind: http, baseUrl: "simulator:"'),
      'connections.c.baseUrl',
      /readback up/,
    ],
    [
      'a reply rule that looks at nothing',
      of('kind: http, baseUrl: "http://x", reply: { refused: "boddy.error = true" }'),
      'connections.c.reply.refused',
      /boddy is unknown: a path begins with status, body or headers here\. Did you mean "body"/,
    ],
    ['an mqtt connection without a broker', of('kind: mqtt'), 'connections.c.url', /mqtt:\/\//],
    [
      'a device without a connection',
      'devices: { d: { send: PUT /d, read: GET /d, fields: { p: onoff } } }',
      'devices.d.connection',
      /is missing/,
    ],
    [
      'a device on an unknown connection',
      withApi('devices: { d: { connection: apl, send: PUT /d, read: GET /d, fields: { p: onoff } } }'),
      'devices.d.connection',
      /no connection "apl".*Did you mean "api"/,
    ],
    [
      'an entity on an http connection',
      fields(AC, ', entity: light.x'),
      'devices.d.entity',
      /only devices on a home-assistant connection/,
    ],
  ]);

  it('never shows what stands where a secret belongs', async () => {
    const yaml = of(
      'kind: http, baseUrl: "http://me:hunter2@x", auth: { bearer: 4711, basic: hunter2 }, secrets: { pin: [hunter2] }',
    );
    const problems = await problemsOf(yaml);
    assert.ok(problems.length >= 3, problems.join('\n'));
    assert.doesNotMatch(problems.join('\n'), /hunter2|4711/);
  });
});

describe('secrets', () => {
  const yaml =
    'connections: { c: { kind: http, baseUrl: "http://x", auth: { basic: { username: "${USER_NAME}", password: "${file:secret.txt}" } } } }';

  it('come from the environment and from files beside the catalogue', async () => {
    const loaded = await load(
      { 'readback.yaml': yaml, 'secret.txt': 's3cret\n' },
      { environment: { USER_NAME: 'me' } },
    );
    assert.ok(loaded.ok);
    assert.deepEqual(loaded.catalogue.connections['c']?.auth, {
      kind: 'basic',
      username: 'me',
      password: 's3cret',
    });
  });

  it('are all named where they are missing', async () => {
    assert.deepEqual(await problemsOf(yaml, { environment: { USER_NAME: '' } }), [
      'connections.c.auth.basic.username: the environment variable USER_NAME is not set',
      "connections.c.auth.basic.password: the file secret.txt can't be read (ENOENT)",
    ]);
  });

  it('stand in connections only, so that no path, log or expression can hold one', async () => {
    const problems = await problemsOf(
      withApi(
        'defaults: { connection: "${A}" }\nprofiles: { p: { hint: "${B}" } }\ndevices: { d: { connection: api, name: "x ${C}", send: "PUT /d?k=${file:D}", read: GET /d, fields: { p: onoff } } }\napprovals: [{ by: operator, reason: "${E}" }]',
      ),
      { environment: { A: 'a', B: 'b', C: 'c', E: 'e' } },
    );
    const refused = problems.filter((problem) => problem.includes('filled in only inside "connections"'));
    assert.deepEqual(
      refused.map((problem) => problem.slice(0, problem.indexOf(':'))),
      ['defaults.connection', 'profiles.p.hint', 'devices.d.name', 'devices.d.send', 'approvals[0].reason'],
    );
  });

  it('change no digest', async () => {
    const digest = async (password: string) => {
      const loaded = await load(
        { 'readback.yaml': yaml, 'secret.txt': password },
        { environment: { USER_NAME: 'me' } },
      );
      return loaded.ok ? loaded.catalogue.digest : assert.fail();
    };
    assert.equal(await digest('one'), await digest('two'));
  });
});

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

describe('sending', () => {
  const sends = (send: string, more = AC): string =>
    device(`send: ${send}, read: GET /d, fields: { ${more} }`);
  tells([
    [
      'a writable field that nothing sends',
      sends('{ request: PUT /d, for: power }'),
      'devices.d.fields.temperature',
      /no send sends it/,
    ],
    [
      'a writable field of a device that is only read',
      device('read: GET /d, fields: { p: onoff }'),
      'devices.d.fields.p',
      /give the device a "send", or write readOnly: true/,
    ],
    [
      'a step for an unknown field',
      sends('[{ request: PUT /d }, { request: PUT /e, for: powr }]'),
      'devices.d.send[1].for',
      /no field "powr".*Did you mean "power"/,
    ],
    [
      'a step for a field that is readOnly',
      sends(
        '{ request: PUT /d, for: [power, temperature] }',
        'power: onoff, temperature: { type: celsius, readOnly: true }',
      ),
      'devices.d.send.for',
      /temperature is readOnly/,
    ],
    [
      'a condition on an unknown field',
      sends('{ request: PUT /d, when: { mood: good } }'),
      'devices.d.send.when.mood',
      /no field "mood"/,
    ],
    [
      'a condition on an unknown value',
      sends('{ request: PUT /d, when: { power: half } }'),
      'devices.d.send.when.power',
      /"half" is no value of power; allowed: on or off/,
    ],
    [
      '$wire of a field that the step does not have',
      sends('[{ request: PUT /d, for: power, body: { t: =$wire.temperature } }, { request: PUT /e }]'),
      'devices.d.send[0].body.t',
      /\$wire\.temperature is unknown: allowed here: \$wire\.power/,
    ],
    [
      '{wire.…} of a field that the step does not have',
      sends('[{ request: "PUT /d/{wire.temperature}", for: power }, { request: PUT /e }]'),
      'devices.d.send[0].request',
      /\{wire\.temperature\} is unknown/,
    ],
    [
      'a forgotten $',
      sends('{ request: PUT /d, body: { p: =wire.power } }', 'power: onoff'),
      'devices.d.send.body.p',
      /Did you mean \$wire/,
    ],
    [
      'a toggle that may be repeated',
      sends('{ request: POST /d, kind: toggle, repeatable: true }', 'p: onoff'),
      'devices.d.send.repeatable',
      /a toggle is sent once, ever/,
    ],
    [
      'a pulse that may be repeated',
      sends('{ request: POST /d, kind: pulse, repeatable: true }', 'p: onoff'),
      'devices.d.send.repeatable',
      /a pulse is sent once/,
    ],
    [
      'a toggle without a reading',
      device('send: { request: POST /d, kind: toggle }, fields: { p: { type: onoff, readback: none } }'),
      'devices.d.send.kind',
      /a toggle needs a reading/,
    ],
    [
      'filling in without a reading',
      device('send: { request: POST /d, fill: current }, fields: { p: { type: onoff, readback: none } }'),
      'devices.d.send.fill',
      /needs a "read"/,
    ],
    [
      'several sends of what may not be repeated',
      fields(AC, ', settle: { maxSends: 3 }'),
      'devices.d.settle.maxSends',
      /3 sends need a send with repeatable: true/,
    ],
    [
      'a lag as long as the deadline',
      fields(AC, ', settle: { lag: 60s }'),
      'devices.d.settle.lag',
      /60s is not below within \(60s\)/,
    ],
    [
      'a form body that is a tree',
      sends('{ request: POST /d, as: form, body: { a: { b: =$wire.p } } }', 'p: onoff'),
      'devices.d.send.body',
      /as: form takes a flat map/,
    ],
    [
      'a step without a request',
      sends('{ repeatable: true }', 'p: onoff'),
      'devices.d.send',
      /is missing "request"/,
    ],
  ]);
});

describe('reading', () => {
  tells([
    [
      'a field that nothing can read back',
      device('send: PUT /d, fields: { p: onoff }'),
      'devices.d.fields.p.read',
      /"confirm", or readback: none/,
    ],
    [
      'an action that nothing confirms',
      fields('press: action'),
      'devices.d.fields.press.read',
      /"confirm", or readback: none/,
    ],
    [
      'several requests and no place for a field',
      device('send: PUT /d, read: { requests: { a: GET /a, b: GET /b } }, fields: { p: onoff }'),
      'devices.d.fields.p.read',
      /with several requests say where/,
    ],
    [
      'a field that looks for another request',
      device(
        'send: PUT /d, read: { requests: { a: GET /a, b: GET /b } }, fields: { p: { type: onoff, read: c.body.p } }',
      ),
      'devices.d.fields.p.read',
      /c is unknown: a path begins with a or b here/,
    ],
    [
      'readback: none beside a read',
      fields('p: { type: onoff, read: body.p, readback: none }'),
      'devices.d.fields.p.readback',
      /contradicts "read"/,
    ],
    [
      'a confirmation that looks at an unknown field',
      fields('p: { type: onoff, confirm: $desired.q = 1 }'),
      'devices.d.fields.p.confirm',
      /\$desired\.q is unknown/,
    ],
    [
      'faults without a reading',
      device('send: PUT /d, faults: { f: body.f = true }, fields: { p: { type: onoff, readback: none } }'),
      'devices.d.faults',
      /need a "read"/,
    ],
    [
      'two entry points',
      device(
        'send: PUT /d, read: { request: GET /d, requests: { a: GET /a } }, fields: { p: { type: onoff, read: a.body.p } }',
      ),
      'devices.d.read.request',
      /either request or requests/,
    ],
    [
      'a value kept by nobody',
      device('send: PUT /d, read: "GET /jobs/{kept.job}", fields: { p: onoff }'),
      'devices.d.read.request',
      /\{kept\.job\} is unknown/,
    ],
    [
      'waking without knowing when it is awake',
      fields(AC, ', wake: { request: POST /wake }'),
      'devices.d.wake.until',
      /is missing/,
    ],
  ]);
});

describe('fields', () => {
  tells([
    ['no field at all', device('send: PUT /d, read: GET /d'), 'devices.d.fields', /at least one field/],
    [
      'a range upside down',
      fields('t: { type: celsius, min: 30, max: 5 }'),
      'devices.d.fields.t.min',
      /30 is not below max 5/,
    ],
    [
      'a tolerance of a whole step',
      fields('t: { type: celsius, step: 0.5, tolerance: 0.5 }'),
      'devices.d.fields.t.tolerance',
      /a neighbouring value would count: give less than 0\.5/,
    ],
    [
      'a conversion that nobody knows',
      fields('t: { type: celsius, device: { unit: furlong } }'),
      'devices.d.fields.t.device.unit',
      /furlong/,
    ],
    [
      'a unit that the type does not have',
      fields('t: { type: celsius, unit: "°F" }'),
      'devices.d.fields.t.unit',
      /for °F write type: number/,
    ],
    [
      'a range of the device without one of ours',
      fields('t: { type: number, device: { range: [0, 255] } }'),
      'devices.d.fields.t.device.range',
      /needs min and max/,
    ],
    [
      'one spelling for two values',
      fields('m: { type: enum, values: { cool: [A, b], heat: [c, a] } }'),
      'devices.d.fields.m.values.heat',
      /"a" would mean both cool and heat/,
    ],
    [
      'ranges that overlap',
      fields('p: { type: onoff, values: { "on": ">=5", "off": "<=5" }, sends: { "on": 1, "off": 0 } }'),
      'devices.d.fields.p.values.off',
      /would mean both on and off/,
    ],
    [
      'a range without what is sent',
      fields('p: { type: onoff, values: { "on": ">=20", "off": "<5" }, sends: { "on": 1 } }'),
      'devices.d.fields.p.values.off',
      /say under "sends"/,
    ],
    [
      'something sent for no value',
      fields('m: { type: enum, values: [a, b], sends: { c: d } }'),
      'devices.d.fields.m.sends.c',
      /c is no value of this field; its values: a or b/,
    ],
    ['an enum without values', fields('m: enum'), 'devices.d.fields.m.values', /an enum needs its values/],
    [
      'an onoff that is neither',
      fields('p: { type: onoff, values: { open: 1, closed: 0 } }'),
      'devices.d.fields.p.values',
      /has the values "on" and "off"/,
    ],
    [
      'values of a number',
      fields('t: { type: number, values: [1, 2] }'),
      'devices.d.fields.t.values',
      /only onoff and enum/,
    ],
    [
      'a minimum of a text',
      fields('t: { type: text, min: 1 }'),
      'devices.d.fields.t.min',
      /only percent, celsius and number/,
    ],
    [
      'a missing value that is none',
      fields('t: { type: number, missing: none }'),
      'devices.d.fields.t.missing',
      /no value of this field; allowed: a number/,
    ],
    [
      'a condition on an unknown field',
      fields('t: { type: celsius, appliesWhen: { mode: cool } }'),
      'devices.d.fields.t.appliesWhen.mode',
      /no field "mode"/,
    ],
    [
      'a condition on an unknown value',
      fields(
        'm: { type: enum, values: [cool, heat] }, t: { type: celsius, appliesWhen: { m: [cool, hot] } }',
      ),
      'devices.d.fields.t.appliesWhen.m',
      /"hot" is no value of m; allowed: cool or heat/,
    ],
    [
      'conditions in a circle',
      fields('a: { type: onoff, appliesWhen: { b: "on" } }, b: { type: onoff, appliesWhen: { a: "on" } }'),
      'devices.d.fields.a.appliesWhen',
      /goes in a circle: a → b → a/,
    ],
    [
      'a requirement of an unknown field',
      fields('a: { type: onoff, requires: b }'),
      'devices.d.fields.a.requires',
      /no field "b"/,
    ],
  ]);
});

describe('names', () => {
  const two = (a: string, b: string): string =>
    withApi(
      `devices: { a: { connection: api, send: PUT /d, read: GET /d, fields: { p: onoff }, ${a} }, b: { connection: api, send: PUT /d, read: GET /d, fields: { p: onoff }, ${b} } }`,
    );
  tells([
    [
      'an alias of two devices',
      two('aliases: [Lamp]', 'aliases: [lamp]'),
      'devices.b.aliases',
      /"lamp" is also the alias of a/,
    ],
    ['an alias that is an id', two('aliases: b', 'name: B'), 'devices.a.aliases', /"b" is also the id of b/],
    [
      'an alias that is a name',
      two('aliases: [desk]', 'name: Desk'),
      'devices.a.aliases',
      /"desk" is also the name of b/,
    ],
  ]);

  it('only warns of two devices with one name', async () => {
    const loaded = await load(two('name: Lamp', 'name: lamp'));
    assert.ok(loaded.ok);
    assert.match(String(loaded.warnings[0]), /devices\.b\.name: "lamp" is also the name of a/);
  });
});

describe('approvals', () => {
  const rule = (content: string, top = ''): string =>
    `${fields('power: onoff, mode: { type: enum, values: [cool, heat] }, t: { type: celsius }, load: { type: number, unit: W, readOnly: true }', ', tags: [hvac], area: Attic')}\n${top}approvals: [{ by: operator, ${content} }]`;
  tells([
    [
      'no device of that id',
      rule('for: { device: e }'),
      'approvals[0].for.device',
      /matches no device: there is no "e"/,
    ],
    [
      'no device with that tag',
      rule('for: { tag: hvca }'),
      'approvals[0].for.tag',
      /known: hvac\. Did you mean "hvac"/,
    ],
    [
      'no device in that area',
      rule('for: { area: Loft }'),
      'approvals[0].for.area',
      /no device has the area "Loft"; known: Attic/,
    ],
    [
      'no such field',
      rule('for: { field: pwoer }'),
      'approvals[0].for.field',
      /matches nothing.*Did you mean "power"/,
    ],
    ['a field that no command sets', rule('for: { field: load }'), 'approvals[0].for.field', /readOnly/],
    [
      'no such value',
      rule('for: { field: mode, becomes: hot }'),
      'approvals[0].for.becomes',
      /"hot" is no value of mode; allowed: cool or heat/,
    ],
    [
      'no such exception',
      rule('for: { field: mode, unless: [cool, hot] }'),
      'approvals[0].for.unless',
      /"hot" is no value of mode/,
    ],
    [
      'a value without its field',
      rule('for: { becomes: "on" }'),
      'approvals[0].for.becomes',
      /say which with "field"/,
    ],
    [
      'a threshold for a word',
      rule('for: { field: mode, above: 3 }'),
      'approvals[0].for.above',
      /mode is no number \(enum\)/,
    ],
    [
      'a unit that the field can not be turned into',
      rule('for: { field: t, above: 3, unit: W }'),
      'approvals[0].for.unit',
      /W/,
    ],
    [
      'times without a time zone',
      rule('between: "23:00-06:00"'),
      'approvals[0].between',
      /needs a time zone/,
    ],
    [
      'times that are none',
      rule('between: "25:00-06:00"', 'timezone: UTC\n'),
      'approvals[0].between',
      /two times of day/,
    ],
    [
      'a time zone that is none',
      rule('between: "23:00-06:00"', 'timezone: Europe/Berln\n'),
      'timezone',
      /no time zone "Europe\/Berln".*Did you mean "Europe\/Berlin"/,
    ],
    [
      'nobody to ask',
      rule('for: {}').replace('by: operator', 'reason: x'),
      'approvals[0].by',
      /is missing|give requester or operator/,
    ],
    [
      'somebody unknown to ask',
      rule('for: {}').replace('by: operator', 'by: boss'),
      'approvals[0].by',
      /give requester or operator/,
    ],
    [
      'a condition on what is not there',
      rule('when: $batch.sise > 5'),
      'approvals[0].when',
      /\$batch\.sise is unknown.*Did you mean "size"/,
    ],
    ['an expiry at once', rule('expires: 0s'), 'approvals[0].expires', /no time at all/],
  ]);

  it('mixed units without one of its own', async () => {
    const yaml = `${withApi('devices: { a: { connection: api, send: PUT /d, read: GET /d, fields: { t: celsius } }, b: { connection: api, send: PUT /d, read: GET /d, fields: { t: { type: number, unit: "°F" } } } }')}\napprovals: [{ by: operator, for: { field: t, above: 80 } }]`;
    assert.deepEqual(await problemsOf(yaml), [
      'approvals[0].for.unit: is missing: the fields it is about are in °C or °F',
    ]);
  });
});

describe('files', () => {
  it('all mistakes are told at once, each with its file', async () => {
    const loaded = await load({
      'readback.yaml': `${fields('t: { type: celsius, min: 30, max: 5 }, u: { type: nmber }')}\ninclude: [more/attic.yaml, gone.yaml]\napprovals: [{ for: { device: x }, by: operator }]`,
      'more/attic.yaml':
        'devices: { e: { connection: api, send: PUT /e, read: GET /e, fields: { p: { type: onoff, vals: [] } } } }',
    });
    assert.ok(!loaded.ok);
    assert.deepEqual(
      loaded.problems.map(({ file, path }) => `${file} ${path}`).sort(),
      [
        'home/more/attic.yaml devices.e.fields.p.vals',
        `${FILE} devices.d.fields.t.min`,
        `${FILE} devices.d.fields.u.type`,
        `${FILE} include[1]`,
      ].sort(),
    );
  });

  it('a catalogue that is not there', async () => {
    assert.deepEqual(await problemsOf({}), [": the file can't be read (ENOENT)"]);
  });

  it('a catalogue that is no map', async () => {
    assert.match((await problemsOf('- a')).join(), /a catalogue is a map/);
  });
});
