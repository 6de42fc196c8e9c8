/** What really passed between a client and the server, whatever the client's library makes of it. */
import { Hono } from 'hono';
import type { HttpApp } from '../../mcp-server/http.ts';

export interface Said {
  readonly from: 'client' | 'server';
  readonly message: any;
}

export interface Conversation {
  readonly said: readonly Said[];
  hear(from: Said['from'], text: string): void;
  /** The first of what is said from `start` on that fits. Rejects when nothing does within `withinMs`. */
  until<T>(start: number, find: (said: readonly Said[]) => T | undefined, withinMs?: number): Promise<T>;
}

const SAID_WITHIN_MS = 60_000;

export function conversation(): Conversation {
  const said: Said[] = [];
  const listeners = new Set<() => void>();
  return {
    said,
    hear(from, text) {
      said.push({ from, message: JSON.parse(text) });
      for (const listener of listeners) listener();
    },
    async until(start, find, withinMs = SAID_WITHIN_MS) {
      return new Promise((resolve, reject) => {
        const look = () => {
          const found = find(said.slice(start));
          if (found === undefined) return;
          clearTimeout(timeout);
          listeners.delete(look);
          resolve(found);
        };
        const timeout = setTimeout(() => {
          listeners.delete(look);
          reject(new Error(`not said: ${JSON.stringify(said.slice(start)).slice(0, 2000)}`));
        }, withinMs);
        listeners.add(look);
        look();
      });
    },
  };
}

/** `inner`, overheard. */
export function overheard(inner: HttpApp, { hear }: Conversation): HttpApp {
  const app = new Hono();
  app.all('*', async (c) => {
    const request = c.req.raw;
    if (request.method === 'POST') hear('client', await request.clone().text());
    const response = await inner.app.fetch(request, c.env);
    if (response.body === null) return response;
    const isStream = response.headers.get('content-type')?.startsWith('text/event-stream') === true;
    return new Response(response.body.pipeThrough(overhearing(isStream, hear)), response);
  });
  return { ...inner, app };
}

function overhearing(isStream: boolean, hear: Conversation['hear']): TransformStream<Uint8Array, Uint8Array> {
  const decoder = new TextDecoder();
  let rest = '';
  return new TransformStream({
    transform(chunk, controller) {
      rest += decoder.decode(chunk, { stream: true });
      if (isStream) {
        const lines = rest.split('\n');
        rest = lines.pop() ?? '';
        for (const line of lines) if (/^data: ?\{/.test(line)) hear('server', line.slice(5));
      }
      controller.enqueue(chunk);
    },
    flush() {
      if (!isStream && rest.startsWith('{')) hear('server', rest);
    },
  });
}
