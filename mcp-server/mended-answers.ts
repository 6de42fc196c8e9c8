/** Two things that the SDK says, put as the protocol has them. */
import { type JSONRPCMessage, type McpServer, ProtocolErrorCode } from '@modelcontextprotocol/server';
import { isJsonObject } from './json-object.ts';

export function mendAnswers(server: McpServer): McpServer {
  const connect = server.connect.bind(server);
  server.connect = async (transport) => {
    const send = transport.send.bind(transport);
    transport.send = async (message, options) => await send(mended(message), options);
    await connect(transport);
  };
  return server;
}

const INTERNAL_ERROR: number = ProtocolErrorCode.InternalError;

function mended(message: JSONRPCMessage): JSONRPCMessage {
  if ('result' in message && isJsonObject(message.result) && message.result['resultType'] === 'task') {
    // The SDK adds `content: []` to every tools/call result without content, also to a task, which has none.
    const { content: _, ...task } = message.result;
    return { ...message, result: task };
  }
  if ('error' in message && message.error.code === INTERNAL_ERROR) {
    const problem = problemIn(message.error.message);
    if (problem !== null)
      return { ...message, error: { code: ProtocolErrorCode.InvalidParams, message: problem } };
  }
  return message;
}

/** Params that don't fit a method's schema are told as an internal error, in the validator's own JSON. null: it is none. */
function problemIn(text: string): string | null {
  if (!text.startsWith('[')) return null;
  const [issue] = JSON.parse(text) as { path?: readonly PropertyKey[]; message?: string }[];
  return `${issue?.path?.map(String).join('.') ?? 'params'}: ${issue?.message ?? 'not as this method has it'}`;
}
