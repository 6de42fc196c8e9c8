/**
 * When a client was first told of a task's question, as far as this process knows: no person has read it earlier.
 * Another process that takes the answer doesn't know, and counts from when the question came up.
 */
export interface ShownQuestions {
  note(taskId: string, keys: readonly string[]): void;
  /** Epoch ms. */
  at(taskId: string, key: string): number | undefined;
}

/** More than wait for an answer at any time; the oldest are forgotten first. */
const MOST_QUESTIONS = 10_000;

export function shownQuestions(): ShownQuestions {
  const firstShown = new Map<string, number>();
  const nameOf = (taskId: string, key: string): string => `${taskId}/${key}`;
  return {
    note(taskId, keys) {
      for (const key of keys) {
        const name = nameOf(taskId, key);
        if (!firstShown.has(name)) firstShown.set(name, Date.now());
      }
      for (const oldest of firstShown.keys()) {
        if (firstShown.size <= MOST_QUESTIONS) break;
        firstShown.delete(oldest);
      }
    },
    at: (taskId, key) => firstShown.get(nameOf(taskId, key)),
  };
}
