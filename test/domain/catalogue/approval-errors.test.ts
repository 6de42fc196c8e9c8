/** Everything that can be wrong with a catalogue is told with its place, what is wrong, and what is allowed. */
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { fields, problemsOf, tells, withApi } from './loading.ts';

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
