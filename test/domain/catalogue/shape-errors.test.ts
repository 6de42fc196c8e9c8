/** Everything that can be wrong with a catalogue is told with its place, what is wrong, and what is allowed. */
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { AC, device, FILE, fields, load, problemsOf, tells, withApi } from './loading.ts';

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

  it('mistakes of shape, of secrets, of meaning and of rules do not hide each other', async () => {
    const problems = await problemsOf(`
      connections: { api: { kind: http, baseUrl: "http://x", auth: { bearer: "\${NOPE}" } } }
      devices:
        heater: { connection: apl, send: PUT /h, read: GET /h, fields: { power: onof, t: { type: celsius, min: 40, max: 30 } } }
        lamp: { connection: api, send: PUT /l, read: { request: GET /l, moving: bdy.x = 1 }, fields: { level: percent }, settle: { lag: 2m } }
      approvals: [{ for: { device: lmap }, by: operator }]`);
    assert.deepEqual(problems.map((problem) => problem.slice(0, problem.indexOf(':'))).sort(), [
      'approvals[0].for.device',
      'connections.api.auth.bearer',
      'devices.heater.connection',
      'devices.heater.fields.power',
      'devices.heater.fields.t.min',
      'devices.lamp.read.moving',
      'devices.lamp.settle.lag',
    ]);
  });

  it('a catalogue that is not there', async () => {
    assert.deepEqual(await problemsOf({}), [": the file can't be read (ENOENT)"]);
  });

  it('a catalogue that is no map', async () => {
    assert.match((await problemsOf('- a')).join(), /a catalogue is a map/);
  });
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
