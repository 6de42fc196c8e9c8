/** MCP over stdin and stdout. Nothing else in the process may write to stdout. */
import { type StdioServerHandle, serveStdio } from '@modelcontextprotocol/server/stdio';
import { type McpParts, mcpService } from './server.ts';

/** Serves the one client at the other end until it closes; both protocol eras. */
export function serveMcpOverStdio(parts: McpParts): StdioServerHandle {
  return serveStdio(mcpService(parts).serverFor, { onerror: parts.onError });
}
