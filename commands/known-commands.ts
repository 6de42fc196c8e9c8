/**
 * Finds earlier commands of the same caller with the same content or requestId. Visibility knows them all but lags by
 * some milliseconds; what this process started itself it remembers, and asks for directly.
 */
import type { Client } from '@temporalio/client';
import { SEARCH_ATTRIBUTE } from '../workflows/messages.ts';
import type { CommandSnapshot } from './commands.ts';
import { demand } from './engine.ts';
import { listedSnapshot } from './snapshot.ts';

export interface KnownCommands {
  /** Newest first; open and closed, at most a handful. */
  byContent(key: string): Promise<readonly CommandSnapshot[]>;
  byRequest(key: string): Promise<CommandSnapshot | undefined>;
  remember(keys: { readonly content: string; readonly request: string | null }, commandId: string): void;
}

/** More than a caller repeats within the time that matters. */
const LOOKED_AT = 5;
const REMEMBERED_LIMIT = 5000;

export function createKnownCommands(
  client: Client,
  get: (commandId: string) => Promise<CommandSnapshot | undefined>,
  retentionMs: () => Promise<number>,
): KnownCommands {
  /** Key → the newest command that this process started for it. */
  const remembered = new Map<string, string>();

  async function search(attribute: string, key: string): Promise<CommandSnapshot[]> {
    const retention = await retentionMs();
    return await demand(async () => {
      const found: CommandSnapshot[] = [];
      for await (const info of client.workflow.list({
        query: `${attribute} = "${key}"`,
        pageSize: LOOKED_AT,
      })) {
        const snapshot = listedSnapshot(info, { kind: 'operator' }, retention);
        if (snapshot !== undefined) found.push(snapshot);
        if (found.length >= LOOKED_AT) break;
      }
      return found;
    });
  }

  /** Asked directly: a list may still show it open, or not at all. */
  async function newest(key: string, listed: readonly CommandSnapshot[]): Promise<CommandSnapshot[]> {
    const ids = new Set([
      remembered.get(key),
      ...listed.filter(({ status }) => status === 'running').map(({ commandId }) => commandId),
    ]);
    const fresh = await Promise.all(
      [...ids].map(async (id) => (id === undefined ? undefined : await get(id))),
    );
    const byId = new Map(
      [...listed, ...fresh.filter((snapshot) => snapshot !== undefined)].map((snapshot) => [
        snapshot.commandId,
        snapshot,
      ]),
    );
    return [...byId.values()].sort((a, b) => b.createdAt - a.createdAt);
  }

  return {
    byContent: async (key) => await newest(key, await search(SEARCH_ATTRIBUTE.content.name, key)),
    byRequest: async (key) => (await newest(key, await search(SEARCH_ATTRIBUTE.request.name, key)))[0],
    remember({ content, request }, commandId) {
      for (const key of [content, request]) {
        if (key === null) continue;
        remembered.delete(key);
        remembered.set(key, commandId);
      }
      for (const oldest of remembered.keys()) {
        if (remembered.size <= REMEMBERED_LIMIT) break;
        remembered.delete(oldest);
      }
    },
  };
}
