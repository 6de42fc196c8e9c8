/** What a call is answered with that started a command, joined one, or decided about one. */
import { type CallToolResult, ProtocolError, ProtocolErrorCode } from '@modelcontextprotocol/server';
import type { CommandSnapshot, Commands, Submitted } from '../../commands/commands.ts';
import { linkTo } from '../../tracing/trace-context.ts';
import { askedOf, openQuestion } from '../approval-request.ts';
import type { Asking, Reply } from '../asking.ts';
import { viewerOf } from '../caller.ts';
import { commandResult } from '../command-result.ts';
import { failureOf, taskOf } from '../command-tasks.ts';
import { LONGEST_WAIT_MS, type McpOptions } from '../options.ts';
import type { Requester } from '../requester.ts';
import type { ShownQuestions } from '../shown-questions.ts';
import { answerable, type CreateTaskResult, createTaskResult } from '../task-snapshot.ts';
import { type Call, hasEnded, type Patience, waitForCommand } from '../waiting.ts';
import { type ApprovalState, askForApproval, takeAnswer } from './approval-in-call.ts';

/** Also without a grace: whether a person has to decide is known this soon, and decides what is answered. */
const GATE_DECIDES_WITHIN_MS = 1_000;

/** What every call about a command works with. */
export interface CommandParts {
  readonly commands: Commands;
  readonly options: McpOptions;
  readonly shown: ShownQuestions;
}

/** A task for those who can take one and where the command lasts; else what there is to say by then. */
export async function answerTo(
  submitted: Submitted,
  parts: CommandParts,
  call: Call,
): Promise<CallToolResult | CreateTaskResult | Asking> {
  const { commands, options } = parts;
  const { commandId } = submitted;
  const { requester } = call;
  if (submitted.kind === 'repeatRefused')
    return repeatRefused(present(await commands.get(commandId, viewerOf(requester))), options);
  const snapshot = present(await waitForCommand(commands, commandId, call, patience(call, options)));
  if (submitted.kind === 'joined') linkTo(snapshot.trace);
  const asking = requester.tasks ? null : askForApproval(snapshot, call, options);
  return asking ?? answerNow(snapshot, parts, call, remarkOn(submitted));
}

/** After the answer to an approval that this call asked for: the rest is as for any command. */
export async function answerApproval(
  state: ApprovalState,
  reply: Reply,
  parts: CommandParts,
  call: Call,
): Promise<CallToolResult | CreateTaskResult> {
  const { commands, options } = parts;
  const taken = await takeAnswer(state, reply, parts, call);
  if (typeof taken !== 'string') return taken;
  if (taken === 'opened') {
    const timeoutMs = patience(call, options).timeoutMs;
    const enough = (snapshot: CommandSnapshot) => hasEnded(snapshot) || snapshot.view.approval === null;
    await waitForCommand(commands, state.commandId, call, { timeoutMs, enough });
  }
  const waited = await waitForCommand(commands, state.commandId, call, patience(call, options));
  return answerNow(present(waited), parts, call);
}

function answerNow(
  snapshot: CommandSnapshot,
  { options, shown }: CommandParts,
  { requester }: Call,
  remark = '',
): CallToolResult | CreateTaskResult {
  if (staysTask(snapshot, requester, options)) {
    const task = taskOf(snapshot, Date.now(), options);
    shown.note(task.taskId, Object.keys(answerable(task, requester)));
    return createTaskResult(task, requester);
  }
  if (snapshot.status === 'failed')
    throw new ProtocolError(ProtocolErrorCode.InternalError, failureOf(snapshot));
  return commandResult(snapshot, Date.now(), options, remark);
}

/** How long this call may wait before it answers, and for what. Once a person must decide, waiting brings nothing. */
function patience({ requester, since }: Call, options: McpOptions): Patience {
  const endedOrAsking = (snapshot: CommandSnapshot) => hasEnded(snapshot) || snapshot.view.approval !== null;
  if (!requester.tasks) {
    const leftMs = since + Math.min(options.syncWaitMs, LONGEST_WAIT_MS) - Date.now();
    return { timeoutMs: Math.max(0, leftMs), enough: endedOrAsking };
  }
  if (options.taskGraceMs > 0) return { timeoutMs: options.taskGraceMs, enough: endedOrAsking };
  const pastTheGate = (snapshot: CommandSnapshot) => snapshot.view.phase !== 'waiting_for_turn';
  return { timeoutMs: GATE_DECIDES_WITHIN_MS, enough: pastTheGate };
}

/**
 * A command that waits for somebody whom this client can't ask is answered at once with an ordinary result, unless the
 * catalogue wants it otherwise: hosts don't show a task's status to the model, and an overnight wait would be a silent
 * spinner.
 */
function staysTask(snapshot: CommandSnapshot, requester: Requester, options: McpOptions): boolean {
  if (!requester.tasks) return false;
  if (!hasEnded(snapshot) && snapshot.view.approval !== null) {
    const question = openQuestion(snapshot, options);
    const asksThere = question !== null && askedOf(question, requester) !== null;
    return asksThere || options.operatorWait === 'task';
  }
  return options.taskGraceMs === 0 || !hasEnded(snapshot);
}

/** A command that was just acknowledged can always be described. */
function present(snapshot: CommandSnapshot | undefined): CommandSnapshot {
  if (snapshot === undefined) throw new Error('a command that was just accepted could not be described');
  return snapshot;
}

function remarkOn(submitted: Submitted): string {
  if (submitted.kind === 'repeatRefused') return '';
  const joined =
    submitted.kind === 'joined'
      ? 'Joined your same command that was accepted before; nothing was sent twice. '
      : '';
  const coerced = submitted.coerced.length === 0 ? '' : `Understood: ${submitted.coerced.join(', ')}. `;
  return joined + coerced;
}

/** The old evidence again: harnesses repeat a call that ended in an error, and a blind repeat could do harm. */
function repeatRefused(snapshot: CommandSnapshot, options: McpOptions): CallToolResult {
  const remark =
    `Nothing was sent now: the same call ended badly a moment ago and is not safe to repeat. ` +
    `Look first: get_device_state. To send anyway pass resendOf="${snapshot.commandId}". What happened then: `;
  return { ...commandResult(snapshot, Date.now(), options, remark), isError: true };
}
