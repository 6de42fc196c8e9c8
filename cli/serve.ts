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
  type AuthFlags,
  addApproversFlags,
  addAuthFlags,
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
import type { LiveCatalogue } from './live-catalogue.ts';
import type { OpenServing } from './open-commands.ts';
import type { Running } from './role.ts';
import { authOf, consoleSignInOf, requireSignIn, tryIssuer } from './sign-in.ts';
import { MCP_PORT } from './up.ts';

type ServeFlags = EngineFlags &
  ListenFlags &
  ServingFlags &
  ApproversFlags &
  AuthFlags &
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
  addAuthFlags(addConsoleFlag(command));
}

async function serve(flags: ServeFlags, log: Logger): Promise<Running> {
  const [{ openServing }, { createHttpApp, serveHttp }, { mountConsole }] = await Promise.all([
    import('./open-commands.ts'),
    import('../mcp-server/http.ts'),
    import('../console/console.ts'),
  ]);
  // `up` has warned already, where it started us.
  const warn = (text: string): void => (process.send ? undefined : log.warn(text));
  requireSignIn(flags, warn);
  const open = await openServing(flags, log);
  const { catalogue } = open;
  requireApprovers(catalogue.current(), flags, warn);
  const onError = (error: Error): void => log.error({ err: error }, 'a request failed');
  let consoleUrl = flags.consoleUrl ?? null;
  const options = mcpOptions(flags, open, () => consoleUrl);
  const auth = await authOf(flags, () => consoleUrl);
  const signIn = await consoleSignInOf(flags, auth);
  const http = createHttpApp({
    commands: open.commands,
    options,
    onError,
    hostnames: hostnamesFor(flags),
    health: () => ({ catalogue: healthOf(catalogue) }),
    ...(auth && { auth }),
  });
  const console = mountConsole(http.app, {
    commands: open.commands,
    approvers: approversOf(flags),
    catalogue: catalogue.current,
    catalogueTrouble: catalogue.trouble,
    sessionKey: sessionKeyOf(open),
    signIn,
    consoleUrl: () => consoleUrl ?? '',
    loopback: isLoopback(flags.host),
    temporalUi:
      flags.temporalUi === undefined ? null : { url: flags.temporalUi, namespace: open.engine.namespace },
    onError,
  });
  const server = await serveHttp(http, { host: flags.host, port: flags.port });
  // Known only now, where any free port would do.
  consoleUrl ??= ANY_ADDRESS.includes(flags.host) ? `http://localhost:${server.port}/` : `${server.url}/`;
  const json = { mcp: `${server.url}/mcp`, console: consoleUrl };
  if (auth !== undefined) void tryIssuer(auth, signIn, (text) => log.warn(text));
  catalogue.follow({
    prepare: (next) => requireApprovers(next, flags, (text) => log.warn(text), 'It was not taken over.'),
    changed: () => http.catalogueChanged(),
  });
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
function sessionKeyOf({ sealKey }: Pick<OpenServing, 'sealKey'>): Uint8Array {
  return Buffer.from(hkdfSync('sha256', sealKey, '', 'readback console sessions', 32));
}

/** Names that requests may come with. Whoever listens on one address of a network is called by that address as well. */
function hostnamesFor({ host, consoleUrl, authAudience }: ServeFlags): string[] {
  const publicNames = [consoleUrl, authAudience].flatMap((url) =>
    url === undefined ? [] : [new URL(url).hostname],
  );
  const loopback = ['localhost', '127.0.0.1', '[::1]'];
  const shown = host.includes(':') ? `[${host}]` : host;
  const called = ['0.0.0.0', '[::]', ...loopback].includes(shown) ? [] : [shown];
  return [...loopback, ...called, ...publicNames];
}

/** Nothing here is secret: anybody may ask whether a server is well. */
const healthOf = ({ current, trouble }: LiveCatalogue) => ({
  digest: current().digest,
  asInFile: trouble() === null,
});

/** The flags and the catalogue's settings as the MCP server wants them. */
export function mcpOptions(
  flags: ServingFlags & Pick<AuthFlags, 'authIssuer' | 'consoleClientId'>,
  { catalogue, sealKey }: Pick<OpenServing, 'catalogue' | 'sealKey'>,
  consoleUrl: () => string | null,
): McpOptions {
  return {
    get operatorWait() {
      return catalogue.current().settings.operatorWait;
    },
    get consoleUrl() {
      return consoleUrl();
    },
    stateKey: requestStateKey(sealKey),
    taskGraceMs: flags.taskGrace,
    syncWaitMs: flags.syncWait,
    unattended: flags.approval === 'queue',
    deviceHeader: flags.deviceHeader === true,
    consoleIssuer: flags.consoleClientId === undefined ? null : (flags.authIssuer ?? null),
  };
}

const HELP = `
\`readback up\` runs one by itself. Several may run behind one address: any of them answers for any command.

Example:
  $ TEMPORAL_ADDRESS=temporal.local:7233 readback serve --catalogue home.yaml --port 8484
`;
