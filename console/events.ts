/** Tells open pages that something has changed; they fetch themselves again. Nothing else travels this way. */
import type { Hono } from 'hono';
import { streamSSE } from 'hono/streaming';
import { sessionOf } from './access.ts';
import type { ConsoleContext } from './context.ts';
import { commandFor } from './person.ts';

/** Each costs a connection and no more: what it shows is read once for all. */
const MOST_STREAMS = 500;
/** Pages that one person has open: whoever may sign in can't take the rest from those who decide. */
const MOST_STREAMS_OF_ONE = 50;
/** Proxies commonly drop a connection that is silent for a minute. */
const SIGN_OF_LIFE_EVERY_MS = 25_000;
/** Then the browser connects again, and is asked again who it is. */
const STREAM_LASTS_MS = 30 * 60_000;

export function addEvents(console: Hono, context: ConsoleContext): void {
  const { access, commands, overview, followed } = context;
  const places = streamPlaces();

  console.get('/events', async (c) => {
    const standing = access.standing(c);
    if (standing.kind === 'stranger') return c.text('Sign in first.\n', 401);
    const commandId = c.req.query('command');
    const person = sessionOf(standing)?.person ?? null;
    if (person?.isApprover === false) {
      const seen = commandId !== undefined && (await commandFor(person, commandId, commands)) !== undefined;
      if (!seen) return c.text('There is nothing to follow.\n', 404);
    }
    const who = person === null ? null : (person.subject ?? person.name);
    const leave = places.take(who);
    if (leave === null) return c.text('Too many open pages; this one does not update by itself.\n', 503);
    const endsAt = Math.min(
      Date.now() + STREAM_LASTS_MS,
      sessionOf(standing)?.endsAt ?? Number.POSITIVE_INFINITY,
    );
    c.header('X-Accel-Buffering', 'no');
    return streamSSE(c, async (stream) => {
      let atTheEnd: NodeJS.Timeout | undefined;
      const over = new Promise<void>((resolve) => {
        stream.onAbort(resolve);
        if (stream.aborted) resolve();
        atTheEnd = setTimeout(resolve, endsAt - Date.now()).unref();
      });
      // A browser that has gone makes writing fail, and ends the stream by itself.
      const tell = (revision: string): void => {
        stream.writeSSE({ event: 'revision', data: revision }).catch(() => {});
      };
      const stop = commandId === undefined ? overview.watch(tell) : followed.watch(commandId, tell);
      const alive = setInterval(() => {
        stream.write(': still here\n\n').catch(() => {});
      }, SIGN_OF_LIFE_EVERY_MS).unref();
      await over;
      clearTimeout(atTheEnd);
      clearInterval(alive);
      stop();
      leave();
    });
  });
}

/** One for each open stream. */
function streamPlaces() {
  let all = 0;
  const ofOne = new Map<string, number>();
  return {
    /** `who`: null for anybody on this machine. Gives the place back when called; null: there is none. */
    take(who: string | null): (() => void) | null {
      const own = who === null ? 0 : (ofOne.get(who) ?? 0);
      if (all >= MOST_STREAMS || own >= MOST_STREAMS_OF_ONE) return null;
      all += 1;
      if (who !== null) ofOne.set(who, own + 1);
      return () => {
        all -= 1;
        if (who === null) return;
        const left = (ofOne.get(who) ?? 0) - 1;
        if (left > 0) ofOne.set(who, left);
        else ofOne.delete(who);
      };
    },
  };
}
