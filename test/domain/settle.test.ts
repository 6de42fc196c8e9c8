/** What becomes of a command, told from recorded series of readings. One letter of time is one second. */
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import type { Sample } from '../../domain/exchange.ts';
import type { Verdict } from '../../domain/outcome.ts';
import { absorb, emptyStory, judge, type SettleQuestion } from '../../domain/settle.ts';
import type { Value } from '../../domain/values.ts';
import { celsius, choice, percent } from './definitions.ts';
import { type Circumstances, play, question, SENT_AT, type Series, sample } from './playing.ts';

describe('one field, read once a second for ten seconds', () => {
  const cases: readonly [
    name: string,
    asked: Value,
    series: Series,
    expected: Verdict,
    circumstances?: Circumstances,
  ][] = [
    ['is verified once it reads as asked and stays so', 26, [24, 24, 26, 26, 26], 'verified', { before: 24 }],
    ['is unchanged when it is acknowledged but never moves', 26, [24], 'unchanged', { before: 24 }],
    [
      'is different when it stops on the way',
      80,
      [40, 55, 55],
      'different',
      { before: 30, field: percent('position') },
    ],
    ['is different, not unchanged, when the value before is not known', 26, [24], 'different'],
    ['is different when it moved and went back', 26, [24, 25, 24], 'different', { before: 24 }],
    [
      'is different after one right reading only: that was an echo',
      80,
      [80, 0],
      'different',
      { before: 40, field: percent('position') },
    ],
    [
      'is superseded when it was reached and then left',
      21,
      [21, 21, 19],
      'superseded',
      { before: 19, policy: { stableMs: 5000 } },
    ],
    [
      'is different when it echoed what was asked, set out from the old value and stopped short',
      80,
      [80, 80, 40, 45, 50, 55],
      'different',
      { before: 40, field: percent('position'), policy: { stableMs: 3000 } },
    ],
    [
      'is superseded when it was reached after an echo, and then left',
      21,
      [21, 21, 19, 20, 21, 21, 19],
      'superseded',
      { before: 19, policy: { stableMs: 3000, withinMs: 12_000 } },
    ],
    [
      'is unsettled while it moves at the deadline',
      80,
      [41, 42, 43],
      'unsettled',
      { before: 40, field: percent('position'), moving: [true] },
    ],
    [
      'is unsettled while its value still changes at the deadline',
      80,
      [41, 42, 43, 44, 45, 46, 47, 48, 49, 50],
      'unsettled',
      { before: 40, field: percent('position') },
    ],
    [
      'is unsettled when it flaps',
      'on',
      Array.from({ length: 16 }, (_, index) => (index % 2 === 0 ? 'off' : 'on')),
      'unsettled',
      { field: choice('power', { on: 'on', off: 'off' }), before: 'off' },
    ],
    [
      'is unchanged, not unreadable, when only the read at the deadline gets lost',
      26,
      [24, 24, 24, 24, 24, 24, 24, 24, 24, null, 24],
      'unchanged',
      { before: 24 },
    ],
    [
      'is unreadable when the device goes away for longer than the deadline',
      26,
      [24, 24, 24, 24, 24, 24, 24, 24, 24, null],
      'unreadable',
      { before: 24 },
    ],
    ['is unreadable when no reading comes', 26, [null], 'unreadable', { before: 24 }],
    [
      'is unreadable when the device goes away after a reading',
      26,
      [24, 24, null],
      'unreadable',
      { before: 24 },
    ],
    [
      'survives a lost reading now and then',
      26,
      [24, null, 24, null, 26, 26, 26],
      'verified',
      { before: 24 },
    ],
    [
      'starts the stable window anew after a lost reading',
      26,
      [26, null, 26, 26, 26],
      'verified',
      { before: 24 },
    ],
    [
      'is a fault, not verified, while a declared fault is raised',
      'locked',
      ['locked'],
      'fault',
      { field: choice('lock', { locked: 'L', unlocked: 'U' }), before: 'unlocked', fault: [true] },
    ],
    [
      'is a fault where the device says that it is jammed and nothing else',
      'locked',
      [null],
      'fault',
      { field: choice('lock', { locked: 'L', unlocked: 'U' }), before: 'unlocked', fault: [true] },
    ],
    [
      'is verified when the fault clears in time',
      'locked',
      ['locked'],
      'verified',
      {
        field: choice('lock', { locked: 'L', unlocked: 'U' }),
        before: 'unlocked',
        fault: [true, true, false],
      },
    ],
    [
      'is different when the value is right but its confirmation does not hold',
      'locked',
      ['locked'],
      'different',
      {
        field: choice('lock', { locked: 'L', unlocked: 'U' }, { confirm: 'x' }),
        confirmed: [false],
        before: 'unlocked',
      },
    ],
    [
      'is verified within a tolerance that lies below a step',
      70,
      [69.6],
      'verified',
      { field: percent('position', { step: 1 }), before: 40 },
    ],
  ];
  for (const [name, asked, series, expected, circumstances] of cases) {
    it(name, () => assert.equal(play(asked, series, circumstances).verdict, expected));
  }

  it('never verifies on one read, however long it is', () => {
    const { afterSeconds } = play(26, [26], { before: 24, policy: { stableMs: 0 } });
    assert.equal(afterSeconds, 2);
  });

  it('gives a value that turned right just before the deadline its stable window', () => {
    const { verdict, afterSeconds } = play(26, [24, 24, 24, 24, 24, 24, 24, 24, 24, 26], { before: 24 });
    assert.equal(verdict, 'verified');
    assert.equal(afterSeconds, 12);
  });

  it('does not end before the deadline unless it is verified', () => {
    assert.equal(play(80, [55], { before: 40, field: percent('position') }).afterSeconds, 10);
  });

  it('says what it waits for while the device may still show the old value', () => {
    const asking = question(26, {
      before: 24,
      policy: { lagMs: 5000, lagReason: 'waiting for the device to wake' },
    });
    const early = judge(
      asking,
      absorb(asking, emptyStory, sample(SENT_AT + 1000, 'temperature', 24)),
      SENT_AT + 1000,
    );
    assert.equal(
      early.kind === 'wait' && early.note,
      'temperature reads 24 °C, asked 26 °C; waiting for the device to wake',
    );
  });

  it('reads again when the API asked for a pause, not sooner', () => {
    const asking = question(26, { before: 24 });
    const story = absorb(
      asking,
      emptyStory,
      sample(SENT_AT + 1000, 'temperature', null, { trouble: 'HTTP 429', retryAfterMs: 4000 }),
    );
    const judgement = judge(asking, story, SENT_AT + 1000);
    assert.equal(judgement.kind === 'wait' && judgement.nextReadAt, SENT_AT + 5000);
  });
});

describe('a device that says in a word of its own what it is doing', () => {
  const door = choice('door', { open: 'open', closed: 'closed' });
  const opening = (at: number, moving: boolean): Sample =>
    sample(at, 'door', null, {
      moving,
      fields: {
        door: { kind: 'unreadable', why: '"opening" is none of open | closed', word: 'opening' },
      },
    });
  const verdictOf = (moving: boolean) => {
    const asking = question('open', { field: door, before: 'closed' });
    let story = emptyStory;
    for (let second = 1; second <= 10; second += 1)
      story = absorb(asking, story, opening(SENT_AT + second * 1000, moving));
    const judgement = judge(asking, story, SENT_AT + 10_000);
    return judgement.kind === 'done' ? judgement.fields['door'] : undefined;
  };

  it('is unsettled while that word means that it moves', () => {
    const { verdict, detail, observed } = verdictOf(true) ?? {};
    assert.deepEqual(
      [verdict, detail, observed],
      ['unsettled', 'asked open, still opening after 10 s', null],
    );
  });

  it('is unreadable when nothing says what the word means', () => {
    assert.equal(verdictOf(false)?.verdict, 'unreadable');
  });
});

describe('a fault', () => {
  it('is named also where the value is not as asked', () => {
    const lock = choice('lock', { locked: 'L', unlocked: 'U' });
    const { verdict, detail } = play('locked', ['unlocked'], {
      field: lock,
      before: 'unlocked',
      fault: [true],
    });
    assert.equal(verdict, 'unchanged');
    assert.match(detail, /still unlocked after 10 reads; the device reports jammed, and a person is needed/);
  });
});

describe('several fields', () => {
  const fields = { temperature: celsius(), mode: choice('mode', { cool: 'cool', heat: 'heat' }) };
  const asking: SettleQuestion = {
    ...question(26, { before: 24 }),
    desired: { temperature: 26, mode: 'heat' },
    fields,
    before: { temperature: { kind: 'value', value: 24 }, mode: { kind: 'value', value: 'cool' } },
  };
  const at = (second: number, temperature: number, mode: string): Sample => ({
    ...sample(SENT_AT + second * 1000, 'temperature', temperature),
    fields: { temperature: { kind: 'value', value: temperature }, mode: { kind: 'value', value: mode } },
  });

  it('are verified only together', () => {
    let story = emptyStory;
    for (const second of [1, 2, 3, 4]) story = absorb(asking, story, at(second, 26, 'cool'));
    assert.equal(judge(asking, story, SENT_AT + 4000).kind, 'wait');
  });

  it('keep a verdict of their own at the deadline', () => {
    let story = emptyStory;
    for (let second = 1; second <= 10; second += 1) story = absorb(asking, story, at(second, 26, 'cool'));
    const judgement = judge(asking, story, SENT_AT + 10_000);
    assert.ok(judgement.kind === 'done');
    assert.equal(judgement.fields['temperature']?.verdict, 'verified');
    assert.equal(judgement.fields['mode']?.verdict, 'unchanged');
  });
});
