/** Writes a reply onto the wire, also those that no decent server would write. */
import type { ServerResponse } from 'node:http';
import type { Conduct, Json } from './behaviour.ts';

export interface Reply {
  readonly status: number;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: Json;
}

const HUGE_BYTES = 5_000_000;
const DRIP_EVERY_MS = 100;

export function writeReply(response: ServerResponse, reply: Reply, oddity?: Conduct['oddity']): void {
  const text = JSON.stringify(reply.body);
  const send = (type: string, body: string) => {
    response.writeHead(reply.status, { 'content-type': type, ...reply.headers });
    response.end(body);
  };
  switch (oddity) {
    case undefined:
      return send('application/json', text);
    case 'html':
      return send('text/html', '<!doctype html><title>Bad gateway</title><h1>Please try again later</h1>');
    case 'empty':
      response.writeHead(reply.status, reply.headers);
      response.end();
      return;
    case 'truncated':
      return send('application/json', text.slice(0, Math.max(1, Math.floor(text.length / 2))));
    case 'nan':
      // As servers do that print numbers without looking at them.
      return send('application/json', text.replace(/:-?\d[\d.]*/g, ':NaN'));
    case 'huge':
      return send(
        'application/json',
        JSON.stringify({ reading: reply.body, padding: 'x'.repeat(HUGE_BYTES) }),
      );
    case 'redirect':
      // To another origin by default: nobody may follow it there with a token.
      response.writeHead(302, { location: 'http://localhost:9/elsewhere', ...reply.headers });
      response.end();
      return;
    case 'drip':
      return drip(response, reply, text);
  }
}

/** One character at a time: each read shows progress, none brings an end soon. */
function drip(response: ServerResponse, reply: Reply, text: string): void {
  response.writeHead(reply.status, { 'content-type': 'application/json', ...reply.headers });
  let written = 0;
  const timer = setInterval(() => {
    response.write(text[written++] ?? '');
    if (written >= text.length) {
      clearInterval(timer);
      response.end();
    }
  }, DRIP_EVERY_MS);
  response.on('close', () => clearInterval(timer));
}

/** "$field" becomes the field's value, "$*" all of them. */
export function fill(shape: Json | undefined, values: Readonly<Record<string, Json>>): Json {
  if (shape === undefined) return { ...values };
  if (typeof shape === 'string') {
    if (shape === '$*') return { ...values };
    return shape.startsWith('$') ? (values[shape.slice(1)] ?? null) : shape;
  }
  if (Array.isArray(shape)) return shape.map((item) => fill(item, values));
  if (typeof shape === 'object' && shape !== null)
    return Object.fromEntries(Object.entries(shape).map(([key, value]) => [key, fill(value, values)]));
  return shape;
}
