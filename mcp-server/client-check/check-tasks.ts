/** The check's own tasks, in memory: what a client does with one that it is given. */

import { randomUUID } from 'node:crypto';
import { setTimeout as sleep } from 'node:timers/promises';
import type { CallToolResult } from '@modelcontextprotocol/server';
import type { ElicitationRequest } from '../asking.ts';
import type { TaskSnapshot } from '../task-snapshot.ts';
import type { TaskStore } from '../tasks.ts';
import { answeredBy } from './questions.ts';
import type { Seen } from './seen.ts';

export interface CheckTasks extends TaskStore {
  /** One that asks its form, or, without one, takes some seconds; then it has `result`. */
  start(seen: Seen, form: ElicitationRequest | null, result: CallToolResult): TaskSnapshot;
}

const TAKES_MS = 3_000;
const POLL_MS = 500;
const KEPT_MS = 3_600_000;
const KEY = 'seen';

interface Task {
  readonly seen: Seen;
  readonly createdAt: number;
  readonly form: ElicitationRequest | null;
  readonly result: CallToolResult;
  /** When the client was first told of the form. */
  shownAt: number | null;
  endedAt: number | null;
  cancelled: boolean;
}

export function checkTasks(changed: () => void): CheckTasks {
  const tasks = new Map<string, Task>();

  function snapshot(taskId: string): TaskSnapshot | undefined {
    const task = tasks.get(taskId);
    if (task === undefined) return undefined;
    if (task.form === null && Date.now() - task.createdAt >= TAKES_MS) task.endedAt ??= Date.now();
    const { createdAt, endedAt, form, result, cancelled } = task;
    const facts = {
      taskId,
      createdAt,
      lastUpdatedAt: endedAt ?? createdAt,
      ttlMs: KEPT_MS,
      pollIntervalMs: POLL_MS,
    };
    if (cancelled) return { ...facts, status: 'cancelled' };
    if (endedAt !== null) return { ...facts, status: 'completed', result };
    return form === null
      ? { ...facts, status: 'working' }
      : { ...facts, status: 'input_required', inputRequests: { [KEY]: form } };
  }
  function note(taskId: string, what: Partial<NonNullable<Seen['task']>> & { polled?: true }): void {
    const task = tasks.get(taskId);
    if (task === undefined) return;
    const { polled, ...more } = what;
    const before = task.seen.task ?? { polls: 0, listened: false, resultFetched: false };
    task.seen.task = { ...before, ...more, polls: before.polls + (polled === true ? 1 : 0) };
    changed();
  }
  const isOver = (task: TaskSnapshot | undefined): boolean =>
    task?.status === 'completed' || task?.status === 'cancelled';

  return {
    start(seen, form, result) {
      const taskId = randomUUID();
      const task = {
        seen,
        createdAt: Date.now(),
        form,
        result,
        shownAt: null,
        endedAt: null,
        cancelled: false,
      };
      tasks.set(taskId, task);
      note(taskId, {});
      return snapshot(taskId) as TaskSnapshot;
    },
    describe: async (taskId) => snapshot(taskId),
    shown(taskId, keys) {
      const task = tasks.get(taskId);
      if (task !== undefined && keys.length > 0) task.shownAt ??= Date.now();
      note(taskId, { polled: true, ...(isOver(snapshot(taskId)) && { resultFetched: true }) });
    },
    async update(taskId, _principal, responses) {
      const task = tasks.get(taskId);
      if (task === undefined) return false;
      task.seen.form = answeredBy(responses[KEY], Date.now() - (task.shownAt ?? task.createdAt), 'form');
      task.endedAt ??= Date.now();
      return true;
    },
    async cancel(taskId) {
      const task = tasks.get(taskId);
      if (task === undefined) return false;
      task.cancelled = task.endedAt === null;
      return true;
    },
    async *changes(taskId, _principal, signal) {
      note(taskId, { listened: true });
      for (;;) {
        const now = snapshot(taskId);
        if (now === undefined || signal.aborted) return;
        yield now;
        if (isOver(now)) return note(taskId, { resultFetched: true });
        await sleep(POLL_MS);
      }
    },
  };
}
