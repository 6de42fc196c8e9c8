/** One valid request of every kind, as a client of either protocol era would make it. */
import { envelope, TASKS_AND_FORMS } from './wire.ts';

export interface ValidRequest {
  readonly title: string;
  readonly body: Readonly<Record<string, unknown>>;
  /** Its answer is a stream that goes on. */
  readonly streams?: true;
}

/** Commands of the caller that the requests are about. */
export interface Subjects {
  readonly ended: string;
  /** Asks its requester. */
  readonly waiting: string;
}

type Call = readonly [title: string, method: string, params: Readonly<Record<string, unknown>>];

const dismissed = { action: 'cancel', content: {} };

/** Waits for an operator, so that nothing is sent however often it is made. */
export const COMMAND = { device: 'boiler', desired: { temperature: 21.5 }, reason: 'cold', requestId: 'q' };

function calls({ ended }: Subjects): readonly Call[] {
  const tool = (name: string, args: Readonly<Record<string, unknown>>): Call => [
    `tools/call ${name}`,
    'tools/call',
    { name, arguments: args },
  ];
  return [
    tool('list_devices', { query: 'lamp', limit: 3 }),
    tool('get_device_state', { device: 'bedroom-ac' }),
    tool('set_device_state', COMMAND),
    tool('get_command', { commandId: ended, waitSeconds: 0 }),
    tool('cancel_command', { commandId: ended }),
    ['tools/list', 'tools/list', {}],
    ['resources/list', 'resources/list', {}],
    ['resources/templates/list', 'resources/templates/list', {}],
    ['resources/read', 'resources/read', { uri: `readback://commands/${ended}` }],
    [
      'completion/complete',
      'completion/complete',
      {
        ref: { type: 'ref/resource', uri: 'readback://devices/{id}' },
        argument: { name: 'id', value: 'bed' },
      },
    ],
  ];
}

export function modernRequests(subjects: Subjects): readonly ValidRequest[] {
  const { ended, waiting } = subjects;
  const more: readonly Call[] = [
    ['tasks/get', 'tasks/get', { taskId: waiting }],
    ['tasks/update', 'tasks/update', { taskId: waiting, inputResponses: { 'approve-1': dismissed } }],
    ['tasks/cancel', 'tasks/cancel', { taskId: ended }],
    ['server/discover', 'server/discover', {}],
    [
      'subscriptions/listen',
      'subscriptions/listen',
      { notifications: { taskIds: [waiting], resourcesListChanged: true } },
    ],
  ];
  return [...calls(subjects), ...more].map(([title, method, params]) => ({
    title,
    body: {
      jsonrpc: '2.0',
      id: 1,
      method,
      params: { ...params, _meta: { ...envelope(TASKS_AND_FORMS), progressToken: 'p' } },
    },
    ...(method === 'subscriptions/listen' && { streams: true }),
  }));
}

export const INITIALIZE = {
  jsonrpc: '2.0',
  id: 1,
  method: 'initialize',
  params: {
    protocolVersion: '2025-11-25',
    capabilities: { elicitation: {} },
    clientInfo: { name: 'wire-test', version: '1' },
  },
} as const;

export function legacyRequests(subjects: Subjects): readonly ValidRequest[] {
  const requests = [...calls(subjects), ['ping', 'ping', {}] as const].map(
    ([title, method, params]): ValidRequest => ({
      title,
      body: { jsonrpc: '2.0', id: 1, method, params: { ...params, _meta: { progressToken: 'p' } } },
    }),
  );
  const cancelled = { requestId: 7, reason: 'r' };
  return [
    { title: 'initialize', body: INITIALIZE },
    ...requests,
    {
      title: 'notifications/cancelled',
      body: { jsonrpc: '2.0', method: 'notifications/cancelled', params: cancelled },
    },
    { title: 'the answer to a question', body: { jsonrpc: '2.0', id: 7, result: { ...dismissed } } },
  ];
}
