/**
 * The Tasks extension (`io.modelcontextprotocol/tasks`, 2026-07-28): tasks/get, tasks/update, tasks/cancel over any
 * store of tasks. It knows no devices and no Temporal; whatever can describe itself as a task can be served.
 */

import type { McpServer, ServerContext } from '@modelcontextprotocol/server';
import {
  MissingRequiredClientCapabilityError,
  ProtocolError,
  ProtocolErrorCode,
} from '@modelcontextprotocol/server';
import { z } from 'zod';
import { protocolErrorOf } from './errors.ts';
import { isJsonObject } from './json-object.ts';
import { type Requester, TASKS_EXTENSION } from './requester.ts';
import {
  answerable,
  detailedTask,
  type InputRequests,
  isTerminal,
  type TaskSnapshot,
} from './task-snapshot.ts';
import { tracedMethod } from './traced-method.ts';

/** Where tasks live. `principal` is the owner; to anybody else a task doesn't exist. Rejects only when it can't be reached. */
export interface TaskStore {
  describe(taskId: string, principal: string): Promise<TaskSnapshot | undefined>;
  /** As `describe`, for those who poll, where there is a cheaper way: never older than what was shown or done here since. */
  lately?(taskId: string, principal: string): Promise<TaskSnapshot | undefined>;
  /**
   * Only keys that are outstanding arrive here, with the client's responses as they came, and with what this client was
   * asked by them.
   */
  update(
    taskId: string,
    principal: string,
    responses: Readonly<Record<string, unknown>>,
    asked: InputRequests,
  ): Promise<boolean>;
  cancel(taskId: string, principal: string): Promise<boolean>;
  /** The client is being shown these input requests, for stores that care how soon they are answered. */
  shown?(taskId: string, keys: readonly string[]): void;
  /**
   * The task now and after every change; the same may come twice. Ends with the task, or when the signal aborts; at once
   * where it doesn't exist. Rejects only when it can't be reached.
   */
  changes(taskId: string, principal: string, signal: AbortSignal): AsyncIterable<TaskSnapshot>;
}

export interface TasksParts {
  readonly store: TaskStore;
  readonly requesterOf: (ctx: ServerContext) => Requester;
  readonly onError: (error: Error) => void;
}

/** No engine names its workflows longer than this; a longer id is unknown without asking. */
const LONGEST_TASK_ID = 1000;
const ANY_PARAMS = { params: z.looseObject({}) };

/** Installs the three methods. The params are checked by hand: a missing capability must be told before wrong params. */
export function serveTasks(server: McpServer, parts: TasksParts): void {
  const { store } = parts;
  const serve = (
    method: string,
    handle: (taskId: string, requester: Requester, ctx: ServerContext) => Promise<object>,
  ): void =>
    server.server.setRequestHandler(
      method,
      ANY_PARAMS,
      async (params, ctx) =>
        await tracedMethod(ctx, method, null, async () => {
          const requester = parts.requesterOf(ctx);
          requireTasks(requester);
          try {
            return { ...(await handle(taskIdIn(params), requester, ctx)) };
          } catch (error) {
            throw protocolErrorOf(error, parts.onError);
          }
        }),
    );

  serve('tasks/get', async (taskId, requester) => {
    const snapshot = await (store.lately ?? store.describe)(taskId, requester.principal);
    if (snapshot === undefined) throw taskNotFound();
    store.shown?.(taskId, Object.keys(answerable(snapshot, requester)));
    return detailedTask(snapshot, requester);
  });

  serve('tasks/update', async (taskId, requester, ctx) => {
    const responses = inputResponsesIn(ctx);
    const snapshot = await store.describe(taskId, requester.principal);
    if (snapshot === undefined) throw taskNotFound();
    const asked = answerable(snapshot, requester);
    const outstanding = outstandingAnswers(asked, responses);
    if (Object.keys(outstanding).length === 0) return {};
    if (!(await store.update(taskId, requester.principal, outstanding, asked))) throw taskNotFound();
    return {};
  });

  serve('tasks/cancel', async (taskId, requester) => {
    const snapshot = await store.describe(taskId, requester.principal);
    if (snapshot === undefined) throw taskNotFound();
    if (isTerminal(snapshot)) return {};
    if (!(await store.cancel(taskId, requester.principal))) throw taskNotFound();
    return {};
  });
}

/** Throws -32021 unless this request declares the extension. */
export function requireTasks(requester: Requester): void {
  if (requester.tasks) return;
  throw new MissingRequiredClientCapabilityError({
    requiredCapabilities: { extensions: { [TASKS_EXTENSION]: {} } },
  });
}

/** One and the same answer for an unknown task, somebody else's, another workflow's ID, and one past its retention. */
export function taskNotFound(): ProtocolError {
  return new ProtocolError(
    ProtocolErrorCode.InvalidParams,
    'No such task: the id is unknown, not yours, or no longer kept.',
  );
}

function taskIdIn(params: Readonly<Record<string, unknown>>): string {
  const taskId = params['taskId'];
  if (typeof taskId !== 'string')
    throw new ProtocolError(
      ProtocolErrorCode.InvalidParams,
      'taskId must be a string: the one that the task was created with.',
    );
  if (taskId.length === 0 || taskId.length > LONGEST_TASK_ID) throw taskNotFound();
  return taskId;
}

function inputResponsesIn(ctx: ServerContext): Readonly<Record<string, unknown>> {
  const responses: unknown = ctx.mcpReq.inputResponses;
  if (!isJsonObject(responses))
    throw new ProtocolError(
      ProtocolErrorCode.InvalidParams,
      'inputResponses must be an object: the key of each input request with its response.',
    );
  return responses;
}

/** Keys never issued, answered already or past their time are ignored; an unattended client answers nothing. */
function outstandingAnswers(
  asked: InputRequests,
  responses: Readonly<Record<string, unknown>>,
): Readonly<Record<string, unknown>> {
  return Object.fromEntries(Object.entries(responses).filter(([key]) => Object.hasOwn(asked, key)));
}
