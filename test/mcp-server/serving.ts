import { createHttpApp, serveHttp } from '../../mcp-server/http.ts';
import type { McpOptions } from '../../mcp-server/options.ts';
import { inMemoryCommands } from './in-memory-commands.ts';
import { optionsWith } from './wire.ts';

export type Serving = Awaited<ReturnType<typeof serve>>;

export async function serve(options: Partial<McpOptions> = {}) {
  const commands = inMemoryCommands();
  const errors: Error[] = [];
  const app = createHttpApp({
    commands,
    options: optionsWith(options),
    onError: (error) => errors.push(error),
  });
  const { url, port, close } = await serveHttp(app, { host: '127.0.0.1', port: 0 });
  return { url, port, commands, errors, close };
}
