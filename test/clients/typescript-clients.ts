/** The client libraries of TypeScript. */
import { Client, StreamableHTTPClientTransport, type Transport } from '@modelcontextprotocol/client';
import { StdioClientTransport } from '@modelcontextprotocol/client/stdio';
import { createTaskSessionFromClient } from '@modelcontextprotocol/ext-tasks/client';
import { Client as LegacyClient } from '@modelcontextprotocol/sdk/client/index.js';
import { StdioClientTransport as LegacyStdioTransport } from '@modelcontextprotocol/sdk/client/stdio.js';
import { StreamableHTTPClientTransport as LegacyHttpTransport } from '@modelcontextprotocol/sdk/client/streamableHttp.js';
import type { Transport as LegacyTransport } from '@modelcontextprotocol/sdk/shared/transport.js';
import { ElicitRequestSchema } from '@modelcontextprotocol/sdk/types.js';
import { TASKS } from '../mcp-server/wire.ts';
import { type ClientParts, elicitationOf, type MatrixClient, shownError, shownResult } from './client.ts';
import type { Endpoint } from './house.ts';

const INFO = { name: 'client-matrix', version: '1.0.0' };

/** `@modelcontextprotocol/client` */
export async function typescriptClient(parts: ClientParts): Promise<MatrixClient> {
  const client = await connected(parts, {});
  return {
    call: (name, args) =>
      client
        .callTool({ name, arguments: { ...args } })
        .then(shownResult)
        .catch(shownError),
    cancelTask: null,
    close: () => client.close(),
  };
}

async function connected({ row, endpoint, ask }: ClientParts, more: object): Promise<Client> {
  const client = new Client(INFO, {
    capabilities: { ...more, ...elicitationOf(row) },
    versionNegotiation: { mode: row.era === 'modern' ? 'auto' : 'legacy' },
  });
  if (row.person !== 'none') client.setRequestHandler('elicitation/create', ({ params }) => ask(params));
  await client.connect(
    transportTo<Transport>(
      endpoint,
      (url, options) => new StreamableHTTPClientTransport(url, options),
      (server) => new StdioClientTransport(server),
    ),
  );
  return client;
}

/** A session of `@modelcontextprotocol/ext-tasks`. */
export async function taskClient(parts: ClientParts): Promise<MatrixClient> {
  const client = await connected(parts, TASKS);
  const clientCapabilities = { ...TASKS, ...elicitationOf(parts.row) };
  const session = createTaskSessionFromClient(client, {
    endpointId: 'readback',
    rawDispatch: rawDispatch(client.transport as Transport),
    v2RequestFraming: { protocolVersion: '2026-07-28', clientInfo: INFO, clientCapabilities },
    ...(parts.row.person !== 'none' && {
      onInputRequest: (async (request: any) => await parts.ask(request.params)) as never,
    }),
  });
  return {
    async call(name, args) {
      const execution = await session.callTool(name, { ...args } as never);
      const { outcome } = await execution.settle();
      switch (outcome.status) {
        case 'completed':
          return shownResult(outcome.result);
        case 'failed':
          return shownError(outcome.error);
        case 'cancelled':
          return { how: 'an outcome', text: outcome.status };
      }
    },
    cancelTask: (taskId) => session.cancelTask(taskId as never),
    async close() {
      await session.close();
      await client.close();
    },
  };
}

/** The client itself refuses what belongs to the extension, so that a session needs its connection past it. */
function rawDispatch(transport: Transport) {
  const waiting = new Map<string, (message: any) => void>();
  const { onmessage } = transport;
  transport.onmessage = (message: any, extra) => {
    const answered = waiting.get(message.id);
    if (answered === undefined) onmessage?.(message, extra);
    else answered(message);
  };
  let requests = 0;
  return async (request: any) => {
    const id = `raw-${++requests}`;
    const answer = new Promise<any>((resolve) => waiting.set(id, resolve));
    await transport.send({ jsonrpc: '2.0', ...request, id });
    const { result, error } = await answer;
    waiting.delete(id);
    return error === undefined ? { kind: 'result' as const, result } : { kind: 'error' as const, error };
  };
}

/** `@modelcontextprotocol/sdk` 1.x */
export async function sdkClient({ row, endpoint, ask }: ClientParts): Promise<MatrixClient> {
  const client = new LegacyClient(INFO, { capabilities: elicitationOf(row) });
  if (row.person !== 'none') client.setRequestHandler(ElicitRequestSchema, ({ params }) => ask(params));
  await client.connect(
    transportTo<LegacyTransport>(
      endpoint,
      (url, options) => new LegacyHttpTransport(url, options),
      (server) => new LegacyStdioTransport(server),
    ),
  );
  return {
    call: (name, args) =>
      client
        .callTool({ name, arguments: { ...args } })
        .then(shownResult)
        .catch(shownError),
    cancelTask: null,
    close: () => client.close(),
  };
}

function transportTo<T>(
  endpoint: Endpoint,
  http: (url: URL, options: { requestInit: { headers: Record<string, string> } }) => T,
  stdio: (server: { command: string; args: string[] }) => T,
): T {
  return 'url' in endpoint
    ? http(new URL(endpoint.url), { requestInit: { headers: { ...endpoint.headers } } })
    : stdio({ command: endpoint.command, args: [...endpoint.args] });
}
