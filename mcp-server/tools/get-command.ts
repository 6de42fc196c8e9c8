import type { CallToolResult } from '@modelcontextprotocol/server';
import type { CommandSnapshot, Commands } from '../../commands/commands.ts';
import { InputError } from '../../commands/commands.ts';
import { LONGEST_WAIT_SECONDS } from '../../domain/message.ts';
import { desiredInWords, formatDuration, plain } from '../../domain/text.ts';
import { viewerOf } from '../caller.ts';
import { commandResult, plainResult } from '../command-result.ts';
import type { McpOptions } from '../options.ts';
import { structuredContent } from '../structured-content.ts';
import { hasEnded, waitForCommand } from '../waiting.ts';
import { looseInteger, parseArguments, shortText, type Tool } from './tool.ts';

const RECENT_COMMANDS = 10;

const ARGUMENTS = {
  commandId: shortText(1000).optional(),
  waitSeconds: looseInteger(0, LONGEST_WAIT_SECONDS).optional(),
};

export function getCommand(commands: Commands, options: McpOptions): Tool {
  return {
    name: 'get_command',
    description: 'State, outcome and evidence of a command. Without commandId: your recent ones.',
    inputSchema: {
      type: 'object',
      properties: {
        commandId: { type: 'string' },
        waitSeconds: {
          type: 'integer',
          minimum: 0,
          maximum: LONGEST_WAIT_SECONDS,
          description: 'Wait up to this long for its end',
        },
      },
    },
    annotations: { readOnlyHint: true },
    async call(args, call) {
      const { commandId, waitSeconds = 0 } = parseArguments(ARGUMENTS, args, '');
      if (commandId === undefined)
        return recentCommands(
          await commands.list(viewerOf(call.requester), { limit: RECENT_COMMANDS }),
          options,
        );
      const timeoutMs = waitSeconds * 1000;
      const snapshot =
        timeoutMs === 0
          ? await commands.lately(commandId, viewerOf(call.requester))
          : await waitForCommand(commands, commandId, call, { timeoutMs, enough: hasEnded });
      if (snapshot === undefined) throw noSuchCommand();
      return evidenceOf(snapshot, options);
    },
  };
}

/** One and the same for unknown, somebody else's and no longer kept. */
export function noSuchCommand(): InputError {
  return new InputError(
    'No such command: the commandId is unknown, not yours, or no longer kept. get_command without commandId lists yours.',
  );
}

export function evidenceOf(snapshot: CommandSnapshot, options: McpOptions): CallToolResult {
  const result = commandResult(snapshot, Date.now(), options);
  return snapshot.status === 'failed' ? { ...result, isError: true } : result;
}

function recentCommands(snapshots: readonly CommandSnapshot[], options: McpOptions): CallToolResult {
  const now = Date.now();
  const lines = snapshots.map((snapshot) => lineOf(snapshot, now));
  const message =
    lines.length === 0
      ? 'You have no commands yet.'
      : ['Your latest commands, newest first:', ...lines].join('\n');
  const commands = snapshots.map((snapshot) => {
    const all = structuredContent(snapshot, now, options);
    const { commandId, device, requested, state, done, outcome, createdAt } = all;
    return { commandId, device, requested, state, done, ...(outcome && { outcome }), createdAt };
  });
  return plainResult(message, { commands });
}

function lineOf({ commandId, status, view, createdAt }: CommandSnapshot, now: number): string {
  const state = view.result?.outcome ?? (status === 'running' ? view.phase : status);
  const name = plain(view.deviceName, 64);
  return `- ${commandId}: "${name}" ${desiredInWords(view)}: ${state}, accepted ${formatDuration(now - createdAt)} ago`;
}
