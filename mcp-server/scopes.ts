/** What a token has to be for, by what is asked. The list of tools is the same for everybody all the same. */
import { isJsonObject } from './json-object.ts';

export const READ = 'devices:read';
export const COMMAND = 'devices:command';
/** Takes away instead of giving: nobody watches this client, so that approvals wait in the queue. */
export const UNATTENDED = 'unattended';

/** What an agent should ask its user for; it needs both to be of use. */
export const AGENTS_SCOPES: readonly string[] = [READ, COMMAND];

/** They say nothing of devices, and nothing of anybody's commands. */
const NEED_NOTHING: readonly string[] = [
  'initialize',
  'server/discover',
  'ping',
  'tools/list',
  'prompts/list',
  'resources/templates/list',
  'logging/setLevel',
];
const ONLY_READ: readonly string[] = [
  'tasks/get',
  'subscriptions/listen',
  'resources/list',
  'resources/read',
  'resources/subscribe',
  'resources/unsubscribe',
  'completion/complete',
];
const READING_TOOLS: readonly unknown[] = ['list_devices', 'get_device_state', 'get_command'];

/** The scopes that a request needs, by its body. */
export function scopesFor(method: string, body: unknown): readonly string[] {
  // The stream of an older session carries what happens to devices and commands.
  if (method === 'GET') return [READ];
  // A batch holds messages and no batches: what is nested deeper is no message, and nobody serves it.
  return Array.isArray(body) ? [...new Set(body.flatMap(scopesOfMessage))] : scopesOfMessage(body);
}

/** Whatever isn't known to only read may command. */
function scopesOfMessage(message: unknown): readonly string[] {
  if (!isJsonObject(message)) return [];
  const { method, params } = message;
  // An answer to a question that was asked during a call: it may be what makes the command go out.
  if (method === undefined) return 'result' in message || 'error' in message ? [COMMAND] : [];
  if (typeof method !== 'string' || method.startsWith('notifications/') || NEED_NOTHING.includes(method))
    return [];
  if (ONLY_READ.includes(method)) return [READ];
  const reads = method === 'tools/call' && isJsonObject(params) && READING_TOOLS.includes(params['name']);
  return [reads ? READ : COMMAND];
}
