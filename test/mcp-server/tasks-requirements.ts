/**
 * What the Tasks extension (`io.modelcontextprotocol/tasks`, SEP-2663) demands of servers with MUST and SHOULD, in our own
 * words. What it demands of clients and hosts is not here. Tests cite these by `cites`; one that none cites fails the run.
 */
export const REQUIREMENTS = {
  'create.only-declared':
    'MUST NOT answer with a task unless this very request declares the extension, whatever earlier ones declared',
  'create.missing-capability':
    'MUST refuse with -32021, naming the extension, what can only be served as a task to a request that does not declare it',
  'create.legacy-is-undeclared':
    'MUST take the tasks capability of 2025-11-25 for no declaration of the extension',
  'create.other-requests': 'SHOULD be made so that other requests than tools/call can become tasks later',
  'create.result-type': 'MUST mark a task that is created by resultType "task"',
  'create.result-type-only': 'MUST NOT use resultType "task" for anything else',
  'create.durable': 'MUST NOT answer with a task before tasks/get would find it',
  'create.consistent': 'MUST wait for consistency first, where the store is eventually consistent',
  'create.asks-first': 'SHOULD finish all rounds of input on the request before it answers with a task',
  'get.working': 'MUST show a working task as working',
  'get.input-required': 'MUST show a task that waits for input as input_required, with inputRequests',
  'get.all-outstanding': 'MUST have every outstanding request in inputRequests',
  'get.completed': 'MUST show a completed task as completed, with its result',
  'get.cancelled': 'MUST show a cancelled task as cancelled',
  'get.failed': 'MUST show a failed task as failed, with the error',
  'get.result-type': 'MUST set resultType "complete" on the answer to tasks/get',
  'input.keys-unique': 'MUST use each key of inputRequests once in the life of a task',
  'input.no-reuse': 'MUST NOT use a key again after it was answered',
  'input.one-request': 'MUST NOT mean two requests by one key',
  'update.empty': 'MUST acknowledge tasks/update with an empty result',
  'update.unknown-task': 'SHOULD answer tasks/update of an unknown task with an error',
  'update.other-keys':
    'SHOULD ignore responses to keys that were never issued, are answered or were superseded',
  'update.result-type': 'MUST set resultType "complete" on the answer to tasks/update',
  'cancel.not-by-notification': 'MUST NOT let notifications/cancelled cancel a task',
  'cancel.empty': 'MUST acknowledge tasks/cancel with an empty result',
  'cancel.unknown-task': 'SHOULD answer tasks/cancel of an unknown task with an error',
  'cancel.result-type': 'MUST set resultType "complete" on the answer to tasks/cancel',
  'listen.missing-capability':
    'MUST refuse with -32021, naming the extension, to notify of tasks where the request does not declare it',
  'listen.nothing-else': 'MUST NOT send progress or log messages on the stream of a subscription to tasks',
  'headers.name':
    'MUST hold Mcp-Name (required of clients on tasks/get, tasks/update and tasks/cancel) against params.taskId',
  'errors.unknown-on-get': 'MUST answer tasks/get of an invalid or unknown task with -32602',
  'errors.unknown-on-others': 'SHOULD answer tasks/update and tasks/cancel of such a task with -32602',
  'errors.internal': 'MUST report faults of its own as -32603',
  'errors.missing-capability':
    'MUST answer tasks/get, tasks/update and tasks/cancel with -32021 where the request does not declare the extension',
  'errors.informative': 'SHOULD say in its errors what caused them',
  'failed.only-protocol': 'MUST NOT use failed for anything but a JSON-RPC error',
  'failed.status-message': 'SHOULD say in the statusMessage of a failed task what went wrong',
  'failed.error': 'MUST have the error in a failed task',
  'failed.same-error': 'MUST have that JSON-RPC error in it that the request would have got',
  'completed.tool-error':
    'MUST use completed for results that are errors of the tool, with the details in result',
  'completed.same-result': 'MUST have that result in a completed task that the request would have got',
  'security.unguessable': 'MUST make ids of tasks that nobody can guess or enumerate',
  'security.every-request': 'MUST check on every request about a task that its sender may have access to it',
} as const;

export type RequirementId = keyof typeof REQUIREMENTS;

/** Options of a test that shows these to be met. The ids are read from the source, and checked by the compiler. */
export function cites(..._ids: readonly [RequirementId, ...RequirementId[]]): Record<string, never> {
  return {};
}
