/** SIGHUP: from a terminal it means that this was closed, from anything else that files should be read anew. */

/** Calls `reload` for it, until `until` aborts. In a terminal it is left to whoever handles it, or ends the process. */
export function onHangUp(reload: () => void, until: AbortSignal): void {
  if (process.stdin.isTTY) return;
  process.on('SIGHUP', reload);
  until.addEventListener('abort', () => process.off('SIGHUP', reload), { once: true });
}
