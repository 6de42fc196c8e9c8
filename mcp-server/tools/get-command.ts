import type { CallToolResult } from '@modelcontextprotocol/server';
import type { CommandSnapshot, Commands } from '../../commands/commands.ts';
import { InputError } from '../../commands/commands.ts';
import { formatDuration, formatValue, plain } from '../../domain/text.ts';
import { commandResult, plainResult } from '../command-result.ts';
import { LONGEST_WAIT_MS } from '../options.ts';
import { viewerOf } from '../requester.ts';
import { structuredContent } from '../structured-content.ts';
import { hasEnded, waitForCommand } from '../waiting.ts';
import { looseInteger, parseArguments, shortText, type Tool } from './tool.ts';

const RECENT_COMMANDS = 10;
const LONGEST_WAIT_SECONDS = LONGEST_WAIT_MS / 1000;

const ARGUMENTS = {
  commandId: shortText(1000).optional(),
  waitSeconds: looseInteger(0, LONGEST_WAIT_SECONDS).optional(),
};

export function getCommand(commands: Commands): Tool {
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
        return recentCommands(await commands.list(viewerOf(call.requester), { limit: RECENT_COMMANDS }));
      const timeoutMs = waitSeconds * 1000;
      const snapshot = await waitForCommand(commands, commandId, call, { timeoutMs, enough: hasEnded });
      if (snapshot === undefined) throw noSuchCommand();
      return evidenceOf(snapshot);
    },
  };
}

/** One and the same for unknown, somebody else's and no longer kept. */
export function noSuchCommand(): InputError {
  return new InputError(
    'No such command: the commandId is unknown, not yours, or no longer kept. get_command without commandId lists yours.',
  );
}

export function evidenceOf(snapshot: CommandSnapshot): CallToolResult {
  const result = commandResult(snapshot, Date.now());
  return snapshot.status === 'failed' ? { ...result, isError: true } : result;
}

function recentCommands(snapshots: readonly CommandSnapshot[]): CallToolResult {
  const now = Date.now();
  const lines = snapshots.map((snapshot) => {
    const asked = Object.entries(snapshot.view.desired).map(
      ([field, value]) => `${field} ${formatValue(value, null)}`,
    );
    const state =
      snapshot.view.result?.outcome ??
      (snapshot.status === 'running' ? snapshot.view.phase : snapshot.status);
    return `- ${snapshot.commandId}: "${plain(snapshot.view.deviceName, 64)}" ${asked.join(', ')}: ${state}, ${formatDuration(now - snapshot.createdAt)} ago`;
  });
  const message =
    lines.length === 0
      ? 'You have no commands yet.'
      : ['Your latest commands, newest first:', ...lines].join('\n');
  return plainResult(message, {
    commands: snapshots.map((snapshot) => {
      const { commandId, device, requested, state, done, outcome, createdAt } = structuredContent(
        snapshot,
        now,
      );
      return {
        commandId,
        device,
        requested,
        state,
        done,
        ...(outcome !== undefined && { outcome }),
        createdAt,
      };
    }),
  });
}
