/** What was begun goes on, for whoever else waits for it; who gives up waits no longer. Rejects with the signal's reason. */
export async function unlessAborted<Result>(result: Promise<Result>, signal?: AbortSignal): Promise<Result> {
  if (signal === undefined) return await result;
  signal.throwIfAborted();
  let giveUp: (() => void) | undefined;
  const aborted = new Promise<never>((_, reject) => {
    giveUp = () => reject(signal.reason as Error);
    signal.addEventListener('abort', giveUp, { once: true });
  });
  try {
    return await Promise.race([result, aborted]);
  } finally {
    if (giveUp !== undefined) signal.removeEventListener('abort', giveUp);
  }
}
