/** Waiting for a workflow, and following it: Temporal pushes its history to whichever process asks, nothing is remembered. */
import { setTimeout as sleep } from 'node:timers/promises';
import type { Client } from '@temporalio/client';
import proto from '@temporalio/proto';
import type { CommandSnapshot } from './commands.ts';
import { ask } from './engine.ts';

const { EventType, HistoryEventFilterType } = proto.temporal.api.enums.v1;

/** Events after which a workflow's memo may be another one. */
const TELLING = new Set([
  EventType.EVENT_TYPE_WORKFLOW_PROPERTIES_MODIFIED,
  EventType.EVENT_TYPE_WORKFLOW_EXECUTION_CANCEL_REQUESTED,
  EventType.EVENT_TYPE_WORKFLOW_EXECUTION_COMPLETED,
  EventType.EVENT_TYPE_WORKFLOW_EXECUTION_CANCELED,
  EventType.EVENT_TYPE_WORKFLOW_EXECUTION_FAILED,
  EventType.EVENT_TYPE_WORKFLOW_EXECUTION_TERMINATED,
  EventType.EVENT_TYPE_WORKFLOW_EXECUTION_TIMED_OUT,
]);

/**
 * The latest reading, a send under way and the absence of workers leave no event in the history, so whoever follows a
 * command is shown them this often.
 */
const LOOK_AGAIN_MS = 3000;

interface FollowOptions {
  readonly timeoutMs: number;
  readonly signal?: AbortSignal | undefined;
  readonly until: (snapshot: CommandSnapshot) => boolean;
}

/** The first snapshot that satisfies `until`, else the last one when the time is over or the signal aborts. */
export async function follow(
  client: Client,
  commandId: string,
  get: () => Promise<CommandSnapshot | undefined>,
  { timeoutMs, signal, until }: FollowOptions,
): Promise<CommandSnapshot | undefined> {
  const snapshot = await get();
  if (snapshot === undefined || until(snapshot) || timeoutMs <= 0) return snapshot;
  const timeout = AbortSignal.timeout(timeoutMs);
  const over = signal === undefined ? timeout : AbortSignal.any([timeout, signal]);
  for await (const _ of news(client, commandId, over)) {
    const next = await get();
    if (next === undefined || until(next)) return next;
  }
  return await get();
}

/**
 * What `get` shows of a workflow now and after everything that may have changed it; the same may come twice. Ends after
 * a snapshot that `hasEnded`, when `get` no longer finds it, or when the signal aborts. Throws `EngineUnreachable`.
 */
export async function* changes<T>(
  client: Client,
  workflowId: string,
  get: () => Promise<T | undefined>,
  hasEnded: (snapshot: T) => boolean,
  signal: AbortSignal,
): AsyncGenerator<T, void> {
  let snapshot = await get();
  if (snapshot === undefined) return;
  yield snapshot;
  if (hasEnded(snapshot)) return;
  for await (const _ of news(client, workflowId, signal, LOOK_AGAIN_MS)) {
    snapshot = await get();
    if (snapshot === undefined) return;
    yield snapshot;
    if (hasEnded(snapshot)) return;
  }
}

/** Yields when there may be something new, and at least every `atLeastEveryMs`; ends with the workflow or the signal. */
async function* news(
  client: Client,
  workflowId: string,
  signal: AbortSignal,
  atLeastEveryMs = Number.POSITIVE_INFINITY,
): AsyncGenerator<void, void> {
  const left = new AbortController();
  const over = AbortSignal.any([signal, left.signal]);
  let token: Uint8Array | null = null;
  try {
    do {
      const page = nextPage(client, workflowId, token, over);
      while (!(await settlesWithin(page, atLeastEveryMs, over))) yield;
      const arrived: Page | null = await page;
      if (arrived === null) return;
      if (arrived.tells) yield;
      token = arrived.token;
    } while (token !== null && !over.aborted);
  } finally {
    left.abort();
  }
}

/** False: not within the time. What it settles to, an error included, is for whoever awaits it. */
async function settlesWithin(
  promise: Promise<unknown>,
  timeoutMs: number,
  signal: AbortSignal,
): Promise<boolean> {
  const settled = promise.then(
    () => true,
    () => true,
  );
  if (!Number.isFinite(timeoutMs)) return await settled;
  const enough = new AbortController();
  const lapse = sleep(timeoutMs, false, { signal: AbortSignal.any([signal, enough.signal]) });
  const result = await Promise.race([settled, lapse.catch(() => true)]);
  enough.abort();
  return result;
}

interface Page {
  readonly tells: boolean;
  /** null: the workflow has ended, nothing more will come. */
  readonly token: Uint8Array | null;
}

/** Blocks until there are new events, for as long as the server lets a long poll last. null: aborted, or unknown. */
async function nextPage(
  client: Client,
  workflowId: string,
  token: Uint8Array | null,
  signal: AbortSignal,
): Promise<Page | null> {
  try {
    const page = await ask(() =>
      // A signal of its own: the client adds a listener a call, and never takes it off again.
      client.withAbortSignal(AbortSignal.any([signal]), () =>
        client.workflowService.getWorkflowExecutionHistory({
          namespace: client.options.namespace,
          execution: { workflowId },
          waitNewEvent: true,
          historyEventFilterType: HistoryEventFilterType.HISTORY_EVENT_FILTER_TYPE_ALL_EVENT,
          ...(token === null ? {} : { nextPageToken: token }),
        }),
      ),
    );
    if (page === undefined) return null;
    const tells = (page.history?.events ?? []).some(
      (event) => event.eventType != null && TELLING.has(event.eventType),
    );
    const next = page.nextPageToken;
    return { tells, token: next != null && next.length > 0 ? next : null };
  } catch (error) {
    if (signal.aborted) return null;
    throw error;
  }
}
