import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { conversionProblem, convert } from '../../domain/units.ts';

const near = (actual: number, expected: number) =>
  assert.ok(Math.abs(actual - expected) < 1e-6, `${actual} is not ${expected}`);

describe('units', () => {
  it('turn into each other by the numbers that physics gives', () => {
    near(convert(212, '°F', '°C'), 100);
    near(convert(-40, '°C', '°F'), -40);
    near(convert(0, '°C', 'K'), 273.15);
    near(convert(2700, 'K', 'mired'), 370.37037);
    near(convert(370, 'mired', 'K'), 2702.702703);
    near(convert(55, '%', 'fraction'), 0.55);
    near(convert(1.5, 'kWh', 'J'), 5.4e6);
    near(convert(36, 'km/h', 'm/s'), 10);
    near(convert(1, 'bar', 'psi'), 14.503774);
    near(convert(90, 's', 'min'), 1.5);
  });

  it('come back to the same number', () => {
    const pairs = [
      ['°C', '°F'],
      ['°F', 'K'],
      ['K', 'mired'],
      ['W', 'kW'],
      ['m', 'ft'],
      ['kg', 'lb'],
      ['L', 'gal'],
      ['°', 'rad'],
    ] as const;
    for (const [from, to] of pairs) near(convert(convert(21.5, from, to), to, from), 21.5);
  });

  it('have one value under several spellings', () => {
    assert.equal(convert(20, 'C', '°C'), 20);
    assert.equal(conversionProblem('℃', 'F'), null);
    assert.equal(conversionProblem('K', 'mirek'), null);
  });

  it('are the same where one side names none', () => {
    assert.equal(conversionProblem(null, '°C'), null);
    assert.equal(convert(7, '%', null), 7);
  });

  it('are refused across measures, naming what would be possible', () => {
    assert.match(conversionProblem('°C', '%') ?? '', /°C can't be turned into %; known for °C: °F, K/);
    assert.match(conversionProblem('°C', 'mired') ?? '', /can't be turned/);
    assert.match(conversionProblem('furlong', 'm') ?? '', /nothing is known about the unit furlong/);
    assert.match(conversionProblem('constructor', 'm') ?? '', /nothing is known/);
    assert.throws(() => convert(1, 'W', '°C'), /can't be turned into/);
  });
});
