import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { describeField, findDevice } from '../../domain/devices.ts';
import { celsius, choice, device, field, onoff, percent } from './definitions.ts';

const catalogue = {
  devices: Object.fromEntries(
    [
      device([onoff()], { id: 'bedroom-ac', name: 'Bedroom air conditioner', aliases: ['AC'] }),
      device([onoff()], { id: 'attic-ac', name: 'Air conditioner' }),
      device([onoff()], { id: 'cellar-ac', name: 'Air conditioner' }),
      device([onoff()], { id: 'desk-lamp', name: 'Desk lamp', aliases: ['lamp'] }),
    ].map((one) => [one.id, one]),
  ),
};

const found = (name: string) => {
  const result = findDevice(catalogue, name);
  return result.ok ? result.device.id : result.suggestions;
};

describe('finding a device', () => {
  it('takes its id, its name and its aliases, in any case', () => {
    for (const name of ['bedroom-ac', 'Bedroom-AC', ' bedroom air conditioner ', 'ac'])
      assert.equal(found(name), 'bedroom-ac', name);
    assert.equal(found('LAMP'), 'desk-lamp');
  });

  it('never guesses: what is merely close is only suggested', () => {
    assert.deepEqual(found('bedrom-ac'), ['bedroom-ac']);
    assert.deepEqual(found('desk'), ['desk-lamp']);
    assert.ok(found('bedroom').includes('bedroom-ac'));
    assert.deepEqual(found('garage door'), []);
    assert.deepEqual(found(''), []);
  });

  it('suggests all that share a name instead of taking one of them', () => {
    assert.deepEqual(found('air conditioner'), ['attic-ac', 'cellar-ac']);
  });

  it('finds nothing under the names that objects have anyway', () => {
    for (const name of ['__proto__', 'constructor', 'x'.repeat(100_000)]) assert.deepEqual(found(name), []);
  });
});

describe('what can be asked of a field', () => {
  it('is said in a few words', () => {
    assert.equal(describeField(celsius()), '16–30 °C, step 0.5');
    assert.equal(describeField(onoff()), 'on | off');
    assert.equal(describeField(choice('mode', { cool: 'c', heat: 'h' })), 'cool | heat');
    assert.equal(describeField(percent('level', { min: null, max: null })), '0–100 %');
    assert.equal(describeField(field('load', { unit: 'W', readOnly: true })), 'read only');
    assert.equal(describeField(field('speed', { unit: 'rpm' })), 'a number (rpm)');
    assert.equal(describeField(field('limit', { min: 5, unit: 'W' })), 'at least 5 W');
    assert.equal(describeField(field('note', { type: 'text' })), 'text');
  });
});
