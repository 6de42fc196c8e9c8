/**
 * One HTTP request on a connection of its own, and how it ended.
 *
 * Every request gets a fresh connection and at most one. On a kept-alive socket a reset can't tell whether the request
 * was taken; on a fresh one it is plain: as long as the connection isn't up, nothing was sent, and from then on it may have been.
 * So it is how far we came that decides between "unreached" and "lost"; error codes only choose the words.
 */
import { connect as connectTcp, type Socket } from 'node:net';
import { connect as connectTls } from 'node:tls';
import { type buildConnector, Client } from 'undici';

/** A device's reply is a few kilobytes; more than this is a web page or a mistake. */
const MAX_REPLY_BYTES = 1_000_000;

export interface Endpoint {
  /** `https://host:port`, never with a path. */
  readonly origin: string;
  readonly tls: TlsTrust;
  /** For the whole exchange: connection, headers and the last byte of the body. */
  readonly timeoutMs: number;
  /** Of a reply's body; without it, what the reply of one device may have. */
  readonly maxReplyBytes?: number | undefined;
}

export interface TlsTrust {
  /** Certificate authorities (PEM) to trust instead of the usual ones. */
  readonly ca: string | undefined;
  /** The certificate (PEM) that shows who we are, and its key. */
  readonly cert?: string | undefined;
  readonly key?: string | undefined;
  /** Trust anybody. */
  readonly insecure: boolean;
}

export interface HttpRequest {
  readonly method: string;
  /** Path and query, sent as it is. May hold secrets: never shown. */
  readonly path: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: string | null;
}

export type HttpAnswer =
  | {
      readonly kind: 'reply';
      readonly status: number;
      /** Names in lower case. */
      readonly headers: Readonly<Record<string, string>>;
      readonly body: Uint8Array;
      /** Why `body` isn't all of it: too long, broken off, too slow. null: it is complete. */
      readonly cut: string | null;
    }
  /** Certainly nothing arrived. */
  | { readonly kind: 'unreached'; readonly why: string }
  /** It may have arrived; there is no reply. */
  | { readonly kind: 'lost'; readonly why: string };

/** Makes one request, once. Never rejects. `signal` breaks it off at any moment. */
export async function requestOnce(
  endpoint: Endpoint,
  request: HttpRequest,
  signal?: AbortSignal,
): Promise<HttpAnswer> {
  const dial: Dial = { socket: null, connected: false };
  const client = new Client(endpoint.origin, {
    connect: dialOnce(endpoint.tls, dial),
    headersTimeout: 0,
    bodyTimeout: 0,
  });
  let late = false;
  // undici's own `signal` waits for a connection that is being made; this doesn't.
  const breakOff = () => void client.destroy(new Error('broken off'));
  const timer = setTimeout(() => {
    late = true;
    breakOff();
  }, endpoint.timeoutMs);
  signal?.addEventListener('abort', breakOff, { once: true });
  const explain = (error: unknown) =>
    signal?.aborted === true
      ? 'given up by Readback while it was waiting'
      : late
        ? tooSlow(endpoint, dial.connected)
        : describeFailure(error, new URL(endpoint.origin).host);
  try {
    signal?.throwIfAborted();
    const response = await client.request({
      method: request.method,
      path: request.path,
      headers: { ...request.headers },
      body: request.body,
      reset: true,
    });
    const { body, cut } = await readBounded(
      response.body,
      endpoint.maxReplyBytes ?? MAX_REPLY_BYTES,
      explain,
    );
    return { kind: 'reply', status: response.statusCode, headers: flatten(response.headers), body, cut };
  } catch (error) {
    return { kind: dial.connected ? 'lost' : 'unreached', why: explain(error) };
  } finally {
    clearTimeout(timer);
    signal?.removeEventListener('abort', breakOff);
    breakOff();
    dial.socket?.destroy();
  }
}

interface Dial {
  socket: Socket | null;
  /** The connection, with TLS where there is any, is up: from here on the request may be on its way. */
  connected: boolean;
}

/** undici would dial again by itself when a connection closes before the request was written: here, once is once. */
function dialOnce(trust: TlsTrust, dial: Dial): buildConnector.connector {
  return ({ protocol, hostname, port }, callback) => {
    if (dial.socket !== null) {
      callback(Object.assign(new Error('closed at once'), { code: 'UND_ERR_SOCKET' }), null);
      return;
    }
    const socket =
      protocol === 'https:'
        ? connectTls({
            host: hostname,
            port: Number(port || 443),
            ca: trust.ca,
            cert: trust.cert,
            key: trust.key,
            rejectUnauthorized: !trust.insecure,
          })
        : connectTcp({ host: hostname, port: Number(port || 80) });
    dial.socket = socket.setNoDelay(true);
    socket.once(protocol === 'https:' ? 'secureConnect' : 'connect', () => {
      dial.connected = true;
      callback(null, socket);
    });
    // Stays for good: a late error of a socket that nobody waits for must not end the process.
    socket.on('error', (error: Error) => {
      if (!dial.connected) callback(error, null);
    });
  };
}

async function readBounded(
  stream: AsyncIterable<Uint8Array>,
  maxBytes: number,
  explain: (error: unknown) => string,
): Promise<{ body: Uint8Array; cut: string | null }> {
  const chunks: Uint8Array[] = [];
  let size = 0;
  let cut: string | null = null;
  try {
    for await (const chunk of stream) {
      chunks.push(chunk);
      size += chunk.byteLength;
      if (size > maxBytes) {
        cut = `its body is longer than ${maxBytes / 1_000_000} MB`;
        break;
      }
    }
  } catch (error) {
    cut = `its body broke off after ${size} bytes: ${explain(error)}`;
  }
  return { body: Buffer.concat(chunks).subarray(0, maxBytes), cut };
}

function flatten(headers: Readonly<Record<string, string | string[] | undefined>>): Record<string, string> {
  const flat: Record<string, string> = {};
  for (const [name, value] of Object.entries(headers)) {
    if (value !== undefined) flat[name.toLowerCase()] = Array.isArray(value) ? value.join(', ') : value;
  }
  return flat;
}

function tooSlow(endpoint: Endpoint, connected: boolean): string {
  const host = new URL(endpoint.origin).host;
  const seconds = endpoint.timeoutMs / 1000;
  return connected
    ? `no reply from ${host} within ${seconds} s`
    : `no connection to ${host} within ${seconds} s`;
}

/** Words for what broke, from its code alone: an error's own message may quote the request, and with it a secret. */
export function describeFailure(error: unknown, host: string): string {
  const code = codeOf(error);
  if (code === 'ECONNREFUSED') return `connection refused by ${host}`;
  if (code === 'ENOTFOUND' || code === 'EAI_AGAIN') return `no address is known for ${host} (${code})`;
  if (code === 'EHOSTUNREACH' || code === 'ENETUNREACH') return `no route to ${host} (${code})`;
  if (code === 'ETIMEDOUT' || code === 'UND_ERR_CONNECT_TIMEOUT') return `no connection to ${host} in time`;
  if (code === 'ECONNRESET' || code === 'EPIPE' || code === 'UND_ERR_SOCKET')
    return `${host} closed the connection without a full reply`;
  if (code.startsWith('HPE_') || code === 'HTTPParserError' || code === 'UND_ERR_HEADERS_OVERFLOW')
    return `${host} answered something that isn't HTTP (${code})`;
  if (/CERT|SSL|TLS|SELF_SIGNED|EPROTO|UNABLE_TO/.test(code)) return `no TLS connection to ${host} (${code})`;
  if (code === 'UND_ERR_INVALID_ARG') return 'the request has a path or header that HTTP does not allow';
  return `the exchange with ${host} failed (${code})`;
}

function codeOf(error: unknown): string {
  if (error instanceof AggregateError && error.errors.length > 0) return codeOf(error.errors[0]);
  if (error instanceof Error && 'code' in error && typeof error.code === 'string') return error.code;
  return error instanceof Error ? error.name : 'unknown error';
}
