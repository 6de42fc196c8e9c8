/**
 * Keeps one connection's requests within what its API allows: declared limits and spacing, which all workers share, and the
 * pauses that the API asks for. Devices are served in turn: the one that was served longest ago comes first.
 */
import type { Held, Purpose } from '../domain/budget.ts';
import type { Connection } from '../domain/catalogue/definition.ts';
import type { DeviceReply } from '../domain/exchange.ts';
import { clockTime } from '../domain/text.ts';
import { pauseIn, remainingIn } from './asked-pauses.ts';
import { type Clock, type Lender, lendingHere, MACHINE_CLOCK } from './borrowing.ts';
import { createDeviceTurns } from './device-turns.ts';
import { createSupply, type Kind, type Supply } from './supply.ts';

/** A longer wait is handed back to the caller, who can wait durably: a worker's slot is no place to sit out minutes. */
const LONGEST_HOLD_MS = 2_000;
const LONGEST_SEND_HOLD_MS = 100;
/** Nobody knows whether there is a place. */
const ASK_AGAIN_AFTER_MS = 1_000;
/** Of one device's requests: what is under way is brought to its end first. */
const RANK: Readonly<Record<Purpose, number>> = { readback: 0, send: 1, look: 2 };
const USED_UP = "the API's request limit is used up, free again at";
const LENDER_AWAY = 'Temporal, which counts the requests of this connection for all workers, does not answer';

export interface Pace {
  /**
   * Takes the place of one request in the connection's budget, after holding it for as long as that takes. `device`: whose
   * turn it is. Rejects only when `signal` aborts.
   */
  take(purpose: Purpose, device: string, signal?: AbortSignal): Promise<Place | NoPlace>;
  /** Learns from a reply's headers. Returns the pause in milliseconds that the API asks for, or null. */
  learn(reply: Pick<DeviceReply, 'status' | 'headers'>, limited: boolean): number | null;
  /** Gives back what is not used. */
  close(): Promise<void>;
}

export interface Place {
  readonly kind: 'place';
  /** To be called when the request has ended, however: until then it may arrive at any moment. */
  end(): void;
}

/** Nothing may go now, and nothing was taken. */
export interface NoPlace {
  readonly kind: 'held';
  readonly waitMs: number;
  readonly why: string;
}

interface Waiter {
  readonly purpose: Purpose;
  readonly kind: Kind;
  readonly device: string;
  readonly giveUpAt: number;
  settle(outcome: Place | NoPlace): void;
}

/** `lender`: who keeps the budget; left out: this process alone. */
export function createPace(
  rules: Pick<Connection, 'limits' | 'spacingMs' | 'timeoutMs'>,
  lender?: Lender,
  clock: Clock = MACHINE_CLOCK,
): Pace {
  const { limits, spacingMs, timeoutMs } = rules;
  const supply = createSupply({ limits, spacingMs, timeoutMs }, lender ?? lendingHere(clock), clock);
  const queue = createQueue(supply, clock);
  return {
    async take(purpose, device, signal) {
      signal?.throwIfAborted();
      return await new Promise((resolve, reject) => {
        const kind = purpose === 'readback' ? 'readbacks' : 'others';
        const giveUpAt = clock.steady() + LONGEST_HOLD_MS;
        const abort = () => {
          queue.leave(waiter);
          reject(signal?.reason as Error);
        };
        const settle = (outcome: Place | NoPlace) => {
          signal?.removeEventListener('abort', abort);
          resolve(outcome);
        };
        const waiter: Waiter = { purpose, kind, device, giveUpAt, settle };
        signal?.addEventListener('abort', abort, { once: true });
        queue.enter(waiter);
      });
    },

    learn(reply, limited) {
      const at = clock.wall();
      for (const limit of limits) {
        const remaining = remainingIn(reply.headers, limit, at);
        if (remaining === null) continue;
        if (remaining.requests <= limit.keepForReads) supply.hold({ others: remaining.resetMs });
        if (remaining.requests <= 0) supply.hold({ readbacks: remaining.resetMs });
      }
      const pauseMs = limited || reply.status === 503 ? pauseIn(reply.headers, limits, at) : null;
      if (pauseMs !== null) supply.hold({ readbacks: pauseMs, others: pauseMs });
      return pauseMs;
    },

    close: () => supply.places.close(),
  };
}

/** Those that wait here for a place, for a short time. */
function createQueue(supply: Supply, clock: Clock) {
  const { places } = supply;
  const turns = createDeviceTurns();
  const waiters = new Set<Waiter>();
  let isAsking = false;
  let timer: NodeJS.Timeout | undefined;

  function goesAt({ kind, device }: Waiter, at: number): number | null {
    const earliest = supply.goesAt(kind, at);
    const isNow = earliest !== null && earliest <= at;
    return isNow ? turns.freeFor(device, places.has(kind)) : earliest;
  }

  function serve(at: number): void {
    turns.lookAt(at);
    for (;;) {
      const ready = [...waiters].filter((waiter) => goesAt(waiter, at) === at);
      const [next] = ready.sort(
        (a, b) => turns.compare(a.device, b.device) || RANK[a.purpose] - RANK[b.purpose],
      );
      if (next === undefined) return;
      turns.served(next.device);
      waiters.delete(next);
      next.settle({ kind: 'place', end: places.use(next.kind) });
    }
  }

  function turnAway(waiter: Waiter, at: number, until: number): void {
    const waitMs = Math.max(1, Math.ceil(until - at));
    const why = supply.isAway() ? LENDER_AWAY : `${USED_UP} ${clockTime(clock.wall() + waitMs)}`;
    turns.owed(waiter.device, until);
    waiters.delete(waiter);
    waiter.settle({ kind: 'held', waitMs, why });
  }

  /** A send that waits for others' requests to be over gives its slot back: if its worker died meanwhile, nobody could tell that nothing was sent. */
  const holdMs = ({ purpose, kind, giveUpAt }: Waiter, at: number): number =>
    purpose === 'send' && places.has(kind) === 0 ? LONGEST_SEND_HOLD_MS : giveUpAt - at;

  /** Lets go who may, sends away who would wait too long, and asks for what is missing. */
  function move(): void {
    clearTimeout(timer);
    const at = clock.steady();
    serve(at);
    const wanted = { readbacks: 0, others: 0 };
    let lookAgainAt = Number.POSITIVE_INFINITY;
    for (const waiter of waiters) {
      const until = goesAt(waiter, at);
      if (until === null) wanted[waiter.kind] += 1;
      if (until !== null && until > at + holdMs(waiter, at)) turnAway(waiter, at, until);
      else if (at >= waiter.giveUpAt) turnAway(waiter, at, until ?? at + ASK_AGAIN_AFTER_MS);
      else lookAgainAt = Math.min(lookAgainAt, until ?? waiter.giveUpAt);
    }
    if (wanted.readbacks + wanted.others > 0) {
      // Those that come any moment now, too: one ask for all.
      wanted.others += turns.dueBesides(new Set([...waiters].map(({ device }) => device)));
      void ask(wanted);
    }
    if (waiters.size > 0) timer = setTimeout(move, Math.max(1, Math.ceil(lookAgainAt - at)));
  }

  async function ask(wanted: Held): Promise<void> {
    if (isAsking) return;
    isAsking = true;
    await supply.ask(wanted);
    isAsking = false;
    move();
  }

  return {
    enter(waiter: Waiter): void {
      waiters.add(waiter);
      move();
    },
    leave: (waiter: Waiter) => waiters.delete(waiter),
  };
}
