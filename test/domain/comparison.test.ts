import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import fc from 'fast-check';
import type { FieldDefinition } from '../../domain/catalogue/definition.ts';
import { compare, sameValue } from '../../domain/comparison.ts';
import { shownNumber, stepAround, withoutDust } from '../../domain/device-scale.ts';
import type { Json, Value } from '../../domain/values.ts';
import { fromWire, toWire } from '../../domain/wire.ts';
import { celsius, choice, field, onoff, percent } from './definitions.ts';

const fahrenheit = (device: Partial<FieldDefinition['device']>) =>
  field('temperature', {
    unit: '°F',
    min: 60,
    max: 86,
    step: 1,
    device: { unit: '°C', step: 0.1, ...device },
  });

const compareRaw = (one: FieldDefinition, desired: Value, raw: Json) =>
  compare(one, desired, fromWire(one, raw));

describe('comparing what was asked with what the device shows', () => {
  it('V1: takes 22.7 °C for 73 °F as adjusted, because the device cuts to its own tenth of a degree', () => {
    assert.equal(compareRaw(fahrenheit({ round: 'down' }), 73, 22.7), 'adjusted');
    assert.equal(compareRaw(fahrenheit({ round: 'nearest' }), 73, 22.7), 'adjusted');
    const reading = fromWire(fahrenheit({ round: 'down' }), 22.7);
    assert.equal(reading.kind === 'value' && shownNumber(fahrenheit({}), Number(reading.value)), 72.9);
  });

  it('V1: does not take the next tenth of a degree as well', () => {
    assert.equal(compareRaw(fahrenheit({ round: 'down' }), 73, 22.6), 'unequal');
    assert.equal(compareRaw(fahrenheit({ round: 'down' }), 73, 22.9), 'unequal');
  });

  it('V2: takes a blind that rests at 69 for 70 as adjusted', () => {
    assert.equal(compareRaw(percent('position', { tolerance: 1 }), 70, 69), 'adjusted');
    assert.equal(
      compareRaw(percent('position', { tolerance: 2, device: { range: [100, 0] } }), 70, 31),
      'adjusted',
    );
    assert.equal(compareRaw(percent('position', { tolerance: 1 }), 70, 68), 'unequal');
  });

  it('V3: takes a brightness of 254 for 255, half a percent of a range being its noise', () => {
    const brightness = percent('brightness', { device: { range: [0, 255] } });
    assert.equal(compareRaw(brightness, 100, 255), 'equal');
    assert.equal(compareRaw(brightness, 100, 254), 'adjusted');
    assert.equal(compareRaw(brightness, 100, 253), 'unequal');
  });

  it('V4: reads on as true, 1, "on", "On" and "ON"', () => {
    for (const raw of [true, 1, 'on', 'On', 'ON'])
      assert.equal(compareRaw(onoff(), 'on', raw), 'equal', String(raw));
    for (const raw of [false, 0, 'off', 'Off'])
      assert.equal(compareRaw(onoff(), 'on', raw), 'unequal', String(raw));
  });

  it('V5: reads 26 as "26" and 26.0, and finds no number in "on"', () => {
    for (const raw of ['26', 26.0, ' 26 ', '26.00'])
      assert.equal(compareRaw(celsius(), 26, raw), 'equal', String(raw));
    assert.equal(compareRaw(celsius(), 26, 'on'), 'unreadable');
  });

  it('V6: takes 50 for 80 as another value', () => {
    assert.equal(compareRaw(percent('position', { tolerance: 2 }), 80, 50), 'unequal');
  });

  it('V7: finds null, "", "unknown", "unavailable" and NaN equal to nothing', () => {
    const fields: [FieldDefinition, Value][] = [
      [celsius(), 26],
      [onoff(), 'on'],
      [choice('mode', { cool: 'cool', heat: 'heat' }), 'cool'],
      [field('label', { type: 'text' }), 'unknown'],
      [percent('brightness', { device: { range: [0, 255] } }), 0],
    ];
    for (const [one, desired] of fields) {
      for (const raw of [null, '', 'unknown', 'Unavailable', Number.NaN, 'NaN']) {
        assert.equal(compareRaw(one, desired, raw), 'unreadable', `${one.name} ${String(raw)}`);
      }
    }
    assert.equal(compare(celsius(), Number.NaN, { kind: 'value', value: 26 }), 'unequal');
    assert.equal(compare(celsius(), 26, { kind: 'value', value: Number.NaN }), 'unreadable');
  });

  it('passes on that a field does not apply', () => {
    assert.equal(compare(celsius(), 26, { kind: 'notApplicable', why: 'fan only' }), 'notApplicable');
  });

  it('says adjusted where a device with coarser steps stores its nearest', () => {
    const coarse = celsius({ device: { step: 1 } });
    assert.equal(toWire(coarse, 26.5), 27);
    assert.equal(compareRaw(coarse, 26.5, 27), 'adjusted');
    assert.equal(compareRaw(coarse, 26.5, 26), 'adjusted');
    assert.equal(compareRaw(coarse, 26.5, 28), 'unequal');
    assert.equal(compareRaw(coarse, 26, 27), 'unequal');
  });

  it('tolerates half a step beside a value that the device can hold, and no more', () => {
    assert.equal(compareRaw(celsius(), 26, 26.25), 'equal');
    assert.equal(compareRaw(celsius(), 26, 26.3), 'unequal');
    assert.equal(compareRaw(celsius(), 26, 25.6), 'unequal');
  });

  it('holds a declared tolerance exactly, its own end included', () => {
    const strict = celsius({ tolerance: 0.2 });
    assert.equal(compareRaw(strict, 26, 26.2), 'equal');
    assert.equal(compareRaw(strict, 26, 26.25), 'unequal');
    assert.equal(compareRaw(celsius({ tolerance: 0 }), 26, 26.1), 'unequal');
  });

  it('finds a whole number of mired beside the asked colour temperature equal', () => {
    const colour = field('colour', {
      unit: 'K',
      min: 2000,
      max: 6535,
      tolerance: 50,
      device: { unit: 'mired', step: 1 },
    });
    assert.equal(toWire(colour, 2700), 370);
    assert.equal(compareRaw(colour, 2700, 370), 'equal');
    assert.equal(compareRaw(colour, 2700, 375), 'adjusted');
    assert.equal(compareRaw(colour, 2700, 385), 'unequal');
    assert.equal(compareRaw(colour, 2700, 0), 'unreadable');
  });
});

describe('asking whether a device moved', () => {
  it('takes jitter within half a step for standing still, and a whole step for movement', () => {
    assert.equal(sameValue(celsius(), 24, 24.2), true);
    assert.equal(sameValue(celsius(), 24, 24.5), false);
    assert.equal(sameValue(onoff(), 'on', 'off'), false);
  });

  it('is the same question either way round, and NaN is never the same', () => {
    fc.assert(
      fc.property(
        anyNumericField,
        fc.double({ min: -50, max: 200 }),
        fc.double({ min: -50, max: 200 }),
        (one, a, b) => {
          assert.equal(sameValue(one, a, b), sameValue(one, b, a));
          assert.equal(sameValue(one, a, a), !Number.isNaN(a));
          assert.equal(sameValue(one, a, Number.NaN), false);
        },
      ),
    );
  });
});

describe('the tolerance, for every field', () => {
  it('never spans a whole step', () => {
    fc.assert(
      fc.property(settable, fc.integer({ min: 1, max: 5 }), fc.boolean(), ({ one, value }, count, up) => {
        const size = Math.max(one.step ?? 0, deviceStepInOurUnit(one, value));
        fc.pre(one.step !== null);
        const other = withoutDust(value + (up ? 1 : -1) * count * size);
        assert.equal(compare(one, value, { kind: 'value', value: other }), 'unequal');
      }),
      { numRuns: 500 },
    );
  });

  it('covers what becomes of every settable value on its way to the device and back', () => {
    fc.assert(
      fc.property(settable, ({ one, value }) => {
        const verdict = compareRaw(one, value, toWire(one, value));
        assert.ok(verdict === 'equal' || verdict === 'adjusted', verdict);
        const holdsEveryStep =
          one.device.round === 'nearest' && deviceStepInOurUnit(one, value) <= (one.step ?? 0);
        if (holdsEveryStep) assert.equal(verdict, 'equal');
      }),
      { numRuns: 1000 },
    );
  });

  it('covers texts, switches and actions there and back', () => {
    const note = field('note', { type: 'text' });
    const meansNothing = (text: string) =>
      ['', 'unknown', 'unavailable', 'nan'].includes(text.trim().toLowerCase());
    fc.assert(
      fc.property(fc.string({ minLength: 1, maxLength: 500 }), fc.string({ minLength: 1 }), (text, other) => {
        assert.equal(compareRaw(note, text, toWire(note, text)), meansNothing(text) ? 'unreadable' : 'equal');
        if (other !== text && !meansNothing(other)) assert.equal(compareRaw(note, text, other), 'unequal');
      }),
    );
    for (const value of ['on', 'off'])
      assert.equal(compareRaw(onoff(), value, toWire(onoff(), value)), 'equal');
    const press = field('press', { type: 'action' });
    assert.equal(compareRaw(press, true, toWire(press, true)), 'equal');
  });

  it('covers every spelling there and back', () => {
    const word = fc
      .stringMatching(/^[a-z][a-z0-9_]{0,8}$/)
      .filter((text) => !['unknown', 'unavailable', 'nan'].includes(text));
    const sent = fc.oneof(fc.integer({ min: -100, max: 100 }), fc.stringMatching(/^[A-Za-z]{1,8}$/));
    const distinct = fc.uniqueArray(fc.tuple(word, sent), {
      minLength: 1,
      maxLength: 8,
      selector: ([value]) => value,
    });
    fc.assert(
      fc.property(distinct, (pairs) => {
        fc.pre(new Set(pairs.map(([, send]) => String(send).toLowerCase())).size === pairs.length);
        const one = choice('mode', Object.fromEntries(pairs));
        for (const [value] of pairs) {
          assert.equal(compareRaw(one, value, toWire(one, value)), 'equal');
          for (const [other] of pairs) {
            if (other !== value) assert.equal(compareRaw(one, value, toWire(one, other)), 'unequal');
          }
        }
      }),
    );
  });
});

/** What one step of the device is in our unit; 0 where it has none of its own. */
function deviceStepInOurUnit(one: FieldDefinition, value: number): number {
  return one.device.step === null && one.device.range === null ? 0 : (stepAround(one, value) ?? 0);
}

const round = fc.constantFrom<'nearest' | 'down' | 'up'>('nearest', 'down', 'up');
const stepSize = fc.constantFrom(0.1, 0.5, 1, 2, 5);
const range = fc
  .tuple(fc.constantFrom(0, 1, 100, 153), fc.constantFrom(10, 100, 254, 255, 500, 1000, 65_535), fc.boolean())
  .filter(([low, high]) => low < high)
  .map(([low, high, flips]): [number, number] => (flips ? [high, low] : [low, high]));

const deviceScale = fc.oneof(
  fc.record({
    unit: fc.constantFrom(null, '°C', '°F', 'K'),
    step: fc.option(stepSize),
    round,
    range: fc.constant(null),
  }),
  fc.record({ unit: fc.constant(null), step: fc.option(stepSize), round, range }),
);

const anyNumericField = fc
  .record({
    unit: fc.constantFrom('°C', '°F', 'K'),
    min: fc.integer({ min: -20, max: 20 }),
    count: fc.integer({ min: 1, max: 400 }),
    step: stepSize,
    share: fc.option(fc.double({ min: 0, max: 0.99, noNaN: true })),
    device: deviceScale,
  })
  .map(({ unit, min, count, step, share, device }) =>
    field('level', {
      unit,
      min,
      max: withoutDust(min + count * step),
      step,
      tolerance: share === null ? null : share * step,
      device,
    }),
  );

const anyPercentField = fc
  .record({ step: fc.constantFrom(1, 5), device: deviceScale })
  .map(({ step, device }) => percent('level', { step, device: { ...device, unit: null } }));

/** A field with one of the values that may be asked of it. */
const settable = fc.oneof(anyNumericField, anyPercentField).chain((one) =>
  fc.nat({ max: Math.round(((one.max ?? 0) - (one.min ?? 0)) / (one.step ?? 1)) }).map((count) => ({
    one,
    value: withoutDust((one.min ?? 0) + count * (one.step ?? 1)),
  })),
);
