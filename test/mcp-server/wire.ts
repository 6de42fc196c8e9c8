/** Requests as they travel, for tests of what a well-behaved client library would never send. */
import type { McpOptions } from '../../mcp-server/options.ts';

export const TASKS = { extensions: { 'io.modelcontextprotocol/tasks': {} } };
export const TASKS_AND_FORMS = { ...TASKS, elicitation: { form: {} } };

export interface WireAnswer {
  readonly status: number;
  readonly result?: Readonly<Record<string, any>>;
  readonly error?: { readonly code: number; readonly message: string; readonly data?: unknown };
  /** Notifications that came before the answer. */
  readonly notifications: readonly Readonly<Record<string, any>>[];
}

export interface WireOptions {
  readonly capabilities?: Readonly<Record<string, unknown>>;
  readonly headers?: Readonly<Record<string, string>>;
  readonly meta?: Readonly<Record<string, unknown>>;
  readonly signal?: AbortSignal;
}

/** One request of protocol 2026-07-28 to the server at `url`. */
export async function ask(
  url: string,
  method: string,
  params: Readonly<Record<string, any>>,
  options: WireOptions = {},
): Promise<WireAnswer> {
  const name = params['name'] ?? params['taskId'];
  const response = await fetch(`${url}/mcp`, {
    method: 'POST',
    headers: {
      'content-type': 'application/json',
      accept: 'application/json, text/event-stream',
      'mcp-protocol-version': '2026-07-28',
      'mcp-method': method,
      ...(typeof name === 'string' && { 'mcp-name': name }),
      ...options.headers,
    },
    body: JSON.stringify({
      jsonrpc: '2.0',
      id: 1,
      method,
      params: {
        ...params,
        _meta: {
          'io.modelcontextprotocol/protocolVersion': '2026-07-28',
          'io.modelcontextprotocol/clientInfo': { name: 'wire-test', version: '1' },
          'io.modelcontextprotocol/clientCapabilities': options.capabilities ?? {},
          ...options.meta,
        },
      },
    }),
    ...(options.signal && { signal: options.signal }),
  });
  const text = await response.text();
  const messages = response.headers.get('content-type')?.startsWith('text/event-stream')
    ? [...text.matchAll(/^data: (.+)$/gm)].map((match) => JSON.parse(match[1] as string))
    : [JSON.parse(text)];
  const { result, error } = messages.at(-1);
  return { status: response.status, result, error, notifications: messages.slice(0, -1) };
}

/** tools/call in one line. */
export function callTool(
  url: string,
  name: string,
  args: Readonly<Record<string, unknown>>,
  options?: WireOptions,
): Promise<WireAnswer> {
  return ask(url, 'tools/call', { name, arguments: args }, options);
}

export const optionsWith = (changes: Partial<McpOptions>): McpOptions => ({
  taskGraceMs: 5_000,
  syncWaitMs: 45_000,
  unattended: false,
  deviceHeader: false,
  consoleUrl: null,
  ...changes,
});
