/** One reply for several devices: where a cloud lists all of an account's devices, one request a few seconds serves them all. */
import type { Exchanged } from './http-connection.ts';

/** More distinct reads than this at once means that their paths vary; forgetting some only costs a request. */
const MOST_KEPT = 200;

export interface SharedReads {
  /** The reply of an equal read that is under way or at most `shareMs` old; else that of `fetch`. */
  get(key: string, shareMs: number, fetch: () => Promise<Exchanged>): Promise<Exchanged>;
  /** From here on, every read is made anew. */
  forget(): void;
}

export function shareReads(now: () => number = Date.now): SharedReads {
  const kept = new Map<string, { readonly until: number; readonly exchanged: Promise<Exchanged> }>();
  return {
    async get(key, shareMs, fetch) {
      const known = kept.get(key);
      if (known !== undefined && now() < known.until) {
        try {
          return await known.exchanged;
        } catch {
          // The one who asked first gave up; that is no reason for this one to.
        }
      }
      if (kept.size >= MOST_KEPT) kept.clear();
      const exchanged = fetch();
      kept.set(key, { until: now() + shareMs, exchanged });
      const drop = () => {
        if (kept.get(key)?.exchanged === exchanged) kept.delete(key);
      };
      // Only replies are worth sharing: a failure is for the one who met it.
      exchanged.then((one) => one.kind !== 'reply' && drop(), drop);
      return exchanged;
    },
    forget: () => kept.clear(),
  };
}
