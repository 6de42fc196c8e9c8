import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import fc from 'fast-check';
import type { SampleRun } from '../../domain/outcome.ts';
import { movementOf, suggestedSettle } from '../../domain/settle-measured.ts';

const SENT_AT = 1_796_000_000_000;

/** What was read, as `[seconds after the send, value]`. */
function samples(reads: readonly (readonly [number, number])[]): SampleRun[] {
  const runs: SampleRun[] = [];
  for (const [seconds, value] of reads) {
    const at = SENT_AT + seconds * 1000;
    const last = runs.at(-1);
    if (last?.value === value) runs[runs.length - 1] = { ...last, lastAt: at, reads: last.reads + 1 };
    else runs.push({ field: 'position', value, note: null, firstAt: at, lastAt: at, reads: 1 });
  }
  return runs;
}

describe('measuring how a device settles', () => {
  it('finds when it stirred, when it arrived, and how sure that is', () => {
    const movement = movementOf(
      samples([
        [0, 40],
        [2, 40],
        [4, 55],
        [6, 80],
        [8, 80],
      ]),
      'position',
      [SENT_AT],
    );
    assert.deepEqual(movement, {
      field: 'position',
      to: 80,
      stirredMs: 4000,
      arrivedMs: 6000,
      blurMs: 2000,
      paused: 0,
    });
  });

  it('counts from the step that sent the field, not from the one before it', () => {
    const reads = samples([
      [0, 40],
      [30, 40],
      [33, 80],
      [35, 80],
    ]);
    const sends = [SENT_AT, SENT_AT + 31_000];
    assert.equal(movementOf(reads, 'position', sends)?.arrivedMs, 2000);
  });

  it('asks for a longer stable time where the device paused on its way, and for a lag where the old value stayed', () => {
    const movement = movementOf(
      samples([
        [0, 40],
        [20, 40],
        [21, 55],
        [31, 55],
        [32, 80],
        [34, 80],
      ]),
      'position',
      [SENT_AT],
    );
    assert.ok(movement);
    const suggested = suggestedSettle([movement]);
    assert.equal(suggested?.stableMs, 15_000);
    assert.equal(suggested?.lagMs, 45_000);
    assert.ok((suggested?.withinMs ?? 0) > 32_000 + 15_000);
  });

  it('measures nothing where nothing was read after the send', () => {
    assert.equal(movementOf(samples([[-3, 40]]), 'position', [SENT_AT]), null);
    assert.equal(suggestedSettle([]), null);
  });

  it('only ever suggests times that fit together', () => {
    const movement = fc.record({
      field: fc.constant('position'),
      to: fc.constant(80),
      stirredMs: fc.nat(600_000),
      arrivedMs: fc.nat(3_000_000),
      blurMs: fc.nat(20_000),
      paused: fc.nat(60_000),
    });
    fc.assert(
      fc.property(fc.array(movement, { minLength: 1, maxLength: 6 }), (movements) => {
        const fitting = movements.map((one) => ({
          ...one,
          stirredMs: Math.min(one.stirredMs, one.arrivedMs),
        }));
        const suggested = suggestedSettle(fitting);
        assert.ok(suggested !== null);
        const arrived = Math.max(...fitting.map(({ arrivedMs }) => arrivedMs));
        assert.ok(suggested.withinMs > arrived + suggested.stableMs);
        assert.ok(suggested.lagMs < suggested.withinMs);
        assert.ok(suggested.everyMs < suggested.withinMs && suggested.firstMs < suggested.withinMs);
      }),
    );
  });
});
