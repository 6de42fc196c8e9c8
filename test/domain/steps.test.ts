import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import type { DeviceDefinition } from '../../domain/catalogue/definition.ts';
import { planSteps } from '../../domain/steps.ts';
import type { Desired, Value } from '../../domain/values.ts';
import { celsius, choice, device, field, onoff, percent, readings, step } from './definitions.ts';

function planned(one: DeviceDefinition, desired: Desired, current: Readonly<Record<string, Value>> = {}) {
  const plan = planSteps(one, desired, readings(current));
  return plan.ok ? plan.steps.map(({ step: { index }, fields }) => [index, ...fields].join(' ')) : plan.why;
}

const mode = choice('mode', { cool: 'cool', heat: 'heat', fan_only: 'fan_only' });
const splitAc = device([onoff(), celsius({ appliesWhen: { mode: ['cool', 'heat'] } }), mode], {
  send: [step(0, ['power']), step(1, ['temperature'], { uses: ['mode'] }), step(2, ['mode'])],
});
const lamp = device([onoff(), percent('brightness', { appliesWhen: { power: ['on'] } })], {
  send: [
    step(0, ['power', 'brightness'], { when: { power: ['on'] } }),
    step(1, ['power'], { when: { power: ['off'] } }),
  ],
});

describe('planning the requests of a command', () => {
  it('S10: sends the mode before the temperature that depends on it, however they were written', () => {
    assert.deepEqual(planned(splitAc, { temperature: 22, mode: 'cool' }), ['2 mode', '1 temperature']);
    assert.deepEqual(planned(splitAc, { mode: 'cool', temperature: 22 }), ['2 mode', '1 temperature']);
  });

  it('S10: keeps the catalogue’s order for what depends on nothing', () => {
    assert.deepEqual(planned(splitAc, { temperature: 22, mode: 'cool', power: 'on' }), [
      '0 power',
      '2 mode',
      '1 temperature',
    ]);
  });

  it('follows dependencies over several steps', () => {
    const chain = device(
      ['a', 'b', 'c'].map((name, index, names) =>
        field(name, { appliesWhen: index === 2 ? {} : { [names[index + 1] ?? '']: [1] } }),
      ),
      { send: [step(0, ['a']), step(1, ['b']), step(2, ['c'])] },
    );
    assert.deepEqual(planned(chain, { a: 1, b: 1, c: 1 }), ['2 c', '1 b', '0 a']);
  });

  it('ends in the catalogue’s order where steps wait for each other', () => {
    const circle = device(
      [
        field('a', { appliesWhen: { b: [1] } }),
        field('b'),
        field('c', { appliesWhen: { d: [1] } }),
        field('d'),
      ],
      { send: [step(0, ['a', 'd']), step(1, ['b', 'c'])] },
    );
    assert.deepEqual(planned(circle, { a: 1, b: 1, c: 1, d: 1 }), ['0 a d', '1 b c']);
  });

  it('gives each field to the first step that lists it and whose condition holds, desired before current', () => {
    assert.deepEqual(planned(lamp, { power: 'on', brightness: 50 }, { power: 'off' }), [
      '0 power brightness',
    ]);
    assert.deepEqual(planned(lamp, { power: 'off' }, { power: 'on' }), ['1 power']);
    assert.deepEqual(planned(lamp, { brightness: 50 }, { power: 'on' }), ['0 brightness']);
  });

  it('plans nothing for a field that does not apply as the device is now, and says why', () => {
    assert.equal(
      planned(lamp, { brightness: 50 }, { power: 'off' }),
      'brightness applies only while power is on, and it is off',
    );
    assert.equal(
      planned(splitAc, { temperature: 22 }, { mode: 'fan_only' }),
      'temperature applies only while mode is cool | heat, and it is fan_only',
    );
  });

  it('sends what may apply when the reading is missing, but chooses no request on a guess', () => {
    assert.deepEqual(planned(splitAc, { temperature: 22 }), ['1 temperature']);
    assert.match(
      String(planned(lamp, { brightness: 50 })),
      /brightness can't be sent: it needs power to be on, which can't be read/,
    );
  });
});
