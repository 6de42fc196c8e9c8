import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import fc from 'fast-check';
import type { Json, Reading } from '../../domain/values.ts';
import { fromWire, parseNumber, toWire } from '../../domain/wire.ts';
import { celsius, choice, field, onoff, percent } from './definitions.ts';

const valueOf = (reading: Reading) => (reading.kind === 'value' ? reading.value : reading.kind);

describe('what is sent', () => {
  it('is the first spelling of a value', () => {
    assert.equal(toWire(choice('mode', { cool: 'cooling', heat: 'heating' }), 'cool'), 'cooling');
    assert.equal(toWire(choice('power', { on: true, off: false }), 'off'), false);
    assert.equal(toWire(choice('button', { on: '', off: 'power-off' }), 'on'), '');
  });

  it('is a number in the range of the device, which may flip', () => {
    assert.equal(toWire(percent('brightness', { device: { range: [0, 254] } }), 50), 127);
    assert.equal(toWire(percent('position', { device: { range: [100, 0] } }), 30), 70);
    assert.equal(toWire(percent('level', { device: { range: [0, 1] } }), 33), 0.33);
  });

  it('maps all of a percentage onto the range, whatever part of it may be asked for', () => {
    assert.equal(toWire(percent('brightness', { min: 5, device: { range: [0, 254] } }), 50), 127);
  });

  it('maps min to max onto the range where the field is no percentage', () => {
    assert.equal(toWire(field('speed', { min: 1, max: 6, step: 1, device: { range: [0, 100] } }), 2), 20);
  });

  it('maps all of a percentage also where it is called a number', () => {
    const fan = field('speed', { unit: '%', min: 10, max: 90, device: { range: [0, 200] } });
    assert.equal(toWire(fan, 50), 100);
    assert.equal(toWire(fan, 10), 20);
  });

  it('stays inside the range of the device where its end is on no step', () => {
    const coarse = percent('level', { device: { range: [0, 255], step: 10 } });
    assert.deepEqual([toWire(coarse, 100), toWire(coarse, 50), toWire(coarse, 0)], [255, 130, 0]);
    const flipped = percent('level', { device: { range: [255, 0], step: 10 } });
    assert.deepEqual([toWire(flipped, 100), toWire(flipped, 0)], [0, 255]);
  });

  it('is a number in the unit of the device, on its step, rounded as it rounds', () => {
    const asked = (round: 'nearest' | 'down' | 'up') =>
      toWire(field('temperature', { unit: '°F', device: { unit: '°C', step: 0.1, round } }), 73);
    assert.deepEqual([asked('nearest'), asked('down'), asked('up')], [22.8, 22.7, 22.8]);
    assert.equal(toWire(field('colour', { unit: 'K', device: { unit: 'mired', step: 1 } }), 2700), 370);
    assert.equal(toWire(celsius(), 26.5), 26.5);
  });
});

describe('what is read', () => {
  it('is a number only where the device wrote one', () => {
    const table: [Json, number | 'unreadable'][] = [
      [26, 26],
      [26.0, 26],
      ['26', 26],
      [' 26 ', 26],
      ['-3.5', -3.5],
      ['2.6e1', 26],
      ['0x1A', 'unreadable'],
      ['26 °C', 'unreadable'],
      ['1,000', 'unreadable'],
      ['26.', 'unreadable'],
      ['Infinity', 'unreadable'],
      ['1e999', 'unreadable'],
      ['on', 'unreadable'],
      [true, 'unreadable'],
      [[26], 'unreadable'],
      [{ value: 26 }, 'unreadable'],
    ];
    for (const [raw, expected] of table)
      assert.equal(valueOf(fromWire(celsius(), raw)), expected, JSON.stringify(raw));
  });

  it('is unreadable where the device says that it does not know, each with its reason', () => {
    for (const raw of [null, undefined, '', '  ', 'unknown', 'UNAVAILABLE', Number.NaN, 'nan']) {
      for (const one of [
        celsius(),
        onoff(),
        choice('mode', { cool: 'cool' }),
        field('note', { type: 'text' }),
      ]) {
        const reading = fromWire(one, raw);
        assert.equal(reading.kind, 'unreadable', `${one.type} ${String(raw)}`);
        assert.ok(reading.kind === 'unreadable' && reading.why.length > 0);
      }
    }
  });

  it('is unreadable where the catalogue calls the value invalid, however it is written', () => {
    const probe = celsius({ invalid: [-127, 'ERR'] });
    for (const raw of [-127, '-127', -127.0, 'err'])
      assert.equal(fromWire(probe, raw).kind, 'unreadable', String(raw));
    assert.equal(valueOf(fromWire(probe, 21)), 21);
  });

  it('is on and off in the usual words beside the declared ones', () => {
    const relay = onoff('power', {
      values: [
        { value: 'on', send: 'turnOn', accepts: ['turnOn'] },
        { value: 'off', send: 'turnOff', accepts: ['turnOff'] },
      ],
    });
    const table: [Json, string][] = [
      ['TURNON', 'on'],
      [true, 'on'],
      [1, 'on'],
      ['On', 'on'],
      ['true', 'on'],
      ['turnOff', 'off'],
      [false, 'off'],
      [0, 'off'],
      ['OFF', 'off'],
      [2, 'unreadable'],
      ['open', 'unreadable'],
    ];
    for (const [raw, expected] of table)
      assert.equal(valueOf(fromWire(relay, raw)), expected, JSON.stringify(raw));
  });

  it('believes a declared spelling before the usual words', () => {
    const inverted = choice('power', { on: 0, off: 1 }, { type: 'onoff' });
    assert.equal(valueOf(fromWire(inverted, 0)), 'on');
    assert.equal(valueOf(fromWire(inverted, '1')), 'off');
    assert.equal(valueOf(fromWire(choice('button', { on: '', off: 'power-off' }), '')), 'on');
  });

  it('is derived from ranges, and unreadable between them', () => {
    const pump = onoff('power', {
      values: [
        { value: 'on', send: 'on', accepts: [{ comparison: '>=', than: 20 }] },
        { value: 'off', send: 'off', accepts: [{ comparison: '<', than: 5 }] },
      ],
    });
    const table: [Json, string][] = [
      [20, 'on'],
      ['85.5', 'on'],
      [4.9, 'off'],
      [1, 'off'],
      [5, 'unreadable'],
      [19, 'unreadable'],
      [true, 'unreadable'],
      [null, 'unreadable'],
    ];
    for (const [raw, expected] of table)
      assert.equal(valueOf(fromWire(pump, raw)), expected, JSON.stringify(raw));
  });

  it('tells a number from its text only where two values need it', () => {
    const speeds = choice('speed', { low: 1, high: '1' });
    assert.equal(valueOf(fromWire(speeds, 1)), 'low');
    assert.equal(valueOf(fromWire(speeds, '1')), 'high');
    assert.equal(valueOf(fromWire(choice('speed', { low: 1 }), '1')), 'low');
  });

  it('names what an enum does not know, shortened and harmless', () => {
    const reading = fromWire(choice('mode', { cool: 'cool' }), `evil\u202e${'x'.repeat(500)}`);
    assert.ok(reading.kind === 'unreadable' && reading.why.length < 120 && !reading.why.includes('\u202e'));
  });

  it('is a text of bounded length, and nothing that could be taken for a shorter one', () => {
    const note = field('note', { type: 'text' });
    assert.equal(valueOf(fromWire(note, 21.5)), '21.5');
    assert.equal(valueOf(fromWire(note, ' Hello ')), ' Hello ');
    const long = valueOf(fromWire(note, 'x'.repeat(1_000_000)));
    assert.ok(typeof long === 'string' && long.length === 1000);
  });

  it('never lets NaN or Infinity through, whatever the device sends', () => {
    const fields = [
      celsius(),
      percent('level', { device: { range: [10, 0] } }),
      field('colour', { unit: 'K', device: { unit: 'mired' } }),
      onoff(),
    ];
    fc.assert(
      fc.property(
        fc.constantFrom(...fields),
        fc.oneof(fc.jsonValue(), fc.double(), fc.double().map(String)),
        (one, raw) => {
          const reading = fromWire(one, raw as Json);
          if (reading.kind === 'value' && typeof reading.value === 'number')
            assert.ok(Number.isFinite(reading.value));
        },
      ),
    );
  });

  it('takes every finite number in any usual notation', () => {
    fc.assert(
      fc.property(fc.double({ noNaN: true, noDefaultInfinity: true }), (number) => {
        assert.equal(parseNumber(String(number)), number + 0);
        assert.equal(parseNumber(` ${number} `), number + 0);
      }),
    );
  });
});
