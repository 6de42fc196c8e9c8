/** When a connection's next request may go: what its API allows, what is borrowed of its budget, and what has to be asked for. */
import type { BudgetRules, Held } from '../domain/budget.ts';
import { type Borrower, type Clock, createBorrower, type Lender } from './borrowing.ts';

const KINDS = ['readbacks', 'others'] as const;
export type Kind = (typeof KINDS)[number];

const LENDER_AWAY_MS = 5_000;
/** What is heard again and again is no news. */
const NEWS_FROM_MS = 1_000;

export interface Supply {
  readonly places: Pick<Borrower, 'has' | 'use' | 'close'>;
  /** From when on a request of this kind may go, by the steady clock; null: that has to be asked. */
  goesAt(kind: Kind, at: number): number | null;
  /** Asks for what is missing, and says when that is answered. */
  ask(wanted: Held): Promise<void>;
  /** The API wants nothing of this kind for so long. */
  hold(holds: Partial<Held>): void;
  /** Whoever keeps the budget did not answer. */
  isAway(): boolean;
}

export function createSupply(rules: BudgetRules, lender: Lender, clock: Clock): Supply {
  const borrower = createBorrower(rules, lender, clock);
  const isRationed = rules.limits.length > 0 || rules.spacingMs > 0;
  const held = { readbacks: 0, others: 0 };
  const noneUntil = { readbacks: 0, others: 0 };
  let lastLeft = Number.NEGATIVE_INFINITY;
  let isAway = false;

  const holdsFrom = (at: number): Held => ({
    readbacks: Math.max(0, held.readbacks - at),
    others: Math.max(0, held.others - at),
  });

  return {
    places: {
      has: (kind) => (isRationed ? borrower.has(kind) : Number.POSITIVE_INFINITY),
      use(kind) {
        lastLeft = clock.steady();
        return isRationed ? borrower.use(kind) : () => {};
      },
      close: () => borrower.close(),
    },

    goesAt(kind, at) {
      if (held[kind] > at) return held[kind];
      if (!isRationed) return at;
      if (borrower.has(kind) > 0) return Math.max(at, lastLeft + rules.spacingMs);
      return noneUntil[kind] > at ? noneUntil[kind] : null;
    },

    async ask(wanted) {
      const loan = await borrower.borrow(wanted, holdsFrom(clock.steady()));
      const at = clock.steady();
      isAway = loan === null;
      for (const kind of KINDS) {
        // Of the next ones, once what is in hand has been used.
        if (wanted[kind] > 0) noneUntil[kind] = at + (loan?.waitMs[kind] ?? LENDER_AWAY_MS);
      }
    },

    hold(holds) {
      const at = clock.steady();
      let isNews = false;
      for (const kind of KINDS) {
        const until = at + (holds[kind] ?? 0);
        isNews ||= until > Math.max(at, held[kind]) + NEWS_FROM_MS;
        held[kind] = Math.max(held[kind], until);
      }
      if (isNews && isRationed) void borrower.tell(holdsFrom(at));
    },

    isAway: () => isAway,
  };
}
