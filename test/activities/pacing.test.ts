import assert from 'node:assert/strict';
import { test } from 'node:test';
import { MACHINE_CLOCK } from '../../activities/borrowing.ts';
import { createPace } from '../../activities/pacing.ts';
import type { Purpose } from '../../domain/budget.ts';
import type { Limit } from '../../domain/catalogue/definition.ts';

const START = Date.UTC(2026, 10, 30, 12, 0, 0);
const limit = (changes: Partial<Limit> = {}): Limit => ({
  requests: 30,
  perMs: 300_000,
  keepForReads: 0,
  resetHeader: null,
  remainingHeader: null,
  ...changes,
});
const reply = (status: number, headers: Record<string, string> = {}) => ({ status, headers });

function clock() {
  let now = START;
  return {
    steady: () => now,
    wall: () => now,
    pass: (ms: number) => {
      now += ms;
    },
  };
}

/** `take`: makes one request that ends at once; else how long it has to wait. */
function paced(limits: readonly Limit[], spacingMs: number, time = MACHINE_CLOCK) {
  const pace = createPace({ limits, spacingMs, timeoutMs: 10_000 }, undefined, time);
  return {
    ...pace,
    async take(purpose: Purpose, device = 'heater', signal?: AbortSignal): Promise<number> {
      const place = await pace.take(purpose, device, signal);
      if (place.kind === 'held') return place.waitMs;
      place.end();
      return 0;
    },
  };
}

test('without limits every request may go at once', async () => {
  const pace = paced([], 0);
  for (let n = 0; n < 50; n++) assert.equal(await pace.take('send'), 0);
});

test('the 31st request of 30 in 5 minutes waits until the first one is 5 minutes old; reads and sends count alike', async () => {
  const time = clock();
  const pace = paced([limit()], 0, time);
  for (let n = 0; n < 30; n++) {
    assert.equal(await pace.take(n % 2 === 0 ? 'readback' : 'send'), 0);
    time.pass(5000);
  }
  assert.equal(await pace.take('send'), 150_000);
  time.pass(150_000);
  assert.equal(await pace.take('send'), 0);
  assert.equal(await pace.take('send'), 5000, 'then the second one has to be 5 minutes old');
});

test('keepForReads leaves reads their part of the budget', async () => {
  const time = clock();
  const pace = paced([limit({ keepForReads: 4 })], 0, time);
  for (let n = 0; n < 26; n++) assert.equal(await pace.take('send'), 0);
  assert.equal(await pace.take('send'), 300_000);
  for (let n = 0; n < 4; n++) assert.equal(await pace.take('readback'), 0);
  assert.equal(await pace.take('readback'), 300_000);
});

test('of several limits the strictest counts', async () => {
  const time = clock();
  const pace = paced(
    [limit({ requests: 200, perMs: 86_400_000 }), limit({ requests: 2, perMs: 60_000 })],
    0,
    time,
  );
  await pace.take('readback');
  await pace.take('readback');
  assert.equal(await pace.take('readback'), 60_000);
});

test('requests keep their spacing, also when they come all at once', async () => {
  const pace = paced([], 60);
  const began = performance.now();
  const wentAt = await Promise.all(
    Array.from({ length: 4 }, async () => {
      assert.equal(await pace.take('send'), 0);
      return performance.now() - began;
    }),
  );
  for (const [n, at] of wentAt.sort((a, b) => a - b).entries()) {
    assert.ok(at >= n * 60 - 2, `number ${n + 1} went after ${at} ms`);
  }
});

test('a wait can be given up by its signal', async () => {
  const pace = paced([], 1500);
  await pace.take('send');
  const stop = new AbortController();
  setTimeout(() => stop.abort(), 20);
  await assert.rejects(pace.take('send', 'heater', stop.signal), { name: 'AbortError' });
});

test('a limited reply holds reads and sends for as long as Retry-After says', async () => {
  const time = clock();
  const pace = paced([], 0, time);
  assert.equal(pace.learn(reply(429, { 'retry-after': '120' }), true), 120_000);
  assert.equal(await pace.take('send'), 120_000);
  assert.equal(await pace.take('readback'), 120_000);
  time.pass(120_000);
  assert.equal(await pace.take('send'), 0);
});

test('a Retry-After date is read by the clock of the reply that carries it', () => {
  const pace = paced([], 0, clock());
  const theirClockIsAnHourAhead = {
    date: 'Mon, 30 Nov 2026 13:00:00 GMT',
    'retry-after': 'Mon, 30 Nov 2026 13:00:30 GMT',
  };
  assert.equal(pace.learn(reply(429, theirClockIsAnHourAhead), true), 30_000);
  assert.equal(pace.learn(reply(429, { 'retry-after': 'Mon, 30 Nov 2026 12:00:45 GMT' }), true), 45_000);
});

test('a Retry-After in the past, or one that nobody can read, asks for no wait', () => {
  const pace = paced([], 0, clock());
  assert.equal(pace.learn(reply(429, { 'retry-after': 'Mon, 30 Nov 2026 11:00:00 GMT' }), true), 0);
  for (const nonsense of ['soon', '-5', '', '1e9999']) {
    assert.equal(pace.learn(reply(429, { 'retry-after': nonsense }), true), null, nonsense);
  }
});

test('a pause of centuries is a mistake, and is not waited out', () => {
  const pace = paced([], 0, clock());
  const learnt = pace.learn(reply(429, { 'retry-after': '99999999999' }), true);
  assert.ok(learnt === null || learnt < 3_600_000, String(learnt));
});

test('503 with Retry-After is a pause; 200 with one is not', () => {
  const pace = paced([], 0, clock());
  assert.equal(pace.learn(reply(503, { 'retry-after': '3' }), false), 3000);
  assert.equal(pace.learn(reply(200, { 'retry-after': '3' }), false), null);
});

for (const [how, reset] of [
  ['epoch seconds', String(START / 1000 + 90)],
  ['epoch milliseconds', String(START + 90_000)],
  ['seconds from now', '90'],
] as const) {
  test(`a reset header in ${how} says when a limited connection may go on`, async () => {
    const pace = paced([limit({ resetHeader: 'X-Rate-Limit-Reset' })], 0, clock());
    assert.equal(pace.learn(reply(429, { 'x-rate-limit-reset': reset }), true), 90_000);
    assert.equal(await pace.take('readback'), 90_000);
  });
}

test('nothing remaining holds everything until the reset, before the API has to say no', async () => {
  const time = clock();
  const declared = limit({ keepForReads: 4, resetHeader: 'x-reset', remainingHeader: 'x-remaining' });
  const pace = paced([declared], 0, time);
  const reset = String(START / 1000 + 60);

  pace.learn(reply(200, { 'x-remaining': '5', 'x-reset': reset }), false);
  assert.equal(await pace.take('send'), 0);
  pace.learn(reply(200, { 'x-remaining': '4', 'x-reset': reset }), false);
  assert.equal(await pace.take('send'), 60_000, 'the last 4 are kept for reads');
  assert.equal(await pace.take('readback'), 0);
  pace.learn(reply(200, { 'x-remaining': '0', 'x-reset': reset }), false);
  assert.equal(await pace.take('readback'), 60_000);
});

test('what looks before a send leaves the readbacks their part as well', async () => {
  const pace = paced([limit({ requests: 5, keepForReads: 2 })], 0, clock());
  for (let n = 0; n < 3; n++) assert.equal(await pace.take('look'), 0);
  assert.equal(await pace.take('look'), 300_000);
  assert.equal(await pace.take('readback'), 0);
});

test('a device with many requests gets no second place while another one waits for its first', async () => {
  const time = clock();
  const pace = paced([limit({ requests: 2 })], 0, time);
  for (let n = 0; n < 2; n++) await pace.take('send', 'busy');
  for (const device of ['busy', 'busy', 'busy', 'quiet'])
    assert.equal(await pace.take('send', device), 300_000);
  time.pass(300_000);
  assert.equal(await pace.take('send', 'busy'), 0);
  const second = pace.take('send', 'busy');
  assert.equal(await pace.take('send', 'quiet'), 0);
  assert.equal(await second, 300_000);
});

test('a place whose request is still under way counts until that has ended, and then for the time of the limit', async () => {
  const time = clock();
  const one = { limits: [limit({ requests: 1, perMs: 60_000 })], spacingMs: 0, timeoutMs: 10_000 };
  const pace = createPace(one, undefined, time);
  const slow = await pace.take('send', 'heater');
  assert.equal(slow.kind, 'place');
  time.pass(8000);
  if (slow.kind === 'place') slow.end();
  const waits = async () => {
    const next = await pace.take('send', 'heater');
    return next.kind === 'held' ? next.waitMs : 0;
  };
  assert.equal(await waits(), 52_000, 'as it seemed when the place was lent');
  time.pass(52_000);
  assert.equal(await waits(), 8000);
  time.pass(8000);
  assert.equal(await waits(), 0);
});

test('where nobody answers for the budget nothing goes, and that is said', async () => {
  const away = {
    lend: () => Promise.reject(new Error('unreachable')),
    tell: () => Promise.resolve(),
  };
  const pace = createPace({ limits: [limit()], spacingMs: 0, timeoutMs: 10_000 }, away);
  const held = await pace.take('send', 'heater');
  assert.equal(held.kind, 'held');
  assert.match(held.kind === 'held' ? held.why : '', /^Temporal, .* does not answer$/);
});
