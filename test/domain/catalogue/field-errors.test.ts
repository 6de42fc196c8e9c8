/** Everything that can be wrong with a catalogue is told with its place, what is wrong, and what is allowed. */
import { describe } from 'node:test';
import { device, fields, tells } from './loading.ts';

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
