/** One page of Temporal's visibility, as commands. */
import type { Client } from '@temporalio/client';
import { executionInfoFromRaw } from '@temporalio/client/lib/helpers.js';
import type { CommandSnapshot, Viewer } from './commands.ts';
import { EngineUnreachable, InputError } from './commands.ts';
import { demand } from './engine.ts';
import { listedSnapshot } from './snapshot.ts';

export interface PageRequest {
  readonly query: string;
  readonly limit: number;
  /** As a page gave it; absent: the first page. */
  readonly cursor?: string | undefined;
}

export interface CommandPage {
  readonly items: CommandSnapshot[];
  readonly cursor: string | null;
}

/** Newest first. Throws `InputError` for a cursor that isn't one. */
export async function listPage(
  client: Client,
  { query, limit, cursor }: PageRequest,
  viewer: Viewer,
  retentionMs: number,
): Promise<CommandPage> {
  const token = cursor === undefined ? null : Buffer.from(cursor, 'base64url');
  if (token !== null && token.length === 0)
    throw new InputError('This cursor is not one that a page gave out; start with the first page.');
  const page = await pageOrCursorError(token, () =>
    client.workflowService.listWorkflowExecutions({
      namespace: client.options.namespace,
      query,
      pageSize: limit,
      ...(token === null ? {} : { nextPageToken: token }),
    }),
  );
  const items: CommandSnapshot[] = [];
  for (const execution of page.executions ?? []) {
    const info = await executionInfoFromRaw(
      execution,
      client.options.loadedDataConverter,
      execution,
      client.options.namespace,
    );
    const snapshot = listedSnapshot(info, viewer, retentionMs);
    if (snapshot !== undefined) items.push(snapshot);
  }
  const next = page.nextPageToken;
  return {
    items,
    cursor: next == null || next.length === 0 ? null : Buffer.from(next).toString('base64url'),
  };
}

/** Temporal says in many ways that a token is none of its own; whatever isn't its absence is that. */
async function pageOrCursorError<T>(token: Buffer | null, call: () => Promise<T>): Promise<T> {
  try {
    return await demand(call);
  } catch (error) {
    if (token === null || (error instanceof EngineUnreachable && error.cause !== undefined)) throw error;
    throw new InputError('This cursor is not one that a page gave out; start with the first page.');
  }
}
