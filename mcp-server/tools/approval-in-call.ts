/** An approval by the requester that the call itself asks for, and the answer to it. */
import type { CallToolResult } from '@modelcontextprotocol/server';
import type { CommandSnapshot, Commands } from '../../commands/commands.ts';
import { openQuestion } from '../approval-request.ts';
import type { Asking, Reply } from '../asking.ts';
import { viewerOf } from '../caller.ts';
import { commandResult } from '../command-result.ts';
import type { McpOptions } from '../options.ts';
import { invalidRequestState } from '../request-state.ts';
import type { Call } from '../waiting.ts';

/** The state of the question. The command's workflow lets it be used once: there its key is open, or it isn't. */
export interface ApprovalState {
  readonly for: 'approval';
  readonly commandId: string;
  /** Of the approval's question. */
  readonly key: string;
  /** When the client was given the question, epoch ms. */
  readonly askedAt: number;
}

/** null: there is nothing to ask this client's user. */
export function askForApproval(snapshot: CommandSnapshot): Asking | null {
  const open = openQuestion(snapshot);
  if (open === null) return null;
  const { key, expiresAt } = open.approval;
  const { commandId } = snapshot;
  const state: ApprovalState = { for: 'approval', commandId, key, askedAt: Date.now() };
  return { kind: 'asking', question: { key, request: open.request }, state, expiresAt };
}

/**
 * Takes the answer to the command's workflow. `goesOn`: the command is decided, wait for it as for any other. Else what
 * there is to say: it is still open in the queue. Throws `invalidRequestState` for an answer that comes too late.
 */
export async function takeAnswer(
  { commandId, key, askedAt }: ApprovalState,
  { via, answer }: Reply,
  { commands, options }: { readonly commands: Commands; readonly options: McpOptions },
  { requester }: Call,
): Promise<'goesOn' | CallToolResult> {
  const viewer = viewerOf(requester);
  const resultNow = async (remark = ''): Promise<CallToolResult> => {
    const snapshot = await commands.get(commandId, viewer);
    if (snapshot === undefined) throw invalidRequestState();
    return commandResult(snapshot, Date.now(), options, remark);
  };
  if (answer === null) return await resultNow();
  switch (await commands.answer(commandId, viewer, { [key]: answer.response }, { via, askedAt })) {
    case 'decided':
      return 'goesOn';
    case 'leftOpen':
      return await resultNow();
    case 'queued':
      return await resultNow('The answer is recorded, and counts as soon as a worker runs. ');
    case 'notOpen': {
      const snapshot = await commands.get(commandId, viewer);
      if (snapshot !== undefined && (via === 'form' || wasDecidedElsewhere(snapshot))) return 'goesOn';
      throw invalidRequestState();
    }
    case 'unknown':
      throw invalidRequestState();
  }
}

/** Somebody in the queue was faster: whoever answers too late is told what was decided and by whom. */
function wasDecidedElsewhere({ view: { decidedBy } }: CommandSnapshot): boolean {
  return decidedBy !== null && decidedBy.via !== 'mrtr';
}
