/** The simulator's time. It runs with the real one and can be put forward, so that five minutes of device time need not be waited for. */
export interface Clock {
  /** Epoch milliseconds. */
  now(): number;
  advance(byMs: number): void;
}

export function createClock(): Clock {
  let aheadMs = 0;
  return {
    now: () => Date.now() + aheadMs,
    advance(byMs) {
      aheadMs += byMs;
    },
  };
}
