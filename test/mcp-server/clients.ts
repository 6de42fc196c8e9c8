/** The client libraries that agents' hosts are built with. */
import { Client, StreamableHTTPClientTransport } from '@modelcontextprotocol/client';
import {
  type ApplicationElicitResult,
  createTaskSessionFromClient,
} from '@modelcontextprotocol/ext-tasks/client';
import { Client as LegacyClient } from '@modelcontextprotocol/sdk/client/index.js';
import { StreamableHTTPClientTransport as LegacyHttpTransport } from '@modelcontextprotocol/sdk/client/streamableHttp.js';
import type { Transport } from '@modelcontextprotocol/sdk/shared/transport.js';
import { ElicitRequestSchema } from '@modelcontextprotocol/sdk/types.js';
import { ask } from './wire.ts';

const INFO = { name: 'test-host', version: '1.0.0' };

/** Answers a question as the user of a client would, or as a client would by itself. */
export type OnQuestion = (question: any) => any;

/** How a client differs from one that shows forms to somebody who hasn't signed in. */
export interface ClientWays {
  /** What it can show. */
  readonly shows?: 'form' | 'url';
  readonly headers?: Readonly<Record<string, string>>;
}

/** A client of protocol 2026-07-28 without any extension; with `onQuestion` it can show forms. */
export async function modernClient(
  url: string,
  capabilities = {},
  onQuestion?: OnQuestion,
  { shows = 'form', headers = {} }: ClientWays = {},
): Promise<Client> {
  const declared = { ...capabilities, ...(onQuestion && { elicitation: { [shows]: {} } }) };
  const client = new Client(INFO, { capabilities: declared, versionNegotiation: { mode: 'auto' } });
  if (onQuestion) client.setRequestHandler('elicitation/create', ({ params }) => onQuestion(params));
  await client.connect(
    new StreamableHTTPClientTransport(new URL(`${url}/mcp`), { requestInit: { headers } }),
  );
  return client;
}

/** A session of the Tasks extension; `onQuestion` is its user. Absent: the client declares no elicitation. */
export async function taskSession(
  url: string,
  onQuestion?: (question: any) => ApplicationElicitResult | Promise<ApplicationElicitResult>,
  { shows = 'form', headers = {} }: ClientWays = {},
) {
  const clientCapabilities = {
    extensions: { 'io.modelcontextprotocol/tasks': {} },
    ...(onQuestion && { elicitation: { [shows]: {} } }),
  };
  const client = await modernClient(url, clientCapabilities, undefined, { headers });
  const session = createTaskSessionFromClient(client, {
    endpointId: url,
    rawDispatch: async (request) => {
      const { method, params } = request as { method: string; params: Record<string, any> };
      const { _meta, ...rest } = params;
      const { result, error } = await ask(url, method, rest, {
        capabilities: clientCapabilities,
        headers,
        meta: _meta,
      });
      return { jsonrpc: '2.0', id: 1, ...(error === undefined ? { result } : { error }) } as never;
    },
    v2RequestFraming: { protocolVersion: '2026-07-28', clientInfo: INFO, clientCapabilities },
    ...(onQuestion && {
      onInputRequest: async (request: any) => (await onQuestion(request.params)) as never,
    }),
  });
  return {
    session,
    async close() {
      await session.close();
      await client.close();
    },
  };
}

/** A client of protocol 2025-11-25 over an HTTP session, unless given another transport; with `onQuestion` it can show forms. */
export async function legacyClient(
  url: string,
  onQuestion?: OnQuestion,
  transport: Transport = new LegacyHttpTransport(new URL(`${url}/mcp`)),
): Promise<LegacyClient> {
  const client = new LegacyClient(INFO, { capabilities: onQuestion ? { elicitation: {} } : {} });
  if (onQuestion) client.setRequestHandler(ElicitRequestSchema, ({ params }) => onQuestion(params));
  await client.connect(transport);
  return client;
}
