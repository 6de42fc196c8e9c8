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

/** The scopes that a message needs, or all messages of a batch. Whatever isn't known to only read may command. */
export function scopesFor(body: unknown): readonly string[] {
  if (Array.isArray(body)) return [...new Set(body.flatMap(scopesFor))];
  if (!isJsonObject(body)) return [];
  const { method, params } = body;
  // An answer to a question that was asked during a call: it may be what makes the command go out.
  if (method === undefined) return 'result' in body || 'error' in body ? [COMMAND] : [];
  if (typeof method !== 'string' || method.startsWith('notifications/') || NEED_NOTHING.includes(method))
    return [];
  if (ONLY_READ.includes(method)) return [READ];
  const reads = method === 'tools/call' && isJsonObject(params) && READING_TOOLS.includes(params['name']);
  return [reads ? READ : COMMAND];
}
