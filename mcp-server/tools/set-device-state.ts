import { type CallToolResult, ProtocolError, ProtocolErrorCode } from '@modelcontextprotocol/server';
import { z } from 'zod';
import type { CommandSnapshot, Commands, Submission, Submitted } from '../../commands/commands.ts';
import { InputError } from '../../commands/commands.ts';
import { wayToAsk } from '../approval-request.ts';
import { callerOf, viewerOf } from '../caller.ts';
import { commandResult } from '../command-result.ts';
import { failureOf, taskOf } from '../command-tasks.ts';
import { isJsonObject } from '../json-object.ts';
import { LONGEST_WAIT_MS, type McpOptions } from '../options.ts';
import type { Requester } from '../requester.ts';
import { type CreateTaskResult, createTaskResult } from '../task-snapshot.ts';
import { type Call, hasEnded, type Patience, waitForCommand } from '../waiting.ts';
import { deviceProperty } from './device-argument.ts';
import { dryRunResult } from './dry-run.ts';
import { parseArguments, shortText, type Tool, yesOrNo } from './tool.ts';

const NOTHING_SENT = 'Nothing was sent.';
/** Also without a grace: whether a person has to decide is known this soon, and decides what is answered. */
const GATE_DECIDES_WITHIN_MS = 1_000;
const EXAMPLE = '{"temperature": 22}';

const ARGUMENTS = {
  device: shortText(200),
  desired: z
    .unknown()
    .refine((value) => value !== undefined)
    .describe(`an object of fields and their values, e.g. ${EXAMPLE}`),
  requestId: shortText(200).optional(),
  reason: shortText(1000).optional(),
  dryRun: yesOrNo.optional(),
  resendOf: shortText(200).optional(),
};

export function setDeviceState(commands: Commands, options: McpOptions): Tool {
  return {
    name: 'set_device_state',
    description:
      'Sets fields of a device and reads them back: tells what the device really did, not what its API said. Trust only outcome verified or already. If done is false, follow next.',
    inputSchema: {
      type: 'object',
      properties: {
        device: deviceProperty(options),
        desired: {
          type: 'object',
          description: `Field to value, in the units of list_devices, e.g. ${EXAMPLE}`,
        },
        requestId: { type: 'string', description: 'Same id and content: the same command, sent once' },
        reason: { type: 'string', description: 'Why; shown to approvers' },
        dryRun: { type: 'boolean', description: 'Show what would be sent; send nothing' },
        resendOf: {
          type: 'string',
          description: 'commandId of the unsafe repeat that you mean to send anyway',
        },
      },
      required: ['device', 'desired'],
    },
    annotations: { destructiveHint: true, openWorldHint: true },
    async call(args, call) {
      const { device, desired, dryRun, ...rest } = parseArguments(ARGUMENTS, args, NOTHING_SENT);
      const submission: Submission = {
        device,
        ...rest,
        desired: unwrapped(desired),
        caller: callerOf(call.requester),
        requesterCanAnswer: wayToAsk(call.requester) !== 'queue',
      };
      if (dryRun === true) return dryRunResult(await commands.dryRun(submission));
      return answerTo(await commands.submit(submission), commands, options, call);
    },
  };
}

/** Some hosts hand nested objects over as JSON text. */
function unwrapped(desired: unknown): unknown {
  if (typeof desired !== 'string') return desired;
  try {
    const parsed: unknown = JSON.parse(desired);
    if (isJsonObject(parsed)) return parsed;
  } catch {
    // Falls through to the one error for everything that isn't an object.
  }
  throw new InputError(
    `desired must be an object of fields and their values, e.g. ${EXAMPLE}. ${NOTHING_SENT}`,
  );
}

/** A task for those who can take one and where the command lasts; else what there is to say by then. */
async function answerTo(
  submitted: Submitted,
  commands: Commands,
  options: McpOptions,
  call: Call,
): Promise<CallToolResult | CreateTaskResult> {
  const { commandId } = submitted;
  const { requester } = call;
  if (submitted.kind === 'repeatRefused')
    return repeatRefused(present(await commands.get(commandId, viewerOf(requester))), options);
  const snapshot = present(await waitForCommand(commands, commandId, call, patience(requester, options)));
  if (staysTask(snapshot, requester, options))
    return createTaskResult(taskOf(snapshot, Date.now(), options), requester);
  if (snapshot.status === 'failed')
    throw new ProtocolError(ProtocolErrorCode.InternalError, failureOf(snapshot));
  return commandResult(snapshot, Date.now(), options, remarkOn(submitted));
}

/** How long this call may wait before it answers, and for what. Once a person must decide, waiting brings nothing. */
function patience(requester: Requester, options: McpOptions): Patience {
  const endedOrAsking = (snapshot: CommandSnapshot) => hasEnded(snapshot) || snapshot.view.approval !== null;
  if (!requester.tasks)
    return { timeoutMs: Math.min(options.syncWaitMs, LONGEST_WAIT_MS), enough: endedOrAsking };
  if (options.taskGraceMs > 0) return { timeoutMs: options.taskGraceMs, enough: endedOrAsking };
  const pastTheGate = (snapshot: CommandSnapshot) => snapshot.view.phase !== 'waiting_for_turn';
  return { timeoutMs: GATE_DECIDES_WITHIN_MS, enough: pastTheGate };
}

/**
 * A command that waits for somebody whom this client can't ask is answered at once with an ordinary result: hosts don't
 * show a task's status to the model, and an overnight wait would be a silent spinner.
 */
function staysTask(snapshot: CommandSnapshot, requester: Requester, options: McpOptions): boolean {
  if (!requester.tasks) return false;
  const approval = hasEnded(snapshot) ? null : snapshot.view.approval;
  if (approval !== null) return approval.by === 'requester' && wayToAsk(requester) === 'form';
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
