/** What this worker has borrowed of a connection's budget: places for requests, in batches, each batch for a short time. */
import { randomUUID } from 'node:crypto';
import { type Ask, type BudgetRules, EMPTY_BUDGET, type Held, type Loan, lend } from '../domain/budget.ts';

/** Who keeps the budget of a connection. */
export interface Lender {
  /** Rejects when nobody answers in time; then nothing was borrowed. */
  lend(ask: Ask): Promise<Loan>;
  /** Takes back what is over and hears what the API said, also while nobody is there to lend. Never rejects. */
  tell(news: Ask): Promise<void>;
}

export interface Clock {
  /** Milliseconds that neither jump nor go back: spans are measured by it. */
  steady(): number;
  /** Epoch milliseconds. */
  wall(): number;
}

export const MACHINE_CLOCK: Clock = { steady: () => performance.now(), wall: () => Date.now() };

export interface Borrower {
  /** Places in hand for a request of this kind. */
  has(kind: keyof Held): number;
  /** Takes one of them; what it returns is called when the request can't arrive any more. */
  use(kind: keyof Held): () => void;
  /** Asks for more; null: nobody answered. One at a time. */
  borrow(wanted: Ask['wanted'], heldMs: Held): Promise<Loan | null>;
  /** Says what the API said, so that the other workers know it as well. */
  tell(heldMs: Held): Promise<void>;
  /** Gives everything back that is not in use. */
  close(): Promise<void>;
}

interface Lease {
  readonly id: string;
  places: number;
  reserved: number;
  /** By both clocks: the one stands still while the machine sleeps, the other may be set. */
  readonly until: { readonly steady: number; readonly wall: number };
  inUse: number;
  /** Its time was over while some were still in use: the last one brings it back. */
  isLate: boolean;
  /** When its requests had ended. */
  readonly ended: number[];
}

/** One process is one worker. */
const WORKER = randomUUID();
const NOTHING: Held = { readbacks: 0, others: 0 };

export function createBorrower(rules: BudgetRules, lender: Lender, clock: Clock): Borrower {
  let leases: Lease[] = [];

  const isValid = ({ until }: Lease) => clock.steady() < until.steady && clock.wall() < until.wall;
  const placesIn = ({ places, reserved }: Lease, kind: keyof Held) =>
    places + (kind === 'readbacks' ? reserved : 0);
  const isOver = (lease: Lease) =>
    lease.inUse === 0 && (lease.places + lease.reserved === 0 || !isValid(lease));

  /** Says nothing else, unless it is sent by `lend`. */
  function news(heldMs: Held, over: readonly Lease[]): Ask {
    const now = clock.steady();
    const returned = over.map(({ id, ended }) => ({
      lease: id,
      used: ended.map((at) => ({ agoMs: now - at, count: 1 })),
    }));
    return { worker: WORKER, lease: '', rules, wanted: { readbacks: 0, others: 0 }, returned, heldMs };
  }

  async function tell(heldMs: Held, over: readonly Lease[]): Promise<void> {
    leases = leases.filter((lease) => !over.includes(lease));
    await lender.tell(news(heldMs, over));
  }

  /** Others may want what is left of it. */
  function giveBackInTime(lease: Lease, validMs: number): void {
    const timer = setTimeout(() => {
      lease.isLate = true;
      giveBack(lease);
    }, validMs + 1);
    timer.unref();
  }

  function giveBack(lease: Lease): void {
    const over = leases.filter(isOver);
    if (lease.isLate && over.includes(lease)) void tell(NOTHING, over);
  }

  return {
    has: (kind) => leases.filter(isValid).reduce((sum, lease) => sum + placesIn(lease, kind), 0),

    use(kind) {
      const lease = leases.find((one) => isValid(one) && placesIn(one, kind) > 0);
      if (lease === undefined) throw new Error('no place is in hand');
      if (kind === 'readbacks' && lease.reserved > 0) lease.reserved -= 1;
      else lease.places -= 1;
      lease.inUse += 1;
      let isEnded = false;
      return () => {
        if (isEnded) return;
        isEnded = true;
        lease.inUse -= 1;
        lease.ended.push(clock.steady());
        giveBack(lease);
      };
    },

    async borrow(wanted, heldMs) {
      const over = leases.filter(isOver);
      const id = randomUUID();
      // Measured from before it was asked: whoever lends has begun to count later than that.
      const [steady, wall] = [clock.steady(), clock.wall()];
      const ask = { ...news(heldMs, over), lease: id, wanted };
      const loan = await lender.lend(ask).catch(() => null);
      const { places = 0, reserved = 0, validMs = 0 } = loan ?? {};
      // It may have been lent without our knowing it: then it goes back unused, with the next ask.
      if (loan !== null) leases = leases.filter((lease) => !over.includes(lease));
      if (loan !== null && places + reserved === 0) return loan;
      const until = { steady: steady + validMs, wall: wall + validMs };
      const lease: Lease = { id, places, reserved, until, inUse: 0, isLate: false, ended: [] };
      leases.push(lease);
      if (loan !== null) giveBackInTime(lease, validMs);
      return loan;
    },

    tell: (heldMs) => tell(heldMs, leases.filter(isOver)),

    async close() {
      for (const lease of leases) lease.places = lease.reserved = 0;
      await tell(NOTHING, leases.filter(isOver));
    },
  };
}

/** A budget that this process keeps for itself. */
export function lendingHere(clock: Clock): Lender {
  let budget = EMPTY_BUDGET;
  const answer = (ask: Ask): Loan => {
    const lent = lend(budget, ask, clock.steady());
    budget = lent.budget;
    return lent.loan;
  };
  return {
    lend: async (ask) => answer(ask),
    tell: async (news) => void answer(news),
  };
}
