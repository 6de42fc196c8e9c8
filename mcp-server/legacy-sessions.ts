/** Sessions of clients that speak 2025-11-25 or older: those need one connection that lasts over many requests. */
import { randomUUID } from 'node:crypto';
import {
  isInitializeRequest,
  type McpServer,
  WebStandardStreamableHTTPServerTransport,
} from '@modelcontextprotocol/server';
import { tellResourcesChanged } from './list-changes.ts';
import type { McpServerForEra } from './service.ts';

interface Session {
  readonly server: McpServer;
  readonly transport: WebStandardStreamableHTTPServerTransport;
  lastUsedAt: number;
}

/** Beyond this many, the session unused for longest ends; its client starts a new one, and no command is lost. */
const MOST_SESSIONS = 1_000;
const IDLE_AFTER_MS = 3_600_000;
const SESSION_HEADER = 'mcp-session-id';

export function legacySessions(factory: McpServerForEra, onError: (error: Error) => void) {
  const sessions = new Map<string, Session>();

  async function open(request: Request): Promise<Session> {
    await endIdle();
    const transport = new WebStandardStreamableHTTPServerTransport({
      sessionIdGenerator: randomUUID,
      onsessioninitialized: (id) => void sessions.set(id, session),
      onsessionclosed: (id) => void sessions.delete(id),
    });
    const server = factory({ era: 'legacy', requestInfo: request });
    const session: Session = { server, transport, lastUsedAt: Date.now() };
    transport.onerror = onError;
    await server.connect(transport);
    return session;
  }

  async function endIdle(): Promise<void> {
    const oldestFirst = [...sessions].sort(([, a], [, b]) => a.lastUsedAt - b.lastUsedAt);
    const idleSince = Date.now() - IDLE_AFTER_MS;
    const surplus = sessions.size - MOST_SESSIONS + 1;
    const ended = oldestFirst.filter(
      ([, session], index) => index < surplus || session.lastUsedAt < idleSince,
    );
    await Promise.all(ended.map(([id, session]) => end(id, session)));
  }

  async function end(id: string, session: Session): Promise<void> {
    sessions.delete(id);
    await session.transport.close();
  }

  return {
    /** `parsedBody` is the POST's body; undefined for GET and DELETE. */
    async handle(request: Request, parsedBody: unknown): Promise<Response> {
      const id = request.headers.get(SESSION_HEADER);
      const known = id === null ? undefined : sessions.get(id);
      if (id !== null && known === undefined)
        return refusal(
          404,
          'This session is unknown or has ended. Start a new one with initialize; commands are not lost.',
        );
      if (known === undefined && !opensSession(parsedBody))
        return request.method === 'POST'
          ? refusal(400, 'There is no session: start one with initialize, or speak protocol 2026-07-28.')
          : refusal(405, 'POST an MCP request here.');
      const session = known ?? (await open(request));
      session.lastUsedAt = Date.now();
      return session.transport.handleRequest(request, { parsedBody });
    },
    /** Reaches those that hold a stream open for it. */
    resourcesChanged(): void {
      for (const { server } of sessions.values()) tellResourcesChanged(server, onError);
    },
    async close(): Promise<void> {
      await Promise.all([...sessions].map(([id, session]) => end(id, session)));
    },
  };
}

function opensSession(body: unknown): boolean {
  return Array.isArray(body) ? body.some(isInitializeRequest) : isInitializeRequest(body);
}

function refusal(status: number, message: string): Response {
  const headers = status === 405 ? { Allow: 'POST' } : {};
  return Response.json({ jsonrpc: '2.0', error: { code: -32_000, message }, id: null }, { status, headers });
}
