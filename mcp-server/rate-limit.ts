/** How often one principal may ask. What one uses up touches no other. */
import { BurstyRateLimiter, RateLimiterMemory, RateLimiterRes } from 'rate-limiter-flexible';

/** Requests a second, for as long as one likes; and so many more within ten seconds. */
export interface Rate {
  readonly perSecond: number;
  readonly burst: number;
}

/** Fifty tasks polled once a second, and a burst of a whole house. */
export const PRINCIPALS_RATE: Rate = { perSecond: 50, burst: 500 };

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
