/** Telling clients that the list of resources has changed. The list of tools never does. */
import type { McpServer } from '@modelcontextprotocol/server';
import type { ResourceStore } from './resources.ts';

/** To be called after every change of the catalogue; calls `tell` where the list is another one than the last time. */
export function whenListChanges({ listed }: Pick<ResourceStore, 'listed'>, tell: () => void): () => void {
  let last = listed();
  return () => {
    const now = listed();
    if (now !== last) tell();
    last = now;
  };
}

/** On a connection that lasts. In the modern era, the SDK passes it on to subscriptions that asked for it. */
export function tellResourcesChanged({ server }: McpServer, onError: (error: Error) => void): void {
  if (server.transport === undefined) return;
  server.sendResourceListChanged().catch(onError);
}
