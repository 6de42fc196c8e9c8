/** A task at one moment, and its shapes on the wire. */
import type { CallToolResult, InputRequest } from '@modelcontextprotocol/server';
import { isPage } from './asking.ts';
import type { Requester } from './requester.ts';

/** Times are epoch milliseconds. */
interface TaskFacts {
  readonly taskId: string;
  readonly createdAt: number;
  /** Changes only when the task does. */
  readonly lastUpdatedAt: number;
  /** Whole milliseconds from creation for which the task can be asked about; null: unbounded for now. */
  readonly ttlMs: number | null;
  readonly pollIntervalMs: number;
  /** What is going on, for people; without ages, so that it changes only when the task does. */
  readonly statusMessage?: string;
}

export type InputRequests = Readonly<Record<string, InputRequest>>;

export type TaskSnapshot = TaskFacts &
  (
    | { readonly status: 'working' }
    /** Every request that is outstanding; a key is never used twice in a task's life. */
    | {
        readonly status: 'input_required';
        readonly inputRequests: InputRequests;
        /** The same by their keys, as pages to open, for clients that can show nothing else. Absent: there are none. */
        readonly pages?: InputRequests;
      }
    | { readonly status: 'completed'; readonly result: CallToolResult }
    /** Only for faults of the server itself; a tool's own error is a completed task. */
    | { readonly status: 'failed'; readonly error: { readonly code: number; readonly message: string } }
    | { readonly status: 'cancelled' }
  );

export function isTerminal(snapshot: TaskSnapshot): boolean {
  return snapshot.status === 'completed' || snapshot.status === 'failed' || snapshot.status === 'cancelled';
}

/** Outstanding input requests that this very request's client can show. */
export function answerable(snapshot: TaskSnapshot, requester: Requester): InputRequests {
  if (snapshot.status !== 'input_required' || requester.unattended) return {};
  const ways = [...Object.entries(snapshot.pages ?? {}), ...Object.entries(snapshot.inputRequests)];
  return Object.fromEntries(ways.filter(([, request]) => canShow(request, requester)));
}

function canShow(request: InputRequest, requester: Requester): boolean {
  if (request.method !== 'elicitation/create') return false;
  return isPage(request) ? requester.elicitation.url : requester.elicitation.form;
}

/** The answer to tools/call that is a task. */
export function createTaskResult(snapshot: TaskSnapshot, requester: Requester): CreateTaskResult {
  const fields = { ...commonFields(snapshot), status: shownStatus(snapshot, requester) };
  // The question itself comes with the first poll, and somebody may be sitting there.
  const pollIntervalMs = fields.status === 'input_required' ? FIRST_POLL_FOR_INPUT_MS : fields.pollIntervalMs;
  return { resultType: 'task', ...fields, pollIntervalMs };
}

const FIRST_POLL_FOR_INPUT_MS = 200;

export type CreateTaskResult = ReturnType<typeof commonFields> & {
  readonly resultType: 'task';
  readonly status: TaskSnapshot['status'];
};

/** The answer to tasks/get. */
export function detailedTask(
  snapshot: TaskSnapshot,
  requester: Requester,
): Readonly<Record<string, unknown>> {
  const fields = { ...commonFields(snapshot), status: shownStatus(snapshot, requester) };
  switch (snapshot.status) {
    case 'working':
    case 'cancelled':
      return fields;
    case 'input_required':
      return fields.status === 'working'
        ? fields
        : { ...fields, inputRequests: answerable(snapshot, requester) };
    case 'completed':
      // The inlined result is a whole result of its own, discriminator included.
      return { ...fields, result: { resultType: 'complete', ...snapshot.result } };
    case 'failed':
      return { ...fields, error: snapshot.error };
  }
}

/** A question that this client can't show is no question to it: the task is working, and is answered elsewhere. */
function shownStatus(snapshot: TaskSnapshot, requester: Requester): TaskSnapshot['status'] {
  const nothingToAnswer = Object.keys(answerable(snapshot, requester)).length === 0;
  return snapshot.status === 'input_required' && nothingToAnswer ? 'working' : snapshot.status;
}

function commonFields(snapshot: TaskSnapshot) {
  const { taskId, statusMessage, createdAt, lastUpdatedAt, ttlMs, pollIntervalMs } = snapshot;
  return {
    taskId,
    ...(statusMessage !== undefined && { statusMessage }),
    createdAt: new Date(createdAt).toISOString(),
    lastUpdatedAt: new Date(lastUpdatedAt).toISOString(),
    ttlMs,
    pollIntervalMs,
  };
}
