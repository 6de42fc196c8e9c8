/** `readback stdio`: MCP over stdin and stdout, for hosts that start their servers themselves. */
import type { Command } from 'commander';
import { addEngineFlags, addServingFlags, type EngineFlags, type ServingFlags } from './flags.ts';

export function addStdio(program: Command): void {
  const command = program
    .command('stdio')
    .description('Serve MCP over stdin and stdout, beside a running `readback up`.')
    .addHelpText('after', HELP)
    .action(runStdio);
  addServingFlags(addEngineFlags(command));
}

async function runStdio(flags: EngineFlags & ServingFlags): Promise<void> {
  const [{ openServing }, { serveMcpOverStdio }, { mcpOptions }, { pino }] = await Promise.all([
    import('./open-commands.ts'),
    import('../mcp-server/stdio.ts'),
    import('./serve.ts'),
    import('pino'),
  ]);
  const log = pino({ base: null, level: 'warn' }, pino.destination({ fd: 2, sync: true }));
  const open = await openServing(flags, log);
  let leaving = false;
  const server = serveMcpOverStdio({
    commands: open.commands,
    options: mcpOptions(flags, open, () => open.engine.consoleUrl),
    onError: (error) => {
      // A host that leaves while a call waits: that the wait ends is no failure.
      if (!leaving) log.error({ err: error }, 'a request failed');
    },
  });
  open.catalogue.follow({ changed: () => server.catalogueChanged() });
  // The host ends us by closing stdin or with a signal. Commands go on either way.
  await new Promise<void>((resolve) => {
    for (const event of ['end', 'close'] as const) process.stdin.once(event, resolve);
    for (const signal of ['SIGINT', 'SIGTERM'] as const) process.once(signal, resolve);
  });
  leaving = true;
  await server.close();
  await open.close();
}

const HELP = `
Uses the \`readback up\` that runs on the data folder; where none runs, it ends with exit code 3 and says how to start one.
What needs a person's approval is asked through the host where it can show forms; --approval queue never asks there.

Example, in a host's configuration:
  { "command": "node", "args": ["/home/me/readback/bin/readback.mjs", "stdio", "--data-dir", "/home/me/readback/.readback"] }
`;
