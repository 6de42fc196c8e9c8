/**
 * Slows down whoever tries secrets: after some wrong ones an address has to wait. Behind a proxy everybody has one address,
 * so that it must not keep out those who hold a right one; none of 140 random bits is found by trying, however fast.
 */

/** More than a person mistypes. */
const WRONG_ONES_ALLOWED = 10;
const WITHIN_MS = 60_000;
/** Beyond so many addresses the oldest are forgotten: memory stays bounded, and a secret can't be guessed anyway. */
const MOST_ADDRESSES = 10_000;

export interface WrongSecrets {
  /** Milliseconds until this address may try again; 0: now. */
  waitMs(address: string, now: number): number;
  count(address: string, now: number): void;
}

export function createWrongSecrets(): WrongSecrets {
  const tries = new Map<string, { count: number; readonly since: number }>();
  return {
    waitMs(address, now) {
      const tried = tries.get(address);
      if (tried === undefined || now >= tried.since + WITHIN_MS) return 0;
      return tried.count < WRONG_ONES_ALLOWED ? 0 : tried.since + WITHIN_MS - now;
    },
    count(address, now) {
      const tried = tries.get(address);
      if (tried !== undefined && now < tried.since + WITHIN_MS) {
        tried.count += 1;
        return;
      }
      tries.delete(address);
      tries.set(address, { count: 1, since: now });
      const oldest = tries.keys().next();
      if (tries.size > MOST_ADDRESSES && !oldest.done) tries.delete(oldest.value);
    },
  };
}
