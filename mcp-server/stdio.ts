/** MCP over stdin and stdout. Nothing else in the process may write to stdout. */
import { type StdioServerHandle, StdioServerTransport, serveStdio } from '@modelcontextprotocol/server/stdio';
import { listeningTransport } from './listen-stdio.ts';
import { type McpParts, mcpService } from './server.ts';
import { taskSubscriptions } from './task-subscriptions.ts';

/** Serves the one client at the other end until it closes; both protocol eras. */
export function serveMcpOverStdio(parts: McpParts): StdioServerHandle {
  const service = mcpService(parts);
  const transport = listeningTransport(new StdioServerTransport(), taskSubscriptions(service), service);
  return serveStdio(service.serverFor, { transport, onerror: parts.onError });
}
