/** The simulator's time. It can be put forward, so that five minutes of device time need not be waited for. */
export interface Clock {
  /** Epoch milliseconds. */
  now(): number;
  advance(byMs: number): void;
}

/** `real` runs with the computer's time; `by-hand` stands still but for `advance`, so that tests meet each moment exactly. */
export type ClockKind = 'real' | 'by-hand';

export function createClock(kind: ClockKind): Clock {
  const stoppedAt = Date.now();
  let aheadMs = 0;
  return {
    now: () => (kind === 'real' ? Date.now() : stoppedAt) + aheadMs,
    advance(byMs) {
      aheadMs += byMs;
    },
  };
}
