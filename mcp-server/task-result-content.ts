/** Keeps task results as the extension defines them. */

import type { McpServer } from '@modelcontextprotocol/server';
import { isJsonObject } from './json-object.ts';

/** The SDK adds `content: []` to every tools/call result without content, also to a task, which has none. */
export function withoutEmptyContent(server: McpServer): McpServer {
  const connect = server.connect.bind(server);
  server.connect = async (transport) => {
    const send = transport.send.bind(transport);
    transport.send = async (message, options) => {
      const { result } = message as { result?: unknown };
      if (!isJsonObject(result) || result['resultType'] !== 'task') return await send(message, options);
      const { content: _, ...task } = result;
      return await send({ ...message, result: task }, options);
    };
    await connect(transport);
  };
  return server;
}
