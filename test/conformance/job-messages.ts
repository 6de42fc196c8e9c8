/** What jobs and the server in front of them say to each other through Temporal. */
import type { CallToolResult, InputRequest } from '@modelcontextprotocol/server';
import { defineUpdate } from '@temporalio/workflow';

export const TASK_QUEUE = 'conformance-jobs';
/** Holds a `JobView`. */
export const MEMO_KEY = 'job';

export interface JobRequest {
  readonly owner: string;
}

export type JobResult = CallToolResult;
export type Asked = Readonly<Record<string, InputRequest>>;

/** All that a task needs to be shown, so that one describe answers. Times are epoch milliseconds. */
export interface JobView {
  readonly owner: string;
  readonly doing: string;
  readonly changedAt: number;
  /** Questions that are open. */
  readonly asked: Asked;
  readonly result: JobResult | null;
  readonly error: { readonly code: number; readonly message: string } | null;
}

export function acceptedJob(owner: string, at: number): JobView {
  return { owner, doing: 'working', changedAt: at, asked: {}, result: null, error: null };
}

/** Responses by the key of their question. Keys that aren't open are ignored. */
export const answersUpdate = defineUpdate<void, [Readonly<Record<string, unknown>>]>('answers');
