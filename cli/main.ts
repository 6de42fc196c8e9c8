/** The `readback` command. Each subcommand has a file of its own and loads what it needs only when it runs. */
import { Command } from 'commander';
import { addApprovals } from './approvals.ts';
import { addApprovers } from './approvers.ts';
import { addAudit } from './audit.ts';
import { addCommands } from './commands.ts';
import { addDevices } from './devices.ts';
import { addDoctor } from './doctor.ts';
import { tellFailure } from './failure.ts';
import { prepareEnvironment } from './flags.ts';
import { packageVersion } from './package-root.ts';
import { addSend } from './send.ts';
import { addServe } from './serve.ts';
import { addSimulator } from './simulator.ts';
import { addStdio } from './stdio.ts';
import { addUp } from './up.ts';
import { addWorker } from './worker.ts';

/** Runs the command line `argv` (as `process.argv`) and leaves its result in `process.exitCode`. */
export async function main(argv: readonly string[]): Promise<void> {
  const program = new Command('readback')
    .description('Command real devices, and learn what the devices really did.')
    .version(packageVersion())
    .showHelpAfterError('Add --help to see what is possible.')
    .configureHelp({ sortOptions: false })
    .exitOverride()
    .addHelpText('after', HELP);
  for (const add of [addUp, addSend, addDevices, addCommands, addApprovals, addApprovers]) add(program);
  for (const add of [addAudit, addDoctor]) add(program);
  for (const add of [addServe, addWorker, addStdio, addSimulator]) add(program);
  prepareEnvironment(process.env);
  try {
    await program.parseAsync(argv);
  } catch (error) {
    process.exitCode = tellFailure(error, wantsJson(argv));
  }
}

const wantsJson = (argv: readonly string[]): boolean =>
  argv.includes('--json') || 'READBACK_JSON' in process.env;

const HELP = `
Every flag is also an environment variable: --task-grace is READBACK_TASK_GRACE.
Exit codes: 0 as asked, 1 a command ended badly, 2 wrong usage or catalogue, 3 Temporal can't be reached,
130 Ctrl-C ended the watching (the command goes on).

Examples:
  $ readback up                                       start everything, with simulated devices
  $ readback send bedroom-ac temperature=26 --wait    and see what the device really did
  $ readback doctor                                   what is wrong, and how to mend it
`;
