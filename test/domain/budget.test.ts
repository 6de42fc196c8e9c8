/** The arithmetic of a budget that workers share, whatever they ask and however they end. */
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import fc from 'fast-check';
import { type Ask, type Budget, type BudgetRules, EMPTY_BUDGET, idleAt, lend } from '../../domain/budget.ts';

const START = 1_000_000_000;
const NOTHING = { readbacks: 0, others: 0 };
const RULES: BudgetRules = {
  limits: [{ requests: 30, perMs: 300_000, keepForReads: 4 }],
  spacingMs: 0,
  timeoutMs: 10_000,
};

/** A budget, as it answers one ask after the other. */
function keeper(rules: BudgetRules) {
  let budget: Budget = EMPTY_BUDGET;
  let asks = 0;
  return {
    budget: () => budget,
    ask(now: number, more: Partial<Ask> = {}) {
      asks += 1;
      const lease = `lease-${asks}`;
      const ask: Ask = { worker: 'a', lease, rules, wanted: NOTHING, returned: [], heldMs: NOTHING, ...more };
      const lent = lend(budget, ask, now);
      // What continues as new travels as JSON.
      budget = JSON.parse(JSON.stringify(lent.budget)) as Budget;
      return { ...lent.loan, lease };
    },
  };
}

const others = (count: number) => ({ readbacks: 0, others: count });
const readbacks = (count: number) => ({ readbacks: count, others: 0 });
const all = (lease: string, count: number, agoMs = 0) => ({ lease, used: [{ agoMs, count }] });

describe('a budget', () => {
  it('lends no more than a limit, and keeps its reserve for readbacks', () => {
    const { ask } = keeper(RULES);
    const first = ask(START, { wanted: others(40) });
    assert.deepEqual([first.places, first.reserved], [26, 0]);
    assert.equal(ask(START, { worker: 'b', wanted: others(1) }).places, 0);
    const reserve = ask(START, { worker: 'b', wanted: readbacks(9) });
    assert.deepEqual([reserve.places, reserve.reserved], [0, 4]);
  });

  it('lends a few to spare while there is plenty, and exactly what is wanted while there is not', () => {
    const { ask } = keeper(RULES);
    assert.equal(ask(START, { wanted: others(1) }).places, 6);
    assert.equal(ask(START, { wanted: others(17) }).places, 17);
    assert.equal(ask(START, { wanted: others(1) }).places, 1);
  });

  it('counts a request from when it ended, and what nobody brought back from when it may have ended', () => {
    const { ask } = keeper(RULES);
    const { lease, validMs } = ask(START, { wanted: others(26) });
    const back = ask(START + 5000, { returned: [all(lease, 26, 5000)], wanted: others(1) });
    assert.equal(back.waitMs.others, 295_000);

    const { ask: askAgain } = keeper(RULES);
    askAgain(START, { wanted: others(26) });
    const overAt = START + validMs + RULES.timeoutMs;
    const lost = askAgain(overAt, { worker: 'b', wanted: others(1) });
    assert.deepEqual([lost.places, lost.waitMs.others], [0, 300_000]);
  });

  it('lends again at once what came back unused', () => {
    const { ask } = keeper(RULES);
    const { lease } = ask(START, { wanted: others(26) });
    const returned = [{ lease, used: [{ agoMs: 0, count: 3 }] }];
    assert.equal(ask(START + 1000, { worker: 'b', returned, wanted: others(30) }).places, 23);
  });

  it('divides what is free among the workers that wait', () => {
    const { ask } = keeper(RULES);
    const { lease } = ask(START, { wanted: others(26) });
    ask(START + 1000, { returned: [all(lease, 26)], wanted: others(40) });
    const { waitMs } = ask(START + 1000, { worker: 'b', wanted: others(5) });
    const at = START + 1000 + waitMs.others;
    assert.equal(ask(at, { wanted: others(40) }).places, 13);
    assert.equal(ask(at, { worker: 'b', wanted: others(5) }).places, 5);
    assert.equal(ask(at, { wanted: others(40) }).places, 8);
  });

  it('keeps to what the API itself said, whichever worker heard it', () => {
    const { ask } = keeper(RULES);
    ask(START, { heldMs: { readbacks: 0, others: 60_000 } });
    const told = ask(START + 1000, { worker: 'b', wanted: { readbacks: 1, others: 1 } });
    assert.deepEqual(told.waitMs, { readbacks: 0, others: 59_000 });
    assert.equal(told.places, 0);
    assert.equal(told.reserved, 1);
  });

  it('counts a day from each request, so that no day of the vendor, wherever it begins, sees more', () => {
    const day = 86_400_000;
    const { ask } = keeper({ ...RULES, limits: [{ requests: 200, perMs: day, keepForReads: 0 }] });
    const { lease } = ask(START, { wanted: others(200) });
    const { waitMs } = ask(START + 1000, { returned: [all(lease, 200)], wanted: others(1) });
    assert.ok(waitMs.others >= day && waitMs.others <= day * 1.02, String(waitMs.others));
    assert.equal(ask(START + 1000 + waitMs.others, { wanted: others(1) }).places, 20);
  });

  it('goes on with what is known when the catalogue changes the limits', () => {
    const { ask } = keeper(RULES);
    const { lease } = ask(START, { wanted: others(26) });
    const hourly = { ...RULES, limits: [{ requests: 100, perMs: 3_600_000, keepForReads: 0 }] };
    const changed = ask(START + 1000, { rules: hourly, returned: [all(lease, 26)], wanted: others(200) });
    assert.equal(changed.places, 74);
  });

  it('gives the connection to one worker at a time where requests have a spacing, and to the other one next', () => {
    const { ask } = keeper({ limits: [], spacingMs: 100, timeoutMs: 1000 });
    const first = ask(START, { wanted: others(1) });
    assert.ok(first.places > 1);
    const waiting = ask(START + 50, { worker: 'b', wanted: others(1) });
    assert.deepEqual([waiting.places, waiting.waitMs.others], [0, first.validMs + 50]);
    const at = START + first.validMs + 100;
    assert.equal(ask(at, { wanted: others(1) }).places, 0, 'it had its turn');
    const second = ask(at, { worker: 'b', wanted: others(1) });
    assert.ok(second.places > 0);
    assert.ok(second.validMs < first.validMs, 'turns are shorter where there are two');
  });

  it('may be forgotten once nothing it knows counts any more', () => {
    const { ask, budget } = keeper(RULES);
    ask(START, { wanted: others(26) });
    assert.equal(ask(idleAt(budget()), { worker: 'b', wanted: others(26) }).places, 26);
  });

  it('never lets more than a limit arrive in any span of its length, however workers ask, die and lag', () => {
    fc.assert(
      fc.property(fc.array(turn, { minLength: 1, maxLength: 120 }), scenario, (turns, given) => {
        const { arrivals, budget } = play(turns, given);
        for (const { requests, perMs } of given.limits) {
          for (const from of arrivals) {
            const seen = arrivals.filter((at) => at >= from && at < from + perMs).length;
            assert.ok(seen <= requests, `${seen} of ${requests} in ${perMs} ms`);
          }
        }
        assert.ok(JSON.stringify(budget).length < 50_000);
      }),
      { numRuns: 300 },
    );
  });
});

interface Turn {
  readonly passMs: number;
  readonly worker: number;
  readonly wants: number;
  readonly readbacks: number;
  /** Part of the loan that is used, and how: when in its time, and how long each takes. */
  readonly uses: number;
  readonly when: number;
  readonly takes: number;
  readonly dies: boolean;
}

const unit = fc.double({ min: 0, max: 1, noNaN: true });
const turn: fc.Arbitrary<Turn> = fc.record({
  passMs: fc.integer({ min: 0, max: 4000 }),
  worker: fc.integer({ min: 0, max: 2 }),
  wants: fc.integer({ min: 0, max: 40 }),
  readbacks: fc.integer({ min: 0, max: 5 }),
  uses: unit,
  when: unit,
  takes: unit,
  dies: fc.boolean(),
});
const scenario = fc.record({
  limits: fc.uniqueArray(
    fc.record({
      requests: fc.integer({ min: 5, max: 40 }),
      perMs: fc.constantFrom(2000, 7000, 30_000),
      keepForReads: fc.integer({ min: 0, max: 4 }),
    }),
    { minLength: 1, maxLength: 2, selector: ({ perMs }) => perMs },
  ),
});

/** When requests arrived, if workers use what they are lent as late and as slowly as they may. */
function play(turns: readonly Turn[], { limits }: { readonly limits: BudgetRules['limits'] }) {
  const timeoutMs = 1500;
  const { ask, budget } = keeper({ limits, spacingMs: 0, timeoutMs });
  const arrivals: number[] = [];
  const out: { readonly worker: string; readonly lease: string; readonly ended: readonly number[] }[] = [];
  let now = START;
  for (const { passMs, worker: number, wants, readbacks: wanted, uses, when, takes, dies } of turns) {
    now += passMs;
    const worker = `worker-${number}`;
    const over = out.filter((one) => one.worker === worker && one.ended.every((at) => at <= now));
    for (const one of over) out.splice(out.indexOf(one), 1);
    const returned = over.map(({ lease, ended }) => ({
      lease,
      used: ended.map((at) => ({ agoMs: now - at, count: 1 })),
    }));
    const loan = ask(now, { worker, returned, wanted: { readbacks: wanted, others: wants } });
    const count = Math.round((loan.places + loan.reserved) * uses);
    const leftAt = now + loan.validMs * when;
    const ended = Array.from({ length: count }, (_, index) => leftAt + timeoutMs * takes * (index / count));
    // They arrive at any moment between: the latest is the worst for the window after, the earliest for the one before.
    arrivals.push(...ended.map((at, index) => (index % 2 === 0 ? at : leftAt)));
    if (!dies && loan.places + loan.reserved > 0) out.push({ worker, lease: loan.lease, ended });
  }
  return { arrivals, budget: budget() };
}
