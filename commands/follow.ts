/** Waiting for a command: Temporal pushes its history, nothing is polled. */
import type { Client } from '@temporalio/client';
import proto from '@temporalio/proto';
import type { CommandSnapshot } from './commands.ts';
import { ask } from './engine.ts';

const { EventType, HistoryEventFilterType } = proto.temporal.api.enums.v1;

/** Events after which a command's view may be another one. */
const TELLING = new Set([
  EventType.EVENT_TYPE_WORKFLOW_PROPERTIES_MODIFIED,
  EventType.EVENT_TYPE_WORKFLOW_EXECUTION_CANCEL_REQUESTED,
  EventType.EVENT_TYPE_WORKFLOW_EXECUTION_COMPLETED,
  EventType.EVENT_TYPE_WORKFLOW_EXECUTION_CANCELED,
  EventType.EVENT_TYPE_WORKFLOW_EXECUTION_FAILED,
  EventType.EVENT_TYPE_WORKFLOW_EXECUTION_TERMINATED,
  EventType.EVENT_TYPE_WORKFLOW_EXECUTION_TIMED_OUT,
]);

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
  let snapshot = await get();
  if (snapshot === undefined || until(snapshot) || timeoutMs <= 0) return snapshot;
  const timeout = AbortSignal.timeout(timeoutMs);
  const over = signal === undefined ? timeout : AbortSignal.any([timeout, signal]);
  let token: Uint8Array | null = null;
  while (!over.aborted) {
    const page = await nextPage(client, commandId, token, over);
    if (page === null) break;
    token = page.token;
    if (page.tells) {
      snapshot = await get();
      if (snapshot === undefined || until(snapshot)) return snapshot;
    }
    if (token === null) break;
  }
  return await get();
}

interface Page {
  readonly tells: boolean;
  /** null: the command has ended, nothing more will come. */
  readonly token: Uint8Array | null;
}

/** Blocks until there are new events, for as long as the server lets a long poll last. null: aborted, or unknown. */
async function nextPage(
  client: Client,
  commandId: string,
  token: Uint8Array | null,
  signal: AbortSignal,
): Promise<Page | null> {
  try {
    const page = await ask(() =>
      // A signal of its own: the client adds a listener a call, and never takes it off again.
      client.withAbortSignal(AbortSignal.any([signal]), () =>
        client.workflowService.getWorkflowExecutionHistory({
          namespace: client.options.namespace,
          execution: { workflowId: commandId },
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
