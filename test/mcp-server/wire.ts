/** Requests as they travel, for tests of what a well-behaved client library would never send. */
import assert from 'node:assert/strict';
import { setTimeout as sleep } from 'node:timers/promises';

export const TASKS = { extensions: { 'io.modelcontextprotocol/tasks': {} } };
export const FORMS = { elicitation: { form: {} } };
export const TASKS_AND_FORMS = { ...TASKS, ...FORMS };

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

/** What every request of 2026-07-28 says about its client. */
export function envelope(capabilities: Readonly<Record<string, unknown>>): Readonly<Record<string, unknown>> {
  return {
    'io.modelcontextprotocol/protocolVersion': '2026-07-28',
    'io.modelcontextprotocol/clientInfo': { name: 'wire-test', version: '1' },
    'io.modelcontextprotocol/clientCapabilities': capabilities,
  };
}

/** One request of protocol 2026-07-28 to the server at `url`. */
export async function ask(
  url: string,
  method: string,
  params: Readonly<Record<string, any>>,
  options: WireOptions = {},
): Promise<WireAnswer> {
  const name = params['name'] ?? params['taskId'] ?? params['uri'];
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
        _meta: { ...envelope(options.capabilities ?? {}), ...options.meta },
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

/** The same call once more, with the answer to the question that it was answered with. */
export function answerCall(
  url: string,
  args: Readonly<Record<string, unknown>>,
  asked: Readonly<Record<string, any>>,
  response: unknown,
  options?: WireOptions,
): Promise<WireAnswer> {
  const inputResponses = Object.fromEntries(
    Object.keys(asked['inputRequests']).map((key) => [key, response]),
  );
  const { requestState } = asked;
  return ask(
    url,
    'tools/call',
    { name: 'set_device_state', arguments: args, inputResponses, requestState },
    options,
  );
}

/** tasks/get, tasks/update or tasks/cancel. */
export function taskRequest(
  url: string,
  method: 'get' | 'update' | 'cancel',
  taskId: unknown,
  more: Readonly<Record<string, unknown>> = {},
  options: WireOptions = { capabilities: TASKS },
): Promise<WireAnswer> {
  return ask(url, `tasks/${method}`, { taskId, ...more }, options);
}

/** A set_device_state that must be answered with a task. */
export async function startTask(
  url: string,
  args: Readonly<Record<string, unknown>>,
  options: WireOptions = { capabilities: TASKS },
): Promise<Readonly<Record<string, any>>> {
  const { result, error } = await callTool(url, 'set_device_state', args, options);
  assert.equal(result?.['resultType'], 'task', JSON.stringify(result ?? error));
  return result as Record<string, any>;
}

/** Polls until the task is as wanted. */
export async function untilTask(
  url: string,
  taskId: string,
  isEnough: (task: Readonly<Record<string, any>>) => boolean,
  options?: WireOptions,
): Promise<Readonly<Record<string, any>>> {
  const giveUpAt = Date.now() + 30_000;
  for (;;) {
    const { result, error } = await taskRequest(url, 'get', taskId, {}, options);
    assert.ok(result, JSON.stringify(error));
    if (isEnough(result)) return result;
    assert.ok(Date.now() < giveUpAt, `still ${result['status']}: ${result['statusMessage']}`);
    await sleep(100);
  }
}

export const isEnded = ({ status }: Readonly<Record<string, any>>): boolean =>
  ['completed', 'cancelled', 'failed'].includes(status);
