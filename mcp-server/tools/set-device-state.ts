import { type CallToolResult, ProtocolError, ProtocolErrorCode } from '@modelcontextprotocol/server';
import { z } from 'zod';
import type { CommandSnapshot, Commands, DryRun, Submission, Submitted } from '../../commands/commands.ts';
import { InputError } from '../../commands/commands.ts';
import { formatValue, plain } from '../../domain/text.ts';
import { wayToAsk } from '../approval-request.ts';
import { commandResult, plainResult } from '../command-result.ts';
import { failureOf, taskOf } from '../command-tasks.ts';
import { LONGEST_WAIT_MS, type McpOptions } from '../options.ts';
import { callerOf, isObject, type Requester, viewerOf } from '../requester.ts';
import { type CreateTaskResult, createTaskResult } from '../task-snapshot.ts';
import { type Call, hasEnded, waitForCommand } from '../waiting.ts';
import { deviceProperty } from './device-argument.ts';
import { stateContent, stateInWords } from './get-device-state.ts';
import { parseArguments, shortText, type Tool, yesOrNo } from './tool.ts';

const NOTHING_SENT = 'Nothing was sent.';
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
    if (isObject(parsed)) return parsed;
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
    return repeatRefused(present(await commands.get(commandId, viewerOf(requester))));
  const timeoutMs = requester.tasks ? options.taskGraceMs : Math.min(options.syncWaitMs, LONGEST_WAIT_MS);
  const snapshot = present(
    await waitForCommand(commands, commandId, call, { timeoutMs, enough: endedOrAsking }),
  );
  const remark = remarkOn(submitted);
  if (staysTask(snapshot, requester, options))
    return createTaskResult(taskOf(snapshot, Date.now()), requester);
  if (snapshot.status === 'failed')
    throw new ProtocolError(ProtocolErrorCode.InternalError, failureOf(snapshot));
  return commandResult(snapshot, Date.now(), remark);
}

/** Once a person must decide, waiting longer brings nothing. */
const endedOrAsking = (snapshot: CommandSnapshot): boolean =>
  hasEnded(snapshot) || snapshot.view.approval !== null;

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
function repeatRefused(snapshot: CommandSnapshot): CallToolResult {
  const remark =
    `Nothing was sent now: the same call ended badly a moment ago and is not safe to repeat. ` +
    `Look first: get_device_state. To send anyway pass resendOf="${snapshot.commandId}". What happened then: `;
  return { ...commandResult(snapshot, Date.now(), remark), isError: true };
}

function dryRunResult(dryRun: DryRun): CallToolResult {
  const asked = Object.entries(dryRun.desired).map(
    ([field, value]) => `${field} ${formatValue(value, dryRun.state.fields[field]?.unit ?? null)}`,
  );
  const lines = [
    `DRY RUN, nothing was sent. ${plain(dryRun.device, 64)}: asked ${asked.join(', ')}.`,
    stateInWords(dryRun.state, Date.now()),
    dryRun.already
      ? 'It already is as desired: nothing would be sent.'
      : `Would send: ${dryRun.requests.map((r) => `${r.method} ${r.url}`).join(', then ')}.`,
    dryRun.approval === null
      ? 'No approval is needed.'
      : `It needs a yes from ${dryRun.approval.by === 'operator' ? 'an operator' : 'the requester'} first.`,
    ...(dryRun.coerced.length === 0 ? [] : [`Understood: ${dryRun.coerced.join(', ')}.`]),
  ];
  return plainResult(lines.join(' '), {
    state: 'ended',
    done: true,
    dryRun: true,
    device: dryRun.device,
    requested: dryRun.desired,
    requests: dryRun.requests,
    reading: stateContent(dryRun.state),
    approval: dryRun.approval,
    already: dryRun.already,
    sent: { count: 0, certain: true, reply: null },
  });
}
