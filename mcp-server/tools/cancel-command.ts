import type { CallToolResult } from '@modelcontextprotocol/server';
import type { Commands } from '../../commands/commands.ts';
import { viewerOf } from '../caller.ts';
import { commandResult } from '../command-result.ts';
import type { McpOptions } from '../options.ts';
import { hasEnded, waitForCommand } from '../waiting.ts';
import { noSuchCommand } from './get-command.ts';
import { parseArguments, shortText, type Tool } from './tool.ts';

/** A cancel ends a command in well under a second, unless a send is in flight that has to be let finish. */
const WAIT_FOR_END_MS = 3_000;
const ARGUMENTS = { commandId: shortText(1000) };

export function cancelCommand(commands: Commands, options: McpOptions): Tool {
  return {
    name: 'cancel_command',
    description: 'Stops a command. What was sent is not undone; the result says what that was.',
    inputSchema: { type: 'object', properties: { commandId: { type: 'string' } }, required: ['commandId'] },
    annotations: { destructiveHint: true },
    async call(args, call) {
      const { commandId } = parseArguments(ARGUMENTS, args, '');
      const before = await commands.get(commandId, viewerOf(call.requester));
      if (before === undefined) throw noSuchCommand();
      if (hasEnded(before))
        return succeeded(
          commandResult(before, Date.now(), options, 'It had ended already; nothing was cancelled. '),
        );
      if (!(await commands.cancel(commandId, viewerOf(call.requester)))) throw noSuchCommand();
      const after = await waitForCommand(commands, commandId, call, {
        timeoutMs: WAIT_FOR_END_MS,
        enough: hasEnded,
      });
      if (after === undefined) throw noSuchCommand();
      const remark = hasEnded(after) ? '' : 'Cancel requested; it ends once a send in flight is over. ';
      return succeeded(commandResult(after, Date.now(), options, remark));
    },
  };
}

/** The cancel itself worked, however the command ended. */
const succeeded = (result: CallToolResult): CallToolResult => ({ ...result, isError: false });
