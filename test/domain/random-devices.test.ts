/** Whatever a device answers, in whatever order: what may be said about it. From raw values to verdicts, without any I/O. */
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import fc from 'fast-check';
import type { SettlePolicy } from '../../domain/catalogue/definition.ts';
import type { Sample } from '../../domain/exchange.ts';
import { absorb, emptyStory, type FieldVerdict, judge, samplesOf } from '../../domain/settle.ts';
import type { Json, Reading } from '../../domain/values.ts';
import { fromWire } from '../../domain/wire.ts';
import { celsius } from './definitions.ts';
import { question, SENT_AT, sample } from './playing.ts';

const BEFORE = 20;
const ASKED = 22;
/** What no device means by a temperature. `undefined`: the reply lacks it. */
const NO_READINGS: readonly (Json | undefined)[] = [
  null,
  '',
  'unknown',
  'unavailable',
  'NaN',
  'on',
  Number.NaN,
  Number.POSITIVE_INFINITY,
  [22],
  { value: 22 },
  '0x16',
  undefined,
];

/** What one read brings. */
interface Answer {
  readonly raw: Json | undefined;
  readonly moving: boolean;
  readonly fault: 'clear' | 'raised' | 'unknown';
  /** The API lets nothing be read for so long. */
  readonly pauseMs: number | null;
  /** The read itself takes so long. */
  readonly takesMs: number;
}

const field = celsius();
const readingOf = ({ raw, pauseMs }: Answer): Reading =>
  pauseMs === null ? fromWire(field, raw) : { kind: 'unreadable', why: 'the request limit is used up' };

const value = fc.oneof(
  { weight: 4, arbitrary: fc.constantFrom<Json>(ASKED, '22', 22.0) },
  { weight: 3, arbitrary: fc.constant(BEFORE) },
  { weight: 2, arbitrary: fc.constantFrom(20.5, 21, 21.5) },
  { weight: 2, arbitrary: fc.constantFrom(5, 25, 30) },
  { weight: 2, arbitrary: fc.constantFrom(...NO_READINGS) },
);
const answer = (raw: fc.Arbitrary<Json | undefined>): fc.Arbitrary<Answer> =>
  fc.record({
    raw,
    moving: fc.oneof(
      { weight: 5, arbitrary: fc.constant(false) },
      { weight: 1, arbitrary: fc.constant(true) },
    ),
    fault: fc.oneof(
      { weight: 8, arbitrary: fc.constant('clear' as const) },
      { weight: 1, arbitrary: fc.constantFrom('raised' as const, 'unknown' as const) },
    ),
    pauseMs: fc.oneof({ weight: 8, arbitrary: fc.constant(null) }, { weight: 1, arbitrary: fc.nat(20_000) }),
    takesMs: fc.oneof({ weight: 5, arbitrary: fc.constant(0) }, { weight: 1, arbitrary: fc.nat(8000) }),
  });
/** Devices stay at a value for a while: an echo, a lag, a stop. */
const course = (raw: fc.Arbitrary<Json | undefined>): fc.Arbitrary<readonly Answer[]> =>
  fc
    .array(fc.tuple(answer(raw), fc.integer({ min: 1, max: 6 })), { minLength: 1, maxLength: 10 })
    .map((stays) => stays.flatMap(([one, reads]) => Array.from({ length: reads }, () => one)));
const policy = fc.record({
  stableMs: fc.constantFrom(0, 1000, 3000),
  reads: fc.integer({ min: 2, max: 4 }),
  withinMs: fc.constantFrom(5000, 20_000),
  lagMs: fc.constantFrom(0, 3000),
});

interface Told {
  readonly verdict: FieldVerdict;
  /** What was answered, in order, with the moment at which it was there. */
  readonly seen: readonly (Answer & { readonly at: number; readonly reading: Reading })[];
  readonly samples: ReturnType<typeof samplesOf>;
  readonly tookMs: number;
}

/** Reads when it is told to; the last answer comes again and again. */
function observe(answers: readonly Answer[], own: Partial<SettlePolicy>, known: boolean): Told {
  const asking = question(ASKED, { field, before: known ? BEFORE : null, policy: own });
  const seen: (Answer & { at: number; reading: Reading })[] = [];
  let story = emptyStory;
  let now = SENT_AT;
  for (let reads = 0; reads < 2000; reads += 1) {
    const judgement = judge(asking, story, now);
    if (judgement.kind === 'done') {
      const verdict = judgement.fields[field.name];
      assert.ok(verdict);
      return { verdict, seen, samples: samplesOf(story), tookMs: now - SENT_AT };
    }
    const next = answers[Math.min(reads, answers.length - 1)];
    assert.ok(next);
    now = Math.max(now, judgement.nextReadAt) + next.takesMs;
    const reading = readingOf(next);
    seen.push({ ...next, at: now, reading });
    const read: Sample = sample(now, field.name, null, {
      fields: { [field.name]: reading },
      moving: next.pauseMs === null && next.moving,
      faults: { jammed: next.pauseMs === null ? next.fault : 'unknown' },
      trouble: next.pauseMs === null ? null : 'the request limit is used up',
      retryAfterMs: next.pauseMs,
    });
    story = absorb(asking, story, read);
  }
  throw new Error('never decided');
}

const isAsked = ({ reading }: { readonly reading: Reading }) =>
  reading.kind === 'value' && reading.value === ASKED;
const readable = ({ seen }: Told) => seen.filter(({ reading }) => reading.kind === 'value');

describe('whatever a device answers', () => {
  it('is enough for every verdict to be among what these devices bring about', () => {
    const seen = new Set(
      fc
        .sample(fc.tuple(course(value), policy, fc.boolean()), { numRuns: 2000, seed: 1 })
        .map(([answers, own, known]) => observe(answers, own, known).verdict.verdict),
    );
    const expected = ['different', 'fault', 'superseded', 'unchanged', 'unreadable', 'unsettled', 'verified'];
    assert.deepEqual([...seen].sort(), expected);
  });

  const always = (
    raw: fc.Arbitrary<Json | undefined>,
    claim: (
      told: Told,
      own: { readonly stableMs: number; readonly reads: number; readonly withinMs: number },
    ) => void,
  ) =>
    fc.assert(
      fc.property(course(raw), policy, fc.boolean(), (answers, own, known) =>
        claim(observe(answers, own, known), own),
      ),
      { numRuns: 500 },
    );

  it('verified is said only of a device that was as asked in its last reads, for the stable window, unmoving and without a fault', () =>
    always(value, (told, { stableMs, reads }) => {
      if (told.verdict.verdict !== 'verified') return;
      const last = told.seen.at(-1);
      assert.ok(last && isAsked(last) && !last.moving && last.fault === 'clear' && last.pauseMs === null);
      const asked = told.seen.filter(({ pauseMs }) => pauseMs === null);
      const stretch = asked.slice(asked.findLastIndex((one) => !isAsked(one)) + 1);
      assert.ok(stretch.length >= reads, `${stretch.length} reads`);
      assert.ok(last.at - (stretch[0]?.at ?? last.at) >= stableMs);
    }));

  it('unchanged is said only of a device whose value before is known, and that never showed another one', () =>
    always(value, (told) => {
      if (told.verdict.verdict !== 'unchanged') return;
      assert.ok(readable(told).length >= 2);
      for (const { reading } of readable(told)) assert.deepEqual(reading, { kind: 'value', value: BEFORE });
    }));

  it('superseded is said only of a device that was seen as asked twice running, and then left it', () =>
    always(value, (told) => {
      if (told.verdict.verdict !== 'superseded') return;
      const shown = readable(told);
      assert.ok(
        shown.some(
          (one, index) => isAsked(one) && isAsked(shown[index + 1] ?? one) && index + 1 < shown.length,
        ),
      );
      assert.notEqual(told.verdict.observed?.value, ASKED);
    }));

  it('different is said only of a device that stands still somewhere else', () =>
    always(value, (told) => {
      if (told.verdict.verdict !== 'different') return;
      const [last, previous] = readable(told).slice(-2).reverse();
      assert.ok(last && previous && !isAsked(last));
      assert.deepEqual(last.reading, previous.reading);
      assert.equal(told.verdict.observed?.value, last.reading.kind === 'value' && last.reading.value);
    }));

  it('nothing is concluded from what is no reading, but that a fault is raised', () =>
    always(fc.constantFrom(...NO_READINGS), (told) => {
      const last = told.seen.at(-1);
      const faulty = last?.pauseMs === null && last.fault === 'raised';
      assert.deepEqual(
        [told.verdict.verdict, told.verdict.observed],
        [faulty ? 'fault' : 'unreadable', null],
      );
      assert.ok(told.samples.every((run) => run.value === null));
    }));

  it('it is never adjusted, and no number but a finite one is ever shown', () =>
    always(value, (told) => {
      assert.equal(told.verdict.adjusted, false, 'the device has no steps of its own here');
      const shown = [told.verdict.observed?.value, ...told.samples.map((run) => run.value)];
      for (const one of shown) assert.ok(one === undefined || one === null || Number.isFinite(one));
    }));

  it('it is decided in time: within, the pauses that the API asked for, and one stable window', () =>
    always(value, (told, { withinMs, stableMs, reads }) => {
      const slowest = 8000;
      const longestPause = 20_000;
      const limit = withinMs + 60_000 + longestPause + (reads + 2) * (stableMs + 1000 + slowest);
      assert.ok(told.tookMs <= limit, `${told.tookMs} ms`);
    }));
});
