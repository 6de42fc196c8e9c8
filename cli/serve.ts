/** `readback serve`: the MCP server and the console. */
import type { Command } from 'commander';
import {
  addEngineFlags,
  addListenFlags,
  addServingFlags,
  type EngineFlags,
  type ListenFlags,
  type ServingFlags,
} from './flags.ts';
import { MCP_PORT } from './up.ts';

type ServeFlags = EngineFlags & ListenFlags & ServingFlags;

export function addServe(program: Command): void {
  const command = program
    .command('serve')
    .description('Serve MCP over HTTP at /mcp, and the console at /.')
    .addHelpText('after', HELP)
    .action(async (flags: ServeFlags) => {
      const { runRole } = await import('./role.ts');
      await runRole({ json: flags.json === true }, async (log) => {
        const [{ openCommands }, { createHttpApp, serveHttp }] = await Promise.all([
          import('./open-commands.ts'),
          import('../mcp-server/http.ts'),
        ]);
        const open = await openCommands(flags, { decides: true });
        const app = createHttpApp({
          commands: open.commands,
          options: mcpOptions(flags, null),
          onError: (error) => log.error({ err: error }, 'a request failed'),
        });
        const server = await serveHttp(app, { host: flags.host, port: flags.port });
        const json = { mcp: `${server.url}/mcp`, console: `${server.url}/` };
        return {
          ready: { text: `MCP at ${json.mcp}, console at ${json.console}`, json },
          async stop() {
            await server.close();
            await open.close();
          },
        };
      });
    });
  addServingFlags(addListenFlags(addEngineFlags(command), MCP_PORT));
}

/** The flags as the MCP server wants them. */
export function mcpOptions(flags: ServingFlags, consoleUrl: string | null) {
  return {
    taskGraceMs: flags.taskGrace,
    syncWaitMs: flags.syncWait,
    unattended: flags.approval === 'queue',
    deviceHeader: flags.deviceHeader === true,
    consoleUrl,
  };
}

const HELP = `
\`readback up\` runs one by itself. Several may run behind one address: any of them answers for any command.

Example:
  $ TEMPORAL_ADDRESS=temporal.local:7233 readback serve --catalogue home.yaml --port 8484
`;
