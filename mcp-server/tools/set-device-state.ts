import { z } from 'zod';
import { InputError, type Submission } from '../../commands/commands.ts';
import { withFields } from '../../domain/desired.ts';
import { canAskInCall } from '../approval-request.ts';
import type { Reply } from '../asking.ts';
import { callerOf } from '../caller.ts';
import type { McpOptions } from '../options.ts';
import { invalidRequestState } from '../request-state.ts';
import type { Call } from '../waiting.ts';
import type { ApprovalState } from './approval-in-call.ts';
import { answerApproval, answerTo, type CommandParts } from './command-answer.ts';
import { deviceProperty } from './device-argument.ts';
import { dryRunResult } from './dry-run.ts';
import { askForValues, type ValuesState, valuesGiven } from './missing-values.ts';
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

export function setDeviceState(parts: CommandParts): Tool {
  const { commands, options } = parts;
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
      const { device, desired, dryRun = false, ...rest } = parseArguments(ARGUMENTS, args, NOTHING_SENT);
      const asked = stateOf(call, options);
      if (asked?.state.for === 'approval') return await answerApproval(asked.state, asked.reply, parts, call);
      const given = asked === null ? {} : valuesGiven(asked.state, asked.reply.answer?.response);
      const submission: Submission = {
        device,
        ...rest,
        desired: withFields(desired, given ?? {}),
        caller: callerOf(call.requester),
      };
      try {
        if (dryRun) return dryRunResult(await commands.dryRun(submission));
        return await answerTo(await commands.submit(submission), parts, call);
      } catch (error) {
        const missing = error instanceof InputError ? error.missing : null;
        // Whoever gave none of the values isn't asked for them again.
        const canAsk = call.requester.elicitation.form && canAskInCall(call.requester, options);
        if (missing === null || given === null || !canAsk) throw error;
        return askForValues(missing, given);
      }
    },
  };
}

const STATE = z.discriminatedUnion('for', [
  z.object({
    for: z.literal('approval'),
    commandId: z.string(),
    key: z.string(),
    askedAt: z.number(),
    page: z.boolean(),
  }),
  z.object({
    for: z.literal('values'),
    given: z.record(z.string(), z.unknown()),
    asked: z.array(z.string()),
  }),
]);

interface Asked {
  readonly state: ApprovalState | ValuesState;
  readonly reply: Reply;
}

/** What this call was asked before. null: nothing; or by a client that nobody watches (any more), so that nobody answered. */
function stateOf({ reply, requester }: Call, options: McpOptions): Asked | null {
  if (reply === null || !canAskInCall(requester, options)) return null;
  const state = STATE.safeParse(reply.state);
  // Signed by us, but by another version.
  if (!state.success) throw invalidRequestState();
  const { form, url } = requester.elicitation;
  const canShow = state.data.for === 'approval' && state.data.page ? url : form;
  return canShow ? { state: state.data, reply } : null;
}
