/** A real HTTP (or bare TCP) server on a free loopback port that behaves as badly as a test says. */
import { once } from 'node:events';
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import { type AddressInfo, createServer as createTcpServer, type Server, type Socket } from 'node:net';
import type { TestContext } from 'node:test';

export interface Received {
  readonly method: string;
  readonly path: string;
  readonly headers: IncomingMessage['headers'];
  readonly body: string;
}

export interface LoopbackServer {
  readonly baseUrl: string;
  readonly port: number;
  /** Requests in full, in the order in which they arrived. */
  readonly received: readonly Received[];
}

/** Serves until the test ends. `answer` gets each request once its body is there. */
export async function serveHttp(
  t: TestContext,
  answer: (request: Received, response: ServerResponse, nth: number) => void,
): Promise<LoopbackServer> {
  const received: Received[] = [];
  const server = createServer((request, response) => {
    const chunks: Buffer[] = [];
    request.on('data', (chunk: Buffer) => chunks.push(chunk));
    request.on('end', () => {
      const { method = '', url = '', headers } = request;
      const seen = { method, path: url, headers, body: Buffer.concat(chunks).toString() };
      received.push(seen);
      answer(seen, response, received.length);
    });
  });
  const port = await listen(t, server);
  return { baseUrl: `http://127.0.0.1:${port}`, port, received };
}

/** Accepts connections and leaves the rest to `handle`. Returns the port. */
export async function serveTcp(t: TestContext, handle: (socket: Socket) => void): Promise<number> {
  return listen(t, createTcpServer(handle));
}

/** A port that nobody listens on. */
export async function closedPort(): Promise<number> {
  const server = createTcpServer().listen(0, '127.0.0.1');
  await once(server, 'listening');
  const { port } = server.address() as AddressInfo;
  server.close();
  await once(server, 'close');
  return port;
}

export function json(
  response: ServerResponse,
  status: number,
  body: unknown,
  headers: Record<string, string> = {},
): void {
  response.writeHead(status, { 'content-type': 'application/json', ...headers });
  response.end(JSON.stringify(body));
}

async function listen(t: TestContext, server: Server): Promise<number> {
  const sockets = new Set<Socket>();
  server.on('connection', (socket: Socket) => {
    sockets.add(socket);
    socket.on('error', () => undefined);
    socket.on('close', () => sockets.delete(socket));
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  t.after(async () => {
    for (const socket of sockets) socket.destroy();
    server.close();
  });
  return (server.address() as AddressInfo).port;
}
