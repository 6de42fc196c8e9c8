/** Tools that may answer with a task: how they are listed and called. */
import {
  type CallToolResult,
  type InputRequiredResult,
  type McpServer,
  ProtocolError,
  ProtocolErrorCode,
  type ServerContext,
  type StandardSchemaWithJSON,
  type ToolAnnotations,
} from '@modelcontextprotocol/server';
import { z } from 'zod';
import { markFailed } from '../tracing/trace-context.ts';
import { protocolErrorOf } from './errors.ts';
import type { CreateTaskResult } from './task-snapshot.ts';
import { tracedMethod } from './traced-method.ts';

export interface ServedTool {
  readonly name: string;
  readonly description: string;
  /** JSON Schema of an object. */
  readonly inputSchema: object;
  readonly annotations?: ToolAnnotations;
  /** Checks its arguments itself. What it throws becomes a protocol error. */
  call(args: unknown, ctx: ServerContext): Promise<CallToolResult | CreateTaskResult | InputRequiredResult>;
}

const CALL_PARAMS = {
  params: z.looseObject({ name: z.string(), arguments: z.record(z.string(), z.unknown()).optional() }),
};

/**
 * Registers the tools for tools/list and for header checks, and serves their calls by a handler of our own, because the
 * built-in one can't answer with a task and turns every protocol error into a tool error.
 */
export function serveTools(
  server: McpServer,
  tools: readonly ServedTool[],
  onError: (error: Error) => void,
): void {
  for (const tool of tools) list(server, tool);
  server.server.setRequestHandler('tools/call', CALL_PARAMS, async (params, ctx) => {
    const tool = tools.find(({ name }) => name === params.name);
    if (tool === undefined)
      throw new ProtocolError(
        ProtocolErrorCode.InvalidParams,
        `There is no tool of that name. Tools: ${tools.map(({ name }) => name).join(', ')}.`,
      );
    return await tracedMethod(ctx, 'tools/call', tool.name, async (span) => {
      try {
        const result = await tool.call(params.arguments, ctx);
        if ('isError' in result && result.isError === true) markFailed(span, 'tool_error');
        return { ...result };
      } catch (error) {
        throw protocolErrorOf(error, onError);
      }
    });
  });
}

function list(server: McpServer, { name, description, annotations, inputSchema }: ServedTool): void {
  const config = { description, inputSchema: listed(inputSchema), ...(annotations && { annotations }) };
  server.registerTool(name, config, () => {
    throw new Error(`${name} is called through the handler of tools/call`);
  });
}

function listed(schema: object): StandardSchemaWithJSON<unknown, unknown> {
  const json = () => ({ ...schema });
  return {
    '~standard': {
      version: 1,
      vendor: 'readback',
      validate: (value) => ({ value }),
      jsonSchema: { input: json, output: json },
    },
  };
}
