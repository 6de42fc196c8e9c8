/** What holds for every series of readings. */
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import fc from 'fast-check';
import { samplesOf } from '../../domain/settle.ts';
import { field } from './definitions.ts';
import { play } from './playing.ts';

describe('the story', () => {
  it('stays small however often a device changes its mind', () => {
    const series = Array.from({ length: 900 }, (_, index) => (index % 2 === 0 ? 20 : 25));
    const { story } = play(26, series, { before: 24, policy: { withinMs: 900_000 } });
    assert.equal(samplesOf(story).length, 20);
    assert.ok(JSON.stringify(story).length < 8000);
  });

  it('keeps how long each value was shown, and how often it was read', () => {
    const { story } = play(26, [24, 24, 26, 26, 26], { before: 24 });
    assert.deepEqual(
      samplesOf(story).map(({ value, reads, firstAt, lastAt }) => [value, reads, lastAt - firstAt]),
      [
        [24, 2, 1000],
        [26, 3, 2000],
      ],
    );
  });
});

describe('whatever a device shows', () => {
  const readings = fc.array(fc.option(fc.constantFrom(24, 25, 26), { nil: null }), {
    minLength: 1,
    maxLength: 20,
  });

  it('verified means that its last readings were as asked, twice or more and for the stable window', () => {
    fc.assert(
      fc.property(readings, (series) => {
        const { verdict, afterSeconds } = play(26, series, { before: 24 });
        if (verdict !== 'verified') return;
        const shown = (second: number) => series[Math.min(second, series.length) - 1];
        for (const second of [afterSeconds, afterSeconds - 1, afterSeconds - 2])
          assert.equal(shown(second), 26);
      }),
    );
  });

  it('unchanged means that no reading ever differed from the value before', () => {
    fc.assert(
      fc.property(readings, (series) => {
        const { verdict } = play(26, series, { before: 24 });
        if (verdict !== 'unchanged') return;
        assert.ok(series.slice(0, 10).every((value) => value === null || value === 24));
      }),
    );
  });

  it('an action is done when its confirmation holds, and unchanged when it never does', () => {
    const pulse = field('pulse', { type: 'action', read: null, confirm: 'x' });
    assert.equal(
      play(true, [false, true], { field: pulse, before: false, confirmed: [false, true] }).verdict,
      'verified',
    );
    assert.equal(
      play(true, [false], { field: pulse, before: false, confirmed: [false] }).verdict,
      'unchanged',
    );
  });
});
