/** Plays recorded series of readings to the settle logic, one a second. */
import assert from 'node:assert/strict';
import type { FieldDefinition, SettlePolicy } from '../../domain/catalogue/definition.ts';
import type { Sample } from '../../domain/exchange.ts';
import { absorb, emptyStory, judge, type SettleQuestion } from '../../domain/settle.ts';
import type { Reading, Value } from '../../domain/values.ts';
import { celsius } from './definitions.ts';

export const SENT_AT = 1_000_000;

/** Readings one second apart, from one second after the send; null is unreadable. */
export type Series = readonly (Value | null)[];

export interface Circumstances {
  readonly field?: FieldDefinition;
  readonly before?: Value | null;
  readonly policy?: Partial<SettlePolicy>;
  readonly moving?: readonly boolean[];
  readonly fault?: readonly boolean[];
  readonly confirmed?: readonly boolean[];
}

export function question(
  asked: Value,
  { field: definition = celsius(), before = null, policy = {} }: Circumstances,
): SettleQuestion {
  return {
    desired: { [definition.name]: asked },
    fields: { [definition.name]: definition },
    before: before === null ? {} : { [definition.name]: { kind: 'value', value: before } },
    policy: {
      firstMs: 1000,
      everyMs: 1000,
      withinMs: 10_000,
      stableMs: 2000,
      reads: 2,
      lagMs: 0,
      lagReason: null,
      maxSends: 1,
      ...policy,
    },
    sentAt: SENT_AT,
    patienceMs: 60_000,
  };
}

export function sample(at: number, name: string, value: Value | null, more: Partial<Sample> = {}): Sample {
  const reading: Reading =
    value === null ? { kind: 'unreadable', why: 'no answer' } : { kind: 'value', value };
  return {
    at,
    deviceAt: null,
    fields: { [name]: reading },
    moving: false,
    faults: {},
    confirmed: {},
    trouble: null,
    retryAfterMs: null,
    ...more,
  };
}

/** Plays a series, repeating its last reading until the question is answered. */
export function play(asked: Value, series: Series, circumstances: Circumstances = {}) {
  const asking = question(asked, circumstances);
  const name = Object.keys(asking.fields)[0] ?? '';
  let story = emptyStory;
  for (let second = 1; second < 1000; second += 1) {
    const at = SENT_AT + second * 1000;
    const index = Math.min(second, series.length) - 1;
    const last = (list: readonly boolean[] | undefined) => list?.[Math.min(second, list.length) - 1];
    const moving = last(circumstances.moving) ?? false;
    const fault = last(circumstances.fault);
    const confirmed = last(circumstances.confirmed);
    story = absorb(
      asking,
      story,
      sample(at, name, series[index] ?? null, {
        moving,
        ...(fault === undefined ? {} : { faults: { jammed: fault ? 'raised' : 'clear' } }),
        ...(confirmed === undefined ? {} : { confirmed: { [name]: confirmed } }),
      }),
    );
    const judgement = judge(asking, story, at);
    if (judgement.kind === 'done') {
      const verdict = judgement.fields[name];
      assert.ok(verdict);
      return { ...verdict, afterSeconds: second, story };
    }
  }
  throw new Error('never decided');
}
