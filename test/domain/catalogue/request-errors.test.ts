/** Everything that can be wrong with a catalogue is told with its place, what is wrong, and what is allowed. */
import { describe } from 'node:test';
import { AC, device, fields, tells } from './loading.ts';

describe('sending', () => {
  const sends = (send: string, more = AC): string =>
    device(`send: ${send}, read: GET /d, fields: { ${more} }`);
  const withSecret = (body: string): string => `
connections: { c: { kind: http, baseUrl: "http://x", secrets: { pin: "4711" } } }
devices: { d: { connection: c, send: { request: PUT /d, body: ${body} }, read: GET /d, fields: { p: onoff } } }`;
  tells([
    [
      'an expression that looks at a secret',
      withSecret('{ p: =$wire.p, pin: \'="#" & $secret.pin\' }'),
      'devices.d.send.body.pin',
      /no expression sees a secret: \$secret\.name stands alone/,
    ],
    [
      'a secret that the connection lacks',
      withSecret('{ p: =$wire.p, pin: =$secret.pn }'),
      'devices.d.send.body.pin',
      /\$secret\.pn is unknown.*Did you mean "pin"/,
    ],
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
