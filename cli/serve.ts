/** `readback serve`: the MCP server and the console. */
import type { Command } from 'commander';
import type { McpOptions } from '../mcp-server/options.ts';
import { requestStateKey } from '../mcp-server/request-state-key.ts';
import {
  addEngineFlags,
  addListenFlags,
  addServingFlags,
  type EngineFlags,
  type ListenFlags,
  type ServingFlags,
} from './flags.ts';
import type { OpenCommands } from './open-commands.ts';
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
          options: mcpOptions(flags, open, null),
          onError: (error) => log.error({ err: error }, 'a request failed'),
          hostnames: hostnamesFor(flags.host),
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

/** Names that requests may come with. Whoever listens on one address of a network is called by that address as well. */
function hostnamesFor(host: string): string[] {
  const loopback = ['localhost', '127.0.0.1', '[::1]'];
  const shown = host.includes(':') ? `[${host}]` : host;
  return ['0.0.0.0', '[::]', ...loopback].includes(shown) ? loopback : [...loopback, shown];
}

/** The flags and the catalogue's settings as the MCP server wants them. */
export function mcpOptions(
  flags: ServingFlags,
  { catalogue, sealKey }: Pick<OpenCommands, 'catalogue' | 'sealKey'>,
  consoleUrl: string | null,
): McpOptions {
  return {
    operatorWait: catalogue.settings.operatorWait,
    stateKey: sealKey && requestStateKey(sealKey),
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
