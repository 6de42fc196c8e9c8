/**
 * The server that the conformance suite is run against: the suite's own tools, prompts and resources on the very code
 * that serves Readback's tools and tasks. Its jobs are workflows on a real Temporal.
 */
import { randomBytes } from 'node:crypto';
import { createRequestStateCodec, McpServer, type ServerContext } from '@modelcontextprotocol/server';
import { DefaultLogger, Runtime, Worker } from '@temporalio/worker';
import { retentionOf } from '../../commands/set-up.ts';
import { createMcpApp, type HttpApp, serveHttp } from '../../mcp-server/http.ts';
import { mendAnswers } from '../../mcp-server/mended-answers.ts';
import {
  type Requester,
  requesterOf,
  requesterOfContext,
  TASKS_EXTENSION,
} from '../../mcp-server/requester.ts';
import type { McpService } from '../../mcp-server/service.ts';
import { serveTasks } from '../../mcp-server/tasks.ts';
import { serveTools } from '../../mcp-server/tool-calls.ts';
import { startTemporal } from '../temporal.ts';
import { addPrompts, addResources } from './fixture-content.ts';
import { type FixtureParts, fixtureTools } from './fixture-tools.ts';
import { TASK_QUEUE } from './job-messages.ts';
import { type JobTasks, jobTasks } from './job-tasks.ts';
import { jobTools } from './job-tools.ts';

const SERVER_INFO = { name: 'conformance-fixtures', version: '1.0.0' };
const ATTENDED = { unattended: false };
/** Stands for somebody else where it is there: whoever signs in is another principal. */
const PRINCIPAL_HEADER = 'fixture-principal';
const CACHE_HINT = { ttlMs: 60_000, cacheScope: 'public' } as const;

export interface FixtureServer {
  readonly url: string;
  /** What the server reported to its log. */
  readonly errors: readonly Error[];
  close(): Promise<void>;
}

export async function startFixtureServer(): Promise<FixtureServer> {
  Runtime.install({ logger: new DefaultLogger('ERROR') });
  const temporal = await startTemporal();
  const worker = await Worker.create({
    connection: temporal.nativeConnection,
    taskQueue: TASK_QUEUE,
    workflowsPath: new URL('./jobs.ts', import.meta.url).pathname,
  });
  const working = worker.run();
  const errors: Error[] = [];
  const jobs = jobTasks(temporal.client, await retentionOf(temporal.connection, 'default'));
  const app = fixtureApp(jobs, (error) => void errors.push(error));
  const { url, close } = await serveHttp(app, { host: '127.0.0.1', port: 0 });
  return {
    url,
    errors,
    async close() {
      await close();
      worker.shutdown();
      await working;
      await temporal.teardown();
    },
  };
}

function fixtureApp(jobs: JobTasks, onError: (error: Error) => void): HttpApp {
  const parts: FixtureParts = {
    requestState: createRequestStateCodec<string>({ key: randomBytes(32), ttlSeconds: 600 }),
    announce: {
      toolsChanged: () => app.notify.toolsChanged(),
      promptsChanged: () => app.notify.promptsChanged(),
    },
  };
  const app = createMcpApp({
    serverInfo: SERVER_INFO,
    serverFor: fixtureServer(jobs, parts, onError),
    tasks: jobs,
    requesterOf: (facts) => as(requesterOf(facts, null, ATTENDED), facts.headers),
    onError,
  });
  return app;
}

function fixtureServer(
  jobs: JobTasks,
  parts: FixtureParts,
  onError: (error: Error) => void,
): McpService['serverFor'] {
  return ({ era }) => {
    const modern = era === 'modern';
    const server = new McpServer(SERVER_INFO, {
      capabilities: {
        tools: { listChanged: true },
        prompts: { listChanged: true },
        resources: { subscribe: !modern },
        completions: {},
        logging: {},
        ...(modern && { extensions: { [TASKS_EXTENSION]: {} } }),
      },
      cacheHints: {
        'tools/list': CACHE_HINT,
        'prompts/list': CACHE_HINT,
        'resources/list': CACHE_HINT,
        'resources/templates/list': CACHE_HINT,
        'resources/read': { ...CACHE_HINT, cacheScope: 'private' },
        'server/discover': CACHE_HINT,
      },
      requestState: { verify: (state, ctx) => parts.requestState.verify(state, ctx) },
    });
    const requester = (ctx: ServerContext) =>
      as(
        requesterOfContext(ctx, modern ? null : { client: null, capabilities: undefined }, ATTENDED),
        ctx.http?.req?.headers,
      );
    serveTools(server, [...fixtureTools(parts), ...jobTools(jobs, requester)], onError);
    addPrompts(server);
    addResources(server);
    if (modern) serveTasks(server, { store: jobs, requesterOf: requester, onError });
    else acceptSubscriptions(server);
    return mendAnswers(server);
  };
}

function as(requester: Requester, headers: Headers | null | undefined): Requester {
  return { ...requester, principal: headers?.get(PRINCIPAL_HEADER) ?? requester.principal };
}

/** As older clients ask for them. Nothing here ever changes, so nothing is ever sent. */
function acceptSubscriptions({ server }: McpServer): void {
  for (const method of ['resources/subscribe', 'resources/unsubscribe'] as const)
    server.setRequestHandler(method, () => ({}));
}
