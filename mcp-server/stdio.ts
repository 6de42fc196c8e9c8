/** MCP over stdin and stdout. Nothing else in the process may write to stdout. */
import type { McpServer } from '@modelcontextprotocol/server';
import { type StdioServerHandle, StdioServerTransport, serveStdio } from '@modelcontextprotocol/server/stdio';
import { tellResourcesChanged, whenListChanges } from './list-changes.ts';
import { listeningTransport } from './listen-stdio.ts';
import { type McpParts, mcpService } from './server.ts';
import type { McpServerForEra, McpService } from './service.ts';
import { taskSubscriptions } from './task-subscriptions.ts';

export interface StdioServer extends StdioServerHandle {
  /** As of `ReadbackApp`. */
  catalogueChanged(): void;
}

/** Serves the one client at the other end until it closes; both protocol eras. */
export function serveMcpOverStdio(parts: McpParts): StdioServer {
  const service = mcpService(parts);
  // The first one may only answer the probe for the protocol version, and is left for the next.
  const servers: McpServer[] = [];
  const serverFor: McpServerForEra = (ctx) => {
    const server = service.serverFor(ctx);
    servers.push(server);
    return server;
  };
  const handle = serveOverStdio({ ...service, serverFor });
  return {
    close: () => handle.close(),
    catalogueChanged: whenListChanges(service.resources, () => {
      for (const server of servers) tellResourcesChanged(server, parts.onError);
    }),
  };
}

/** Any service's, whatever its tasks are. */
export function serveOverStdio(service: McpService): StdioServerHandle {
  const transport = listeningTransport(new StdioServerTransport(), taskSubscriptions(service), service);
  return serveStdio(service.serverFor, { transport, onerror: service.onError });
}
