/** How often one principal, or one address that nobody signed in from, may ask. What one uses up touches no other. */
import { BurstyRateLimiter, RateLimiterMemory, RateLimiterRes } from 'rate-limiter-flexible';

/** Requests a second, for as long as one likes; and so many more within ten seconds. */
export interface Rate {
  readonly perSecond: number;
  readonly burst: number;
}

export interface RateLimits {
  readonly principal: Rate;
  /** Of requests that are refused for want of a good token. */
  readonly address: Rate;
}

/** Fifty tasks polled once a second, and a burst of a whole house. Nobody needs to fail at signing in that often. */
export const RATE_LIMITS: RateLimits = {
  principal: { perSecond: 50, burst: 500 },
  address: { perSecond: 5, burst: 50 },
};

const BURST_WITHIN_SECONDS = 10;

/** Counts one request of `key`; how many seconds it has to wait, 0: it may go on. */
export type RateLimiter = (key: string) => Promise<number>;

export function rateLimiter({ perSecond, burst }: Rate): RateLimiter {
  const limiter = new BurstyRateLimiter(
    new RateLimiterMemory({ points: perSecond, duration: 1 }),
    new RateLimiterMemory({ points: burst, duration: BURST_WITHIN_SECONDS }),
  );
  return async (key) => {
    try {
      await limiter.consume(key);
      return 0;
    } catch (refused) {
      if (!(refused instanceof RateLimiterRes)) throw refused;
      return Math.max(1, Math.ceil(refused.msBeforeNext / 1000));
    }
  };
}
