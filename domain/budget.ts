/**
 * The budget of one connection, shared by all workers: what has been used of its limits, and what is lent to whom. Pure:
 * `lend` answers one ask. Times are epoch ms of whoever keeps the budget; workers tell and are told spans only, so that no
 * two clocks are compared. Wherever something isn't known exactly, it counts as used, and for longer.
 */
import type { Limit } from './catalogue/definition.ts';
import { type Counted, count, countedIn, GRAINS, type Tally, talliesFor } from './tally.ts';

/** A readback may use all of a limit; a send, and a look before one, leave `keepForReads` to the readbacks. */
export type Purpose = 'send' | 'look' | 'readback';

/** What the asking worker's catalogue says about the connection. */
export interface BudgetRules {
  readonly limits: readonly Pick<Limit, 'requests' | 'perMs' | 'keepForReads'>[];
  readonly spacingMs: number;
  /** Of one request: so much later than it left it may arrive. */
  readonly timeoutMs: number;
}

export interface Ask {
  /** One of a worker process. */
  readonly worker: string;
  /** Of the lease that this ask may bring. */
  readonly lease: string;
  readonly rules: BudgetRules;
  /** Requests that wait for a place: readbacks, and all others. */
  readonly wanted: { readonly readbacks: number; readonly others: number };
  readonly returned: readonly ReturnedLease[];
  /** For how long the API itself wants nothing, by its last word. 0: it said nothing of the kind. */
  readonly heldMs: Held;
}

/** What was used of it; the rest is free again. `agoMs`: since those requests had ended. */
export interface ReturnedLease {
  readonly lease: string;
  readonly used: readonly { readonly agoMs: number; readonly count: number }[];
}

/** Readbacks, and all others. As a span or as an instant, in ms. */
export interface Held {
  readonly readbacks: number;
  readonly others: number;
}

export interface Loan {
  /** Places for requests of any purpose. */
  readonly places: number;
  /** Places for readbacks only: they are of the reserve. */
  readonly reserved: number;
  /** Requests on these places have to leave within so long of the ask. */
  readonly validMs: number;
  /** How long until asking again may bring a further place; 0: now. */
  readonly waitMs: Held;
}

export interface Budget {
  readonly tallies: readonly Tally[];
  readonly leases: readonly Lease[];
  /** Until when the API wants nothing. */
  readonly held: Held;
  /** The worker that was lent something last, and when the last request that is known of had ended. */
  readonly last: { readonly worker: string; readonly usedAt: number };
  readonly workers: readonly SeenWorker[];
}

interface Lease {
  readonly id: string;
  readonly worker: string;
  readonly count: number;
  /** Its requests have left by then. */
  readonly until: number;
  /** And have arrived by then: what nobody returned counts as used at that moment. */
  readonly arrivedBy: number;
}

interface SeenWorker {
  readonly id: string;
  readonly at: number;
  /** Was told to come back then, and has got nothing yet. null: it waits for nothing. */
  readonly comesAt: number | null;
}

export const EMPTY_BUDGET: Budget = {
  tallies: [],
  leases: [],
  held: { readbacks: 0, others: 0 },
  last: { worker: '', usedAt: 0 },
  workers: [],
};

/** A lease is short against its limit: what a dead worker had is lost until the limit's time after its end. */
const LEASES_PER_LIMIT = 10;
const SHORTEST_LEASE_MS = 1000;
const LONGEST_LEASE_MS = 30_000;
/** With spacing one worker at a time has the connection: a short turn where there is another one. */
const TURN_MS = 10_000;
const SHARED_TURN_MS = 1000;
const MOST_PLACES = 200;
/** Lent beyond what is wanted right now, as the next requests are likely to follow: few enough to be lost with a worker. */
const MOST_TO_SPARE = 20;
const SPARE_PART = 4;
/** Whoever was told to wait is expected this much after its time: retries are rounded up to a second. */
const COMES_WITHIN_MS = 2000;
const SEEN_FOR_MS = 60_000;
const MOST_WORKERS = 50;
/** What is lent and over is returned any moment. */
const SOON_MS = 1000;
/** Between two asks that find nothing. */
const LONGEST_PAUSE_MS = 5000;
const ASKS_PER_LIMIT = 20;

/** Answers one ask. No more is ever lent than what is free whatever the others do with what they have. */
export function lend(
  budget: Budget,
  ask: Ask,
  now: number,
): { readonly budget: Budget; readonly loan: Loan } {
  const tallies = talliesFor(budget.tallies, ask.rules.limits, now);
  const known = heard(settled({ ...budget, tallies }, ask, now), ask, now);
  const others = known.workers.filter((worker) => worker.id !== ask.worker && isAround(worker, now));
  const ahead = others.filter(({ comesAt }) => comesAt !== null && now < comesAt + COMES_WITHIN_MS);
  const moment = { now, comings: ahead.map(({ comesAt }) => comesAt ?? now) };
  const { places, reserved } = amounts(known, ask, moment);
  const validMs = validity(ask.rules, others.length > 0);
  const rest = withLease(known, ask, { count: places + reserved, until: now + validMs });
  const loan = { places, reserved, validMs, waitMs: waits(rest, ask, moment) };
  return { budget: withWorker(rest, ask, loan, now), loan };
}

/** When nothing that is known now counts any more: whoever starts afresh then has forgotten nothing. */
export function idleAt({ tallies, leases, held, workers }: Budget): number {
  const longest = Math.max(0, ...tallies.map(({ perMs }) => perMs));
  return Math.max(
    held.readbacks,
    held.others,
    ...tallies.map(({ used }) => used.at(-1)?.until ?? 0),
    ...leases.map(({ arrivedBy }) => arrivedBy + longest * (1 + 1 / GRAINS)),
    ...workers.map(aroundUntil),
  );
}

const aroundUntil = ({ at, comesAt }: SeenWorker): number =>
  Math.max(at + SEEN_FOR_MS, (comesAt ?? 0) + COMES_WITHIN_MS);

const isAround = (worker: SeenWorker, now: number): boolean => now < aroundUntil(worker);

/** Counts what came back, and what nobody will bring back any more. */
function settled(budget: Budget, { returned }: Ask, now: number): Budget {
  let { tallies, last } = budget;
  const leases: Lease[] = [];
  for (const lease of budget.leases) {
    const back = returned.find((one) => one.lease === lease.id);
    if (back === undefined && now < lease.arrivedBy) {
      leases.push(lease);
      continue;
    }
    const used = back?.used.map(({ agoMs, count }) => ({ at: now - agoMs, count })) ?? [
      { at: lease.arrivedBy, count: lease.count },
    ];
    tallies = tallies.map((tally) => used.reduce(count, tally));
    last = { ...last, usedAt: Math.max(last.usedAt, ...used.map(({ at }) => at)) };
  }
  return { ...budget, tallies, leases, last };
}

function heard(budget: Budget, { heldMs }: Ask, now: number): Budget {
  const later = (until: number, spanMs: number) => (spanMs > 0 ? Math.max(until, now + spanMs) : until);
  const held = {
    readbacks: later(budget.held.readbacks, heldMs.readbacks),
    others: later(budget.held.others, heldMs.others),
  };
  return { ...budget, held };
}

interface Moment {
  readonly now: number;
  /** When the other workers that were told to wait are to come back. */
  readonly comings: readonly number[];
}

function amounts(budget: Budget, ask: Ask, moment: Moment): Pick<Loan, 'places' | 'reserved'> {
  const { wanted, rules } = ask;
  const { now, comings } = moment;
  const asked = wanted.readbacks + wanted.others;
  if (asked === 0 || turnAt(budget, ask, moment) > now) return { places: 0, reserved: 0 };
  const forOthers = budget.held.others > now ? 0 : free(budget, rules, { now, isReadback: false });
  const forReadbacks = budget.held.readbacks > now ? 0 : free(budget, rules, { now, isReadback: true });
  // Where others wait as well, nobody gets all of it.
  const share = Math.ceil(forOthers / (1 + comings.length));
  const toSpare = comings.length > 0 ? 0 : Math.min(MOST_TO_SPARE, Math.floor(forOthers / SPARE_PART));
  const places = Math.min(share, forReadbacks, Math.max(asked, toSpare));
  const uncovered = Math.max(0, wanted.readbacks - Math.max(0, places - wanted.others));
  return { places, reserved: Math.min(forReadbacks - places, uncovered) };
}

/** How many requests of that kind may leave now, if all that is lent is used. */
function free(
  { tallies, leases }: Budget,
  { limits }: BudgetRules,
  { now, isReadback }: { readonly now: number; readonly isReadback: boolean },
): number {
  const lentOut = sum(leases);
  const left = limits.map(({ requests, perMs, keepForReads }) => {
    const used = sum(countedIn(tallies, perMs, now));
    return requests - (isReadback ? 0 : keepForReads) - lentOut - used;
  });
  return Math.max(0, Math.min(MOST_PLACES, ...left));
}

/** With spacing one worker at a time has the connection: from when on it may be the one that asks. 0: now. */
function turnAt({ leases, last }: Budget, { worker, rules }: Ask, { comings }: Moment): number {
  if (rules.spacingMs === 0) return 0;
  const endOf = (some: readonly Lease[]) => Math.max(0, ...some.map(({ until }) => until + rules.spacingMs));
  const theirs = endOf(leases.filter((lease) => lease.worker !== worker));
  if (last.worker === '') return theirs;
  if (last.worker !== worker) return Math.max(theirs, last.usedAt + rules.spacingMs);
  // It had the last turn: where another one waits, that one is next.
  if (comings.length === 0) return theirs;
  return Math.max(theirs, endOf(leases), Math.min(...comings) + COMES_WITHIN_MS);
}

function waits(budget: Budget, ask: Ask, moment: Moment): Held {
  const { now } = moment;
  const turn = turnAt(budget, ask, moment);
  // What comes free one by one is worth one ask.
  const least = Math.min(LONGEST_PAUSE_MS, ...ask.rules.limits.map(({ perMs }) => perMs / ASKS_PER_LIMIT));
  const wait = (heldUntil: number, isReadback: boolean) => {
    const at = Math.max(heldUntil, turn, freeAt(budget, ask, { now, isReadback }));
    return at <= now ? 0 : Math.max(least, at - now);
  };
  return { readbacks: wait(budget.held.readbacks, true), others: wait(budget.held.others, false) };
}

/** When one more request may leave, if the others bring back unused what they were lent, and this worker uses its own at once. */
function freeAt(
  { tallies, leases }: Budget,
  { rules, worker }: Ask,
  { now, isReadback }: { readonly now: number; readonly isReadback: boolean },
): number {
  const each = rules.limits.map(({ requests, perMs, keepForReads }) => {
    const lentOut = leases.map((lease) => {
      const until = lease.worker === worker ? now + perMs : Math.max(lease.until, now + SOON_MS);
      return { until, count: lease.count };
    });
    const counting = [...countedIn(tallies, perMs, now), ...lentOut].sort((a, b) => a.until - b.until);
    let left = requests - (isReadback ? 0 : keepForReads) - sum(counting);
    let at = now;
    for (const one of counting) {
      if (left > 0) break;
      left += one.count;
      at = one.until;
    }
    return at;
  });
  return Math.max(now, ...each);
}

function validity({ limits, spacingMs }: BudgetRules, isShared: boolean): number {
  const shortest = Math.min(LONGEST_LEASE_MS, ...limits.map(({ perMs }) => perMs / LEASES_PER_LIMIT));
  const turn = spacingMs === 0 ? LONGEST_LEASE_MS : isShared ? SHARED_TURN_MS : TURN_MS;
  return Math.round(Math.max(SHORTEST_LEASE_MS, Math.min(shortest, turn)));
}

function withLease(
  budget: Budget,
  { worker, lease: id, rules }: Ask,
  { count, until }: { readonly count: number; readonly until: number },
): Budget {
  if (count === 0) return budget;
  const lease = { id, worker, count, until, arrivedBy: until + rules.timeoutMs };
  return { ...budget, leases: [...budget.leases, lease], last: { ...budget.last, worker } };
}

function withWorker(budget: Budget, { worker, wanted }: Ask, loan: Loan, now: number): Budget {
  const before = budget.workers.find(({ id }) => id === worker)?.comesAt ?? null;
  const toldToWait = now + (wanted.others > 0 ? loan.waitMs.others : loan.waitMs.readbacks);
  const isWanting = wanted.readbacks + wanted.others > 0;
  const comesAt = loan.places + loan.reserved > 0 ? null : isWanting ? toldToWait : before;
  const others = budget.workers.filter((one) => one.id !== worker && isAround(one, now));
  return { ...budget, workers: [{ id: worker, at: now, comesAt }, ...others].slice(0, MOST_WORKERS) };
}

const sum = (counts: readonly Pick<Counted, 'count'>[]): number =>
  counts.reduce((total, one) => total + one.count, 0);
