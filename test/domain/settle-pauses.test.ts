/** What a pause that the API asks for does to the time that a device has. */
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import type { Sample } from '../../domain/exchange.ts';
import { absorb, emptyStory, judge } from '../../domain/settle.ts';
import { question, SENT_AT, sample } from './playing.ts';

describe('an API that lets nothing be read for a while', () => {
  const asking = question(26, { before: 24, policy: { withinMs: 5000 } });
  const limited = (at: number, retryAfterMs: number): Sample =>
    sample(at, 'temperature', null, { trouble: 'the request limit is used up', retryAfterMs });
  /** Reads when it is told to, for as long as it is told to. */
  const readOn = (first: Sample, then: (at: number) => Sample) => {
    let story = absorb(asking, emptyStory, first);
    for (let reads = 1; reads < 100; reads += 1) {
      const at: number = story.lastSample?.at ?? 0;
      const judgement = judge(asking, story, at);
      if (judgement.kind === 'done') return { at, verdict: judgement.fields['temperature']?.verdict };
      story = absorb(asking, story, then(judgement.nextReadAt));
    }
    throw new Error('never decided');
  };

  it('puts the deadline off by that while', () => {
    const { verdict } = readOn(limited(SENT_AT + 1000, 30_000), (at) => sample(at, 'temperature', 26));
    assert.equal(verdict, 'verified');
  });

  it('does not make a device unsettled that could be read only at the end', () => {
    const { verdict } = readOn(limited(SENT_AT + 5000, 30_000), (at) => sample(at, 'temperature', 24));
    assert.equal(verdict, 'unchanged');
  });

  it('does not interrupt a value that stays as asked whenever it can be read', () => {
    let reads = 0;
    const { verdict } = readOn(sample(SENT_AT + 1000, 'temperature', 26), (at) => {
      reads += 1;
      return reads % 2 === 1 ? limited(at, 3000) : sample(at, 'temperature', 26);
    });
    assert.deepEqual([verdict, reads], ['verified', 2]);
  });

  it('also keeps the window of a value that could be read only after the deadline', () => {
    const answers = [
      (at: number) => sample(at + 6000, 'temperature', 26),
      (at: number) => limited(at + 2000, 1000),
      (at: number) => sample(at, 'temperature', 26),
      (at: number) => limited(at + 2000, 1000),
      (at: number) => sample(at, 'temperature', 26),
    ];
    const { verdict } = readOn(sample(SENT_AT + 1000, 'temperature', null, { trouble: 'no reply' }), (at) =>
      (answers.shift() ?? ((when: number) => sample(when, 'temperature', 26)))(at),
    );
    assert.equal(verdict, 'verified');
  });

  it('is no reading: what was moving when it was last read is not verified by it', () => {
    let story = emptyStory;
    for (const second of [1, 2, 3, 4])
      story = absorb(asking, story, sample(SENT_AT + second * 1000, 'temperature', 26, { moving: true }));
    story = absorb(asking, story, limited(SENT_AT + 5000, 1000));
    assert.equal(judge(asking, story, SENT_AT + 5000).kind, 'wait');
  });

  it('puts it off by no more than the patience of the command', () => {
    const { verdict, at } = readOn(limited(SENT_AT + 1000, 30_000), (when) => limited(when, 30_000));
    assert.equal(verdict, 'unreadable');
    assert.equal(at, SENT_AT + 5000 + asking.patienceMs);
  });
});
