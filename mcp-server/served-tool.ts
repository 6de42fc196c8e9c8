/** A tool of Readback as it is served: told who calls, and with a way to ask that caller's user. */
import {
  type CallToolResult,
  type InputRequiredResult,
  inputRequired,
  type ServerContext,
} from '@modelcontextprotocol/server';
import { InputError } from '../commands/commands.ts';
import { type Asking, isAsking, type Reply } from './asking.ts';
import { inputErrorResult } from './command-result.ts';
import { type CallOfState, invalidRequestState, type RequestStates } from './request-state.ts';
import type { Requester } from './requester.ts';
import type { CreateTaskResult } from './task-snapshot.ts';
import type { ServedTool } from './tool-calls.ts';
import type { Tool } from './tools/tool.ts';
import type { Call } from './waiting.ts';

export interface ServedToolParts {
  readonly requesterOf: (ctx: ServerContext) => Requester;
  /** null: no call can be answered with a question that is answered by calling again. */
  readonly states: RequestStates | null;
  /** How long a call may take in all, questions during it included, in milliseconds. */
  readonly syncWaitMs: number;
}

type Answer = CallToolResult | CreateTaskResult | InputRequiredResult;

/** More questions than any tool has; a client that is asked more often gets what there is to say without an answer. */
const MOST_QUESTIONS_A_CALL = 8;

/** Input errors become results, which the agent can mend; everything else that is thrown passes. */
export function servedTool(tool: Tool, parts: ServedToolParts): ServedTool {
  return {
    ...tool,
    async call(args, ctx) {
      const call: Call = {
        requester: parts.requesterOf(ctx),
        since: Date.now(),
        signal: ctx.mcpReq.signal,
        progress: progressOf(ctx),
        reply: null,
      };
      try {
        return call.requester.legacy
          ? await callWithDialogs(tool, args, call, ctx, parts.syncWaitMs)
          : await callInRounds(tool, args, call, ctx, parts.states);
      } catch (error) {
        if (error instanceof InputError) return inputErrorResult(error.message);
        throw error;
      }
    },
  };
}

/** 2026-07-28: a question ends the call; the client makes the same call again, with the answer and our state. */
async function callInRounds(
  tool: Tool,
  args: unknown,
  call: Call,
  ctx: ServerContext,
  states: RequestStates | null,
): Promise<Answer> {
  const bound: CallOfState = { principal: call.requester.principal, tool: tool.name, args: args ?? {} };
  const text = ctx.mcpReq.requestState<string>();
  if (text !== undefined && states === null) throw invalidRequestState();
  const reply = text === undefined || states === null ? null : await replyIn(ctx, text, bound, states);
  const result = await tool.call(args, { ...call, reply });
  if (!isAsking(result)) return result;
  if (states === null) throw new Error(`${tool.name} asks although no state can be carried`);
  const { key, request } = result.question;
  const requestState = await states.seal({ ...result, key }, bound, ctx);
  return inputRequired({ inputRequests: { [key]: request }, requestState });
}

/** null: made again without an answer, which is the same as making it anew: what is still open is asked again. */
async function replyIn(
  ctx: ServerContext,
  text: string,
  bound: CallOfState,
  states: RequestStates,
): Promise<Reply | null> {
  const { key, state } = await states.open(text, bound, ctx);
  const { mcpReq } = ctx;
  const responses: Readonly<Record<string, unknown>> = mcpReq.inputResponses ?? {};
  // What the SDK drops as malformed was an answer all the same, only none that says anything.
  const malformed = mcpReq.droppedInputResponseKeys?.includes(key) === true;
  if (!Object.hasOwn(responses, key) && !malformed) return null;
  return { state, via: 'mrtr', answer: { response: malformed ? null : responses[key] } };
}

/** 2025-11-25 and older: the client is sent the question during the call. Its failing to answer decides nothing. */
async function callWithDialogs(
  tool: Tool,
  args: unknown,
  call: Call,
  ctx: ServerContext,
  withinMs: number,
): Promise<Answer> {
  let result = await tool.call(args, call);
  for (let questions = 1; isAsking(result); questions += 1) {
    const leftMs = call.since + withinMs - Date.now();
    const answer = questions > MOST_QUESTIONS_A_CALL ? null : await askByDialog(result, ctx, leftMs);
    result = await tool.call(args, { ...call, reply: { state: result.state, via: 'form', answer } });
  }
  return result;
}

async function askByDialog(
  { question }: Asking,
  { mcpReq }: ServerContext,
  timeout: number,
): Promise<Reply['answer']> {
  if (timeout <= 0) return null;
  const { method, params } = question.request;
  try {
    return { response: await mcpReq.send({ method, params }, { timeout, signal: mcpReq.signal }) };
  } catch {
    // Too late, gone, or it can't show forms after all: the approval stays in the queue either way.
    return null;
  }
}

function progressOf(ctx: ServerContext): Call['progress'] {
  const progressToken = ctx.mcpReq._meta?.progressToken;
  if (progressToken === undefined) return null;
  return async (elapsedMs, message) => {
    const params = { progressToken, progress: Math.round(elapsedMs / 1000), message };
    try {
      await ctx.mcpReq.notify({ method: 'notifications/progress', params });
    } catch {
      // The client went away, which also ends the waiting.
    }
  };
}
