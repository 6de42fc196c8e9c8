/**
 * `subscriptions/listen` with `taskIds`, whatever the transport: which tasks a listener may follow, and what it is shown
 * of them. Nothing is remembered of a task; each is followed in the store, so that any server can be listened to.
 */
import { setTimeout as sleep } from 'node:timers/promises';
import { ProtocolError, ProtocolErrorCode } from '@modelcontextprotocol/server';
import { protocolErrorOf } from './errors.ts';
import { isJsonObject } from './json-object.ts';
import type { Requester } from './requester.ts';
import type { McpService } from './service.ts';
import { answerable, detailedTask, isTerminal } from './task-snapshot.ts';
import { requireTasks } from './tasks.ts';

/** What `notifications/tasks` carries: the same as the answer to tasks/get at that moment. */
export type ShownTask = ReturnType<typeof detailedTask>;

export interface TaskSubscription {
  /** Those of the asked tasks that exist for this listener, each once: what the acknowledgement names. */
  readonly taskIds: readonly string[];
  /** Shows each task as it is now, and after every change. Resolves when all have ended, or on `close`; never rejects. */
  follow(show: (taskId: string, task: ShownTask) => void): Promise<void>;
  /** Must be called, also where `follow` never was. */
  close(): void;
}

export interface TaskSubscriptions {
  /**
   * Throws a `ProtocolError`: the extension is not declared, `taskIds` is malformed or too long, or this principal
   * follows too many tasks already.
   */
  open(params: unknown, requester: Requester): Promise<TaskSubscription>;
  /** Ends all of them; their listeners are to be told gracefully. */
  close(): void;
}

/** A followed task costs one long poll and, every few seconds, a describe. */
export interface SubscriptionLimits {
  readonly tasksPerStream: number;
  readonly tasksPerPrincipal: number;
}
export const SUBSCRIPTION_LIMITS: SubscriptionLimits = { tasksPerStream: 100, tasksPerPrincipal: 500 };

const FIRST_PAUSE_MS = 500;
const LONGEST_PAUSE_MS = 30_000;

type Store = Pick<McpService, 'tasks' | 'onError'>;

export function taskSubscriptions(
  store: Store,
  limits: SubscriptionLimits = SUBSCRIPTION_LIMITS,
): TaskSubscriptions {
  const open = new Set<TaskSubscription>();
  const budget = budgetOf(limits.tasksPerPrincipal);

  return {
    async open(params, requester) {
      requireTasks(requester);
      const { principal } = requester;
      const asked = taskIdsIn(params, limits.tasksPerStream);
      // Before the first await, so that many at once can't all be let in.
      budget.take(principal, asked.length);
      const taskIds = await thoseThatExist(store, asked, principal).catch((error: unknown) => {
        budget.giveBack(principal, asked.length);
        throw error;
      });
      budget.giveBack(principal, asked.length - taskIds.length);
      const left = new AbortController();
      const subscription: TaskSubscription = {
        taskIds,
        async follow(show) {
          const each = (taskId: string) =>
            followTask(store, taskId, requester, left.signal, (task) => show(taskId, task));
          await Promise.all(taskIds.map(each));
          subscription.close();
        },
        close() {
          if (!open.delete(subscription)) return;
          budget.giveBack(principal, taskIds.length);
          left.abort();
        },
      };
      open.add(subscription);
      return subscription;
    },
    close() {
      for (const subscription of open) subscription.close();
    },
  };
}

/** How many tasks are followed for each principal. `take` throws where that would be more than `most`. */
function budgetOf(most: number) {
  const followed = new Map<string, number>();
  return {
    take(principal: string, count: number): void {
      const now = (followed.get(principal) ?? 0) + count;
      if (now > most)
        throw new ProtocolError(
          ProtocolErrorCode.InternalError,
          `Too many tasks are followed for you already; at most ${most}. Close a subscription, or ask by tasks/get.`,
        );
      followed.set(principal, now);
    },
    giveBack(principal: string, count: number): void {
      const now = (followed.get(principal) ?? 0) - count;
      if (now > 0) followed.set(principal, now);
      else followed.delete(principal);
    },
  };
}

async function thoseThatExist(
  { tasks, onError }: Store,
  asked: readonly string[],
  principal: string,
): Promise<string[]> {
  try {
    const found = await Promise.all(asked.map((taskId) => tasks.describe(taskId, principal)));
    return asked.filter((_, index) => found[index] !== undefined);
  } catch (error) {
    throw protocolErrorOf(error, onError);
  }
}

/** Goes on when the store can't be reached for a while: what changed meanwhile is shown afterwards. */
async function followTask(
  { tasks, onError }: Store,
  taskId: string,
  requester: Requester,
  signal: AbortSignal,
  show: (task: ShownTask) => void,
): Promise<void> {
  let shown = '';
  for (let pauseMs = FIRST_PAUSE_MS; !signal.aborted; pauseMs = Math.min(2 * pauseMs, LONGEST_PAUSE_MS)) {
    try {
      for await (const snapshot of tasks.changes(taskId, requester.principal, signal)) {
        if (signal.aborted) return;
        const task = detailedTask(snapshot, requester);
        const text = JSON.stringify(task);
        if (text !== shown) {
          tasks.shown?.(taskId, Object.keys(answerable(snapshot, requester)));
          show(task);
        }
        shown = text;
        if (isTerminal(snapshot)) return;
        pauseMs = FIRST_PAUSE_MS;
      }
      return;
    } catch (error) {
      if (signal.aborted) return;
      protocolErrorOf(error, onError);
      await sleep(pauseMs, undefined, { signal }).catch(() => undefined);
    }
  }
}

/** Whether a `subscriptions/listen` wants to hear of tasks at all. */
export function asksForTasks(params: unknown): boolean {
  const notifications = isJsonObject(params) ? params['notifications'] : undefined;
  return isJsonObject(notifications) && notifications['taskIds'] !== undefined;
}

function taskIdsIn(params: unknown, most: number): readonly string[] {
  const notifications = isJsonObject(params) ? params['notifications'] : undefined;
  const taskIds = isJsonObject(notifications) ? notifications['taskIds'] : undefined;
  const isList = Array.isArray(taskIds) && taskIds.every((taskId) => typeof taskId === 'string');
  if (!isList || taskIds.length > most)
    throw new ProtocolError(
      ProtocolErrorCode.InvalidParams,
      `notifications.taskIds must be a list of at most ${most} ids of tasks.`,
    );
  return [...new Set(taskIds)];
}
