/** How a command's state becomes the result of a tool call. */
import type { CallToolResult } from '@modelcontextprotocol/server';
import type { CommandSnapshot } from '../commands/commands.ts';
import type { Outcome } from '../domain/outcome.ts';
import { structuredContent } from './structured-content.ts';

/** The result of a command as it stands; also of one that hasn't ended. `remark` goes before its own message. */
export function commandResult(snapshot: CommandSnapshot, now: number, remark = ''): CallToolResult {
  const structured = structuredContent(snapshot, now, remark);
  return {
    content: [{ type: 'text', text: structured.message }],
    structuredContent: { ...structured },
    ...(structured.outcome !== undefined && isBad(structured.outcome) && { isError: true }),
  };
}

/** The one place that says which outcomes an agent is shown as errors. */
export function isBad(outcome: Outcome): boolean {
  switch (outcome) {
    case 'verified':
    case 'already':
    case 'unverifiable':
      return false;
    case 'unchanged':
    case 'different':
    case 'unsettled':
    case 'unreadable':
    case 'superseded':
    case 'refused':
    case 'unknown':
    case 'partial':
    case 'declined':
    case 'expired':
    case 'undelivered':
    case 'cancelled':
      return true;
    default:
      return outcome satisfies never;
  }
}

/** Any other tool's result: `message` first, and the same text as content, for hosts that pass on only one of them. */
export function plainResult(message: string, more: Readonly<Record<string, unknown>> = {}): CallToolResult {
  return { content: [{ type: 'text', text: message }], structuredContent: { message, ...more } };
}

/** What was asked can't be done as it stands; nothing was started. The agent can mend it, so it isn't a protocol error. */
export function inputErrorResult(message: string): CallToolResult {
  return { ...plainResult(message, { state: 'ended', done: true }), isError: true };
}
