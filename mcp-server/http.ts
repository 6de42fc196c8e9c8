/** MCP over Streamable HTTP at /mcp, for both protocol eras, on an app that others may add routes to. */
import type { Server as NodeServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { createAdaptorServer } from '@hono/node-server';
import {
  createMcpHandler,
  hostHeaderValidationResponse,
  isLegacyRequest,
  localhostAllowedHostnames,
  originValidationResponse,
  readRequestBody,
  type ServerNotifier,
} from '@modelcontextprotocol/server';
import { Hono } from 'hono';
import { type Commands, EngineUnreachable } from '../commands/commands.ts';
import { type AuthOptions, type Authorization, authorization, untilTokenExpires } from './authorization.ts';
import { legacySessions } from './legacy-sessions.ts';
import { whenListChanges } from './list-changes.ts';
import { isListen, listeningOverHttp } from './listen-http.ts';
import { type McpParts, mcpService } from './server.ts';
import type { McpService } from './service.ts';
import { withTaskName } from './task-name-header.ts';
import { type SubscriptionLimits, taskSubscriptions } from './task-subscriptions.ts';

/** A tool call is a few hundred bytes; nothing that anybody needs comes near this. */
export const MAX_BODY_BYTES = 1_048_576;
const KEEP_ALIVE_MS = 15_000;
/** At the end, streams get this long to deliver their last word. */
const LAST_WORDS_MS = 1_000;

export interface HttpOptions {
  /** Host names that requests may be addressed to and come from; loopback's when absent. Ports don't matter. */
  readonly hostnames?: readonly string[];
  readonly subscriptionLimits?: SubscriptionLimits;
  /** A silent stream gets a comment this often, so that nothing in between takes it for dead. */
  readonly keepAliveMs?: number;
  /** Whether what answers calls can be reached; `/healthz` says so. */
  readonly isReachable?: () => Promise<boolean>;
  /** What else `/healthz` tells: nothing secret, since it asks nobody who they are. */
  readonly health?: () => Readonly<Record<string, unknown>>;
  /** Absent: nobody signs in, and whoever reaches the server is the one local user. */
  readonly auth?: AuthOptions;
}

export type HttpParts = McpParts & HttpOptions;

export interface HttpApp {
  /** Host and Origin are checked for every route, also for those added later. */
  readonly app: Hono;
  /** Tells those who have subscribed that a list has changed; of resources, sessions of older clients too. */
  readonly notify: ServerNotifier;
  /** Ends open streams and sessions. Commands go on. */
  close(): Promise<void>;
}

export interface ReadbackApp extends HttpApp {
  /** To be called when another catalogue has come into force: tells those who have subscribed, if their list has changed. */
  catalogueChanged(): void;
}

/** Readback's own. */
export function createHttpApp(parts: HttpParts): ReadbackApp {
  const isReachable = () => temporalAnswers(parts.commands);
  const service = mcpService(parts);
  const app = createMcpApp(service, { isReachable, ...parts });
  return { ...app, catalogueChanged: whenListChanges(service.resources, app.notify.resourcesChanged) };
}

/** No command has this id; that there is none, only Temporal can tell. */
const NO_COMMAND = 'healthz';

async function temporalAnswers(commands: Commands): Promise<boolean> {
  try {
    await commands.get(NO_COMMAND, { kind: 'operator' });
    return true;
  } catch (error) {
    if (error instanceof EngineUnreachable) return false;
    throw error;
  }
}

/** Any service's, whatever its tasks are. */
export function createMcpApp(service: McpService, options: HttpOptions = {}): HttpApp {
  const { serverFor, onError } = service;
  const keepAliveMs = options.keepAliveMs ?? KEEP_ALIVE_MS;
  const modern = createMcpHandler(serverFor, {
    legacy: 'reject',
    maxRequestBodySize: MAX_BODY_BYTES,
    onerror: onError,
    keepAliveMs,
  });
  const subscriptions = taskSubscriptions(service, options.subscriptionLimits);
  const fetchModern = listeningOverHttp(
    (request, parsedBody, authInfo) =>
      modern.fetch(withTaskName(request, parsedBody), { parsedBody, ...(authInfo && { authInfo }) }),
    subscriptions,
    service,
    keepAliveMs,
  );
  const legacy = legacySessions(serverFor, onError);
  const door = options.auth && authorization(options.auth, onError);
  const hostnames = [...(options.hostnames ?? localhostAllowedHostnames())];
  const app = new Hono();

  app.use(async (c, next) => {
    const refused =
      hostHeaderValidationResponse(c.req.raw, hostnames) ?? originValidationResponse(c.req.raw, hostnames);
    if (refused !== undefined) return refused;
    await next();
    return undefined;
  });

  app.all('/mcp', async (c) => {
    const request = c.req.raw;
    const auth = await door?.signedIn(request);
    if (auth instanceof Response) return auth;
    const refusalOf = (body: unknown) => auth && door?.refusalOf(auth, request, body);
    if (request.method !== 'POST')
      return refusalOf(undefined) ?? untilTokenExpires(await legacy.handle(request, undefined, auth), auth);
    const body = await readRequestBody(request, MAX_BODY_BYTES);
    if (body.tooLarge)
      return jsonRpcError(413, -32_000, `The request body must not be larger than ${MAX_BODY_BYTES} bytes.`);
    const parsedBody = parsed(body.text);
    if (parsedBody === undefined) return jsonRpcError(400, -32_700, 'The request body is not valid JSON.');
    const refused = refusalOf(parsedBody);
    if (refused !== undefined) return refused;
    if (await isLegacyRequest(request, parsedBody)) return legacy.handle(request, parsedBody, auth);
    const response = await fetchModern(request, parsedBody, auth);
    return isListen(parsedBody) ? untilTokenExpires(response, auth) : response;
  });

  addOtherRoutes(app, door, options);
  app.onError((error, c) => {
    onError(error);
    return c.text('Readback failed at this request; its log says why.\n', 500);
  });

  return {
    app,
    notify: {
      ...modern.notify,
      resourcesChanged() {
        modern.notify.resourcesChanged();
        legacy.resourcesChanged();
      },
    },
    async close() {
      subscriptions.close();
      await Promise.all([modern.close(), legacy.close()]);
    },
  };
}

/** What is told in passing: where to sign in, where MCP is, and whether all is well. */
function addOtherRoutes(
  app: Hono,
  door: Authorization | undefined,
  { isReachable, health }: Pick<HttpOptions, 'isReachable' | 'health'>,
): void {
  app.all('/.well-known/*', async (c, next) => {
    const published = await door?.metadata(c.req.raw);
    if (published !== undefined) return published;
    await next();
    return undefined;
  });

  app.all('/sse', (c) =>
    c.text(
      `Readback has no SSE endpoint. Connect by Streamable HTTP to ${new URL('/mcp', c.req.url).href} instead.\n`,
      410,
    ),
  );
  app.get('/healthz', async (c) => {
    const more = health?.();
    return (await (isReachable?.() ?? true))
      ? c.json({ ok: true, ...more })
      : c.json({ ok: false, why: 'Temporal does not answer', ...more }, 503);
  });
  app.notFound((c) =>
    c.text(`There is nothing at ${c.req.path.slice(0, 200)}. MCP is served at /mcp.\n`, 404),
  );
}

/** Serves an app on one address. Resolves once it listens; rejects when the port is taken. */
export async function serveHttp(
  { app, close }: HttpApp,
  { host, port }: { readonly host: string; readonly port: number },
): Promise<{ readonly url: string; readonly port: number; close(): Promise<void> }> {
  const server = createAdaptorServer({ fetch: app.fetch, hostname: host }) as NodeServer;
  await new Promise<void>((resolve, reject) => {
    server.once('error', reject);
    server.listen(port, host, resolve);
  });
  const address = server.address() as AddressInfo;
  const shownHost = host.includes(':') ? `[${host}]` : host;
  return {
    url: `http://${shownHost}:${address.port}`,
    port: address.port,
    async close() {
      await close();
      const closed = new Promise<void>((resolve) => server.close(() => resolve()));
      const sweep = setInterval(() => server.closeIdleConnections(), 20);
      const cut = setTimeout(() => server.closeAllConnections(), LAST_WORDS_MS);
      await closed;
      clearInterval(sweep);
      clearTimeout(cut);
    },
  };
}

function parsed(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}

function jsonRpcError(status: number, code: number, message: string): Response {
  return Response.json({ jsonrpc: '2.0', error: { code, message }, id: null }, { status });
}
