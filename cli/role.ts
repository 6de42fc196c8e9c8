/** What the long-running commands (`worker`, `serve`, `simulator`) have in common. */
import { type Logger, pino } from 'pino';
import { EXIT, tellFailure } from './failure.ts';

/** Work in hand gets this long to be recorded; then the process ends all the same. */
export const STOP_WITHIN_MS = 45_000;
/** With `up` gone its Temporal is gone too: there is nobody left to record anything to. */
const STOP_WITHOUT_UP_WITHIN_MS = 2_000;

export interface Running {
  /** What to say when ready, e.g. `MCP at http://127.0.0.1:8484/mcp`, and as JSON. */
  readonly ready: { readonly text: string; readonly json: Readonly<Record<string, unknown>> };
  /** Settles when the role ends by itself, which it should not. */
  readonly ended?: Promise<void>;
  stop(): Promise<void>;
}

/**
 * Starts a role and keeps it until SIGINT, SIGTERM or the end of the `up` that started it; then ends the process.
 * Logs are JSON lines on stderr. Exit code 0: stopped when asked; else as `tellFailure` says.
 */
export async function runRole(
  options: { readonly json: boolean },
  start: (log: Logger) => Promise<Running>,
): Promise<never> {
  // Temporal's SDK names an error `error`; without this it would be logged as `{}`.
  const serializers = { error: pino.stdSerializers.err };
  const log = pino({ base: null, serializers }, pino.destination({ fd: 2, sync: true }));
  const asked = stopRequest();
  try {
    // Asked to stop while still starting: nothing is in hand yet.
    const running = await Promise.race([start(log), asked.then(exitCodeOf).then(process.exit)]);
    announce(running, options.json);
    const endedByItself = running.ended?.then(() => 'endedByItself' as const) ?? new Promise<never>(() => {});
    const why = await Promise.race([asked, endedByItself]);
    const withinMs = why === 'upGone' ? STOP_WITHOUT_UP_WITHIN_MS : STOP_WITHIN_MS;
    setTimeout(() => process.exit(exitCodeOf(why)), withinMs).unref();
    if (why !== 'endedByItself') await running.stop();
    return process.exit(exitCodeOf(why));
  } catch (error) {
    // Not left to the event loop: connections and the channel to `up` would keep a broken process alive.
    return process.exit(tellFailure(error, options.json));
  }
}

const exitCodeOf = (why: 'asked' | 'upGone' | 'endedByItself'): number =>
  why === 'asked' ? EXIT.asAsked : EXIT.endedBadly;

function announce({ ready }: Running, json: boolean): void {
  if (process.send) {
    process.send({ ready: true, ...ready.json });
  } else {
    process.stdout.write(
      json ? `${JSON.stringify({ ready: true, ...ready.json })}\n` : `ready: ${ready.text}\n`,
    );
  }
}

/** The first reason to stop. A second Ctrl-C doesn't wait. */
function stopRequest(): Promise<'asked' | 'upGone'> {
  return new Promise((resolve) => {
    for (const signal of ['SIGINT', 'SIGTERM'] as const) {
      process.once(signal, () => {
        resolve('asked');
        process.on(signal, () => process.exit(1));
      });
    }
    // Started by `up`: the channel between us closes when it dies, however it dies.
    if (process.send) {
      process.once('disconnect', () => resolve('upGone'));
      if (!process.connected) resolve('upGone');
    }
  });
}
