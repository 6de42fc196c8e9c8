/** Jobs as tasks: any workflow that keeps a view of itself in its memo can be served, by one describe. */
import { randomUUID } from 'node:crypto';
import type { Client, WorkflowExecutionDescription } from '@temporalio/client';
import { ask } from '../../commands/engine.ts';
import { changes } from '../../commands/follow.ts';
import { isTerminal, type TaskSnapshot } from '../../mcp-server/task-snapshot.ts';
import type { TaskStore } from '../../mcp-server/tasks.ts';
import {
  acceptedJob,
  answersUpdate,
  type JobRequest,
  type JobView,
  MEMO_KEY,
  TASK_QUEUE,
} from './job-messages.ts';

const POLL_INTERVAL_MS = 500;

export interface JobTasks extends TaskStore {
  /** Resolves with its task once Temporal has acknowledged it. */
  start(workflowType: string, request: JobRequest): Promise<TaskSnapshot>;
}

export function jobTasks(client: Client, retentionMs: number): JobTasks {
  async function describe(taskId: string, principal: string): Promise<TaskSnapshot | undefined> {
    const description = await ask(() => client.workflow.getHandle(taskId).describe());
    return description && taskOf(description, principal, retentionMs);
  }
  return {
    describe,
    async start(workflowType, request) {
      const taskId = randomUUID();
      await client.workflow.start(workflowType, {
        workflowId: taskId,
        taskQueue: TASK_QUEUE,
        args: [request],
        memo: { [MEMO_KEY]: acceptedJob(request.owner, Date.now()) },
      });
      const task = await describe(taskId, request.owner);
      if (task === undefined) throw new Error('a job that was just started could not be described');
      return task;
    },
    async update(taskId, _principal, responses) {
      const handle = client.workflow.getHandle(taskId);
      await ask(() => handle.executeUpdate(answersUpdate, { args: [responses] }));
      return true;
    },
    async cancel(taskId) {
      await ask(() => client.workflow.getHandle(taskId).cancel());
      return true;
    },
    changes: (taskId, principal, signal) =>
      changes(client, taskId, () => describe(taskId, principal), isTerminal, signal),
  };
}

function taskOf(
  { workflowId, memo, status, startTime, closeTime }: WorkflowExecutionDescription,
  principal: string,
  retentionMs: number,
): TaskSnapshot | undefined {
  const view = memo?.[MEMO_KEY] as JobView | undefined;
  if (view === undefined || view.owner !== principal) return undefined;
  const createdAt = startTime.getTime();
  const closedAt = closeTime?.getTime() ?? null;
  const facts = {
    taskId: workflowId,
    createdAt,
    lastUpdatedAt: closedAt ?? Math.max(createdAt, view.changedAt),
    ttlMs: closedAt === null ? null : closedAt - createdAt + retentionMs,
    pollIntervalMs: POLL_INTERVAL_MS,
    statusMessage: view.error?.message ?? view.doing,
  };
  if (status.name === 'RUNNING')
    return Object.keys(view.asked).length === 0
      ? { ...facts, status: 'working' }
      : { ...facts, status: 'input_required', inputRequests: view.asked };
  if (status.name === 'CANCELLED') return { ...facts, status: 'cancelled', statusMessage: 'cancelled' };
  if (status.name === 'COMPLETED' && view.result !== null)
    return { ...facts, status: 'completed', result: view.result };
  const error = view.error ?? { code: -32603, message: `The job was broken off (${status.name}).` };
  return { ...facts, status: 'failed', error };
}
