/** Sessions of clients that speak 2025-11-25 or older: those need one connection that lasts over many requests. */
import { randomUUID } from 'node:crypto';
import {
  type AuthInfo,
  isInitializeRequest,
  type McpServer,
  WebStandardStreamableHTTPServerTransport,
} from '@modelcontextprotocol/server';
import { tellResourcesChanged } from './list-changes.ts';
import type { McpServerForEra } from './service.ts';
import { principalOf } from './signed-in.ts';

interface Session {
  /** null: nobody signs in. To anybody else the session doesn't exist. */
  readonly owner: string | null;
  readonly server: McpServer;
  readonly transport: WebStandardStreamableHTTPServerTransport;
  lastUsedAt: number;
}

/** Beyond this many, the session unused for longest ends; its client starts a new one, and no command is lost. */
const MOST_SESSIONS = 1_000;
/** So that one who opens many doesn't end the sessions of others. */
const MOST_SESSIONS_OF_ONE = 100;
const IDLE_AFTER_MS = 3_600_000;
const SESSION_HEADER = 'mcp-session-id';

export function legacySessions(factory: McpServerForEra, onError: (error: Error) => void) {
  const sessions = new Map<string, Session>();

  async function open(request: Request, owner: string | null): Promise<Session> {
    await endIdle(owner);
    const transport = new WebStandardStreamableHTTPServerTransport({
      sessionIdGenerator: randomUUID,
      onsessioninitialized: (id) => void sessions.set(id, session),
      onsessionclosed: (id) => void sessions.delete(id),
    });
    const server = factory({ era: 'legacy', requestInfo: request });
    const session: Session = { owner, server, transport, lastUsedAt: Date.now() };
    transport.onerror = onError;
    await server.connect(transport);
    return session;
  }

  /** Before another one is opened. */
  async function endIdle(owner: string | null): Promise<void> {
    const oldestFirst = [...sessions].sort(([, a], [, b]) => a.lastUsedAt - b.lastUsedAt);
    const own = oldestFirst.filter(([, session]) => session.owner === owner);
    const idleSince = Date.now() - IDLE_AFTER_MS;
    const ended = new Map([
      ...oldestFirst.filter(([, { lastUsedAt }]) => lastUsedAt < idleSince),
      ...(owner === null ? [] : beyond(own, MOST_SESSIONS_OF_ONE)),
      ...beyond(oldestFirst, MOST_SESSIONS),
    ]);
    await Promise.all([...ended].map(([id, session]) => end(id, session)));
  }

  async function end(id: string, session: Session): Promise<void> {
    sessions.delete(id);
    await session.transport.close();
  }

  return {
    /** `parsedBody` is the POST's body; undefined for GET and DELETE. `authInfo`: absent where nobody signs in. */
    async handle(request: Request, parsedBody: unknown, authInfo: AuthInfo | undefined): Promise<Response> {
      const owner = authInfo === undefined ? null : principalOf(authInfo);
      const id = request.headers.get(SESSION_HEADER);
      const found = id === null ? undefined : sessions.get(id);
      const known = found?.owner === owner ? found : undefined;
      if (id !== null && known === undefined)
        return refusal(
          404,
          'This session is unknown or has ended. Start a new one with initialize; commands are not lost.',
        );
      if (known === undefined && !opensSession(parsedBody))
        return request.method === 'POST'
          ? refusal(400, 'There is no session: start one with initialize, or speak protocol 2026-07-28.')
          : refusal(405, 'POST an MCP request here.');
      const session = known ?? (await open(request, owner));
      session.lastUsedAt = Date.now();
      return session.transport.handleRequest(request, { parsedBody, ...(authInfo && { authInfo }) });
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

/** The first ones, so that one more makes no more than `most`. */
const beyond = <T>(oldestFirst: readonly T[], most: number): readonly T[] =>
  oldestFirst.slice(0, Math.max(0, oldestFirst.length - most + 1));

function opensSession(body: unknown): boolean {
  return Array.isArray(body) ? body.some(isInitializeRequest) : isInitializeRequest(body);
}

function refusal(status: number, message: string): Response {
  const headers = status === 405 ? { Allow: 'POST' } : {};
  return Response.json({ jsonrpc: '2.0', error: { code: -32_000, message }, id: null }, { status, headers });
}
