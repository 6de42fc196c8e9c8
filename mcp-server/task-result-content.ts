/** Keeps task results as the extension defines them. */
import type { McpServer } from '@modelcontextprotocol/server';
import { isObject } from './requester.ts';

/** The SDK adds `content: []` to every tools/call result without content, also to a task, which has none. */
export function withoutEmptyContent(server: McpServer): McpServer {
  const connect = server.connect.bind(server);
  server.connect = async (transport) => {
    const send = transport.send.bind(transport);
    transport.send = (message, options) => send(trimmed(message), options);
    await connect(transport);
  };
  return server;
}

function trimmed<T>(message: T): T {
  if (!isObject(message) || !isObject(message['result']) || message['result']['resultType'] !== 'task')
    return message;
  const { content: _, ...result } = message['result'];
  return { ...message, result } as T;
}
