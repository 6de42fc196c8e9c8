/** A tool of the fixtures. */
import type { CallToolResult } from '@modelcontextprotocol/server';
import type { ServedTool } from '../../mcp-server/tool-calls.ts';

export function tool(
  name: string,
  description: string,
  call: ServedTool['call'],
  inputSchema: object = { type: 'object' },
): ServedTool {
  return { name, description, inputSchema, call };
}

export const text = (words: string): CallToolResult => ({ content: [{ type: 'text', text: words }] });
