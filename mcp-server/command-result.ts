/** How a command's state becomes the result of a tool call. */
import type { CallToolResult } from '@modelcontextprotocol/server';
import type { CommandSnapshot } from '../commands/commands.ts';
import { endedWell } from '../domain/outcome.ts';
import type { McpOptions } from './options.ts';
import { structuredContent } from './structured-content.ts';

/** The result of a command as it stands; also of one that hasn't ended. `remark` goes before its own message. */
export function commandResult(
  snapshot: CommandSnapshot,
  now: number,
  options: McpOptions,
  remark = '',
): CallToolResult {
  const structured = structuredContent(snapshot, now, options, remark);
  return {
    content: [{ type: 'text', text: structured.message }],
    structuredContent: { ...structured },
    ...(structured.outcome !== undefined && !endedWell(structured.outcome) && { isError: true }),
  };
}

/** Any other tool's result: `message` first, and the same text as content, for hosts that pass on only one of them. */
export function plainResult(message: string, more: Readonly<Record<string, unknown>> = {}): CallToolResult {
  return { content: [{ type: 'text', text: message }], structuredContent: { message, ...more } };
}

/** What was asked can't be done as it stands; nothing was started. The agent can mend it, so it isn't a protocol error. */
export function inputErrorResult(message: string): CallToolResult {
  return { ...plainResult(message), isError: true };
}
