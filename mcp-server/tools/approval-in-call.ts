/** An approval by the requester that the call itself asks for, and the answer to it. */
import type { CallToolResult } from '@modelcontextprotocol/server';
import type { CommandSnapshot, Commands } from '../../commands/commands.ts';
import { askedOf, canAskInCall, openQuestion } from '../approval-request.ts';
import { type Asking, isPage, type Reply } from '../asking.ts';
import { viewerOf } from '../caller.ts';
import { commandResult } from '../command-result.ts';
import type { McpOptions } from '../options.ts';
import { invalidRequestState } from '../request-state.ts';
import type { Call } from '../waiting.ts';

/** The state of the question. It decides once: in the command's workflow its key is open, or it isn't. */
export interface ApprovalState {
  readonly for: 'approval';
  readonly commandId: string;
  /** Of the approval's question. */
  readonly key: string;
  /** When the client was given the question, epoch ms. */
  readonly askedAt: number;
  /** The client was asked to open the page on which to decide. */
  readonly page: boolean;
}

/** null: there is nothing to ask this client's user. */
export function askForApproval(
  snapshot: CommandSnapshot,
  { requester }: Call,
  options: McpOptions,
): Asking | null {
  const open = openQuestion(snapshot, options);
  if (open === null || !canAskInCall(requester, options)) return null;
  const request = askedOf(open, requester);
  if (request === null) return null;
  const { key, expiresAt } = open.approval;
  const { commandId } = snapshot;
  const state: ApprovalState = {
    for: 'approval',
    commandId,
    key,
    askedAt: Date.now(),
    page: isPage(request),
  };
  return { kind: 'asking', question: { key, request }, state, expiresAt };
}

/**
 * Takes the answer to the command's workflow. `goesOn`: the command is decided, wait for it as for any other; `opened`: the
 * page is open, wait for what is decided there. Else what there is to say: it is still open in the queue. Throws `invalidRequestState` for an answer that comes too late.
 */
export async function takeAnswer(
  { commandId, key, askedAt, page }: ApprovalState,
  { via: carriedBy, answer }: Reply,
  { commands, options }: { readonly commands: Commands; readonly options: McpOptions },
  { requester }: Call,
): Promise<'goesOn' | 'opened' | CallToolResult> {
  const viewer = viewerOf(requester);
  const via = page ? 'url' : carriedBy;
  const resultNow = async (remark = ''): Promise<CallToolResult> => {
    const snapshot = await commands.get(commandId, viewer);
    if (snapshot === undefined) throw invalidRequestState();
    return commandResult(snapshot, Date.now(), options, remark);
  };
  if (answer === null) return await resultNow();
  switch (await commands.answer(commandId, viewer, { [key]: answer.response }, { via, askedAt })) {
    case 'decided':
    // Sent again, or somebody else was faster: who answers is told what was decided, and what became of the command.
    case 'decidedBefore':
      return 'goesOn';
    case 'opened':
      return 'opened';
    case 'leftOpen':
      return await resultNow();
    case 'queued':
      return await resultNow('The answer is recorded, and counts as soon as a worker runs. ');
    case 'notOpen': {
      const snapshot = await commands.get(commandId, viewer);
      if (snapshot !== undefined && (via === 'form' || snapshot.view.decidedBy !== null)) return 'goesOn';
      throw invalidRequestState();
    }
    case 'unknown':
      throw invalidRequestState();
  }
}
