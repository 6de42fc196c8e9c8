/** `readback serve`: the MCP server and the console. */
import { hkdfSync } from 'node:crypto';
import type { Command } from 'commander';
import type { Logger } from 'pino';
import type { McpOptions } from '../mcp-server/options.ts';
import { requestStateKey } from '../mcp-server/request-state-key.ts';
import { approversOf, isLoopback, requireApprovers } from './approvers-file.ts';
import {
  ANY_ADDRESS,
  type ApproversFlags,
  addApproversFlags,
  addConsoleFlag,
  addEngineFlags,
  addListenFlags,
  addServingFlags,
  type ConsoleFlags,
  type EngineFlags,
  flag,
  type ListenFlags,
  type ServingFlags,
  webAddress,
} from './flags.ts';
import type { OpenCommands } from './open-commands.ts';
import type { Running } from './role.ts';
import { MCP_PORT } from './up.ts';

type ServeFlags = EngineFlags &
  ListenFlags &
  ServingFlags &
  ApproversFlags &
  ConsoleFlags & {
    readonly temporalUi?: string;
  };

export function addServe(program: Command): void {
  const command = program
    .command('serve')
    .description('Serve MCP over HTTP at /mcp, and the console at /.')
    .addHelpText('after', HELP)
    .action(async (flags: ServeFlags) => {
      const { runRole } = await import('./role.ts');
      await runRole({ json: flags.json === true }, (log) => serve(flags, log));
    });
  addApproversFlags(addServingFlags(addListenFlags(addEngineFlags(command), MCP_PORT)), {
    withData: false,
  }).addOption(
    flag('--temporal-ui <url>', "Temporal's own UI, which the console then links to").argParser(webAddress),
  );
  addConsoleFlag(command);
}

async function serve(flags: ServeFlags, log: Logger): Promise<Running> {
  const [{ openCommands }, { createHttpApp, serveHttp }, { mountConsole }] = await Promise.all([
    import('./open-commands.ts'),
    import('../mcp-server/http.ts'),
    import('../console/console.ts'),
  ]);
  const open = await openCommands(flags, { decides: true });
  // `up` has warned already, where it started us.
  requireApprovers(open.catalogue, flags, (text) => (process.send ? undefined : log.warn(text)));
  const onError = (error: Error): void => log.error({ err: error }, 'a request failed');
  const options = { ...mcpOptions(flags, open, flags.consoleUrl ?? null) };
  const http = createHttpApp({
    commands: open.commands,
    options,
    onError,
    hostnames: hostnamesFor(flags),
  });
  const console = mountConsole(http.app, {
    commands: open.commands,
    approvers: approversOf(flags),
    catalogue: () => open.catalogue,
    sessionKey: sessionKeyOf(open),
    loopback: isLoopback(flags.host),
    temporalUi:
      flags.temporalUi === undefined ? null : { url: flags.temporalUi, namespace: open.engine.namespace },
    onError,
  });
  const server = await serveHttp(http, { host: flags.host, port: flags.port });
  // Known only now, where any free port would do.
  options.consoleUrl ??= ANY_ADDRESS.includes(flags.host)
    ? `http://localhost:${server.port}/`
    : `${server.url}/`;
  const json = { mcp: `${server.url}/mcp`, console: options.consoleUrl };
  return {
    ready: { text: `MCP at ${json.mcp}, console at ${json.console}`, json },
    async stop() {
      console.close();
      await server.close();
      await open.close();
    },
  };
}

/** From the key that all servers share, so that each of them knows the others' sessions. */
function sessionKeyOf({ sealKey }: Pick<OpenCommands, 'sealKey'>): Uint8Array {
  if (sealKey === null) throw new Error('opened without the key that seals decisions');
  return Buffer.from(hkdfSync('sha256', sealKey, '', 'readback console sessions', 32));
}

/** Names that requests may come with. Whoever listens on one address of a network is called by that address as well. */
function hostnamesFor({ host, consoleUrl }: Pick<ServeFlags, 'host' | 'consoleUrl'>): string[] {
  const publicName = consoleUrl === undefined ? [] : [new URL(consoleUrl).hostname];
  const loopback = ['localhost', '127.0.0.1', '[::1]'];
  const shown = host.includes(':') ? `[${host}]` : host;
  const called = ['0.0.0.0', '[::]', ...loopback].includes(shown) ? [] : [shown];
  return [...loopback, ...called, ...publicName];
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
