/** `readback send`: one command, and what the device really did. */
import type { Command } from 'commander';
import type { DryRun, Submission } from '../commands/commands.ts';
import { type Assignments, addAssignment } from './assignments.ts';
import { EXIT } from './failure.ts';
import { addEngineFlags, type EngineFlags, flag } from './flags.ts';
import { cliCaller, type OpenCommands, VIEWER, withCommands } from './open-commands.ts';
import { commandLine, fieldsOf, readingsText } from './snapshot-text.ts';
import { printSnapshotJson, watchCommand } from './watch.ts';

interface SendFlags extends EngineFlags {
  readonly wait?: true;
  readonly dryRun?: true;
  readonly reason?: string;
  readonly requestId?: string;
  readonly resendOf?: string;
}

export function addSend(program: Command): void {
  const command = program
    .command('send')
    .argument('<device>', 'id, name or alias')
    .argument('<field=value...>', 'what it should be, e.g. temperature=26', addAssignment)
    .description('Bring fields of a device to values.')
    .addHelpText('after', HELP)
    .addOption(flag('--wait', 'show what happens until the command has ended'))
    .addOption(flag('--dry-run', 'show what would be sent, and send nothing'))
    .addOption(flag('--reason <text>', 'why, for whoever has to approve it'))
    .addOption(flag('--request-id <id>', 'the same id again is the same command, never a second one'))
    .addOption(
      flag('--resend-of <commandId>', 'send again although that command may not be repeated blindly'),
    )
    .action(withCommands<[string, Assignments], SendFlags>(send));
  addEngineFlags(command);
}

async function send(
  open: OpenCommands,
  flags: SendFlags,
  device: string,
  desired: Assignments,
): Promise<void> {
  const { commands } = open;
  const submission: Submission = {
    device,
    desired,
    caller: cliCaller(),
    reason: flags.reason,
    requestId: flags.requestId,
    resendOf: flags.resendOf,
  };
  const json = flags.json === true;
  if (flags.dryRun) return printDryRun(await commands.dryRun(submission), json);
  const submitted = await commands.submit(submission);
  if (submitted.kind === 'repeatRefused') {
    process.stderr.write(
      'Nothing was sent: the same call ended a short while ago in a way that may not be repeated blindly. ' +
        `What it did is below. To send anyway: --resend-of ${submitted.commandId}\n`,
    );
    await watchCommand(open, submitted.commandId, { json });
    process.exitCode = EXIT.endedBadly;
    return;
  }
  if (submitted.kind === 'joined')
    process.stderr.write(`The same command is under way already: ${submitted.commandId}\n`);
  if (flags.wait) return watchCommand(open, submitted.commandId, { json });
  const snapshot = await commands.wait(submitted.commandId, VIEWER, {
    timeoutMs: GATE_DECIDES_WITHIN_MS,
    until: ({ status, view }) => status !== 'running' || view.phase !== 'waiting_for_turn',
  });
  if (json && snapshot) return printSnapshotJson(snapshot, open.engine);
  const state = snapshot ? commandLine(snapshot, fieldsOf(open.catalogue, snapshot.view.device)) : '';
  process.stdout.write(
    `accepted  ${submitted.commandId}  ${state}\nTo see what it does: readback commands watch ${submitted.commandId}\n`,
  );
}

/** So long is waited for the gate: whoever sends wants to know at once that somebody has to approve it. */
const GATE_DECIDES_WITHIN_MS = 1500;

function printDryRun(dryRun: DryRun, json: boolean): void {
  if (json) {
    process.stdout.write(`${JSON.stringify(dryRun)}\n`);
    return;
  }
  const { state } = dryRun;
  const lines = [
    `Nothing was sent. ${dryRun.device} reads: ${state.trouble ?? readingsText(state.fields, state.fields)}`,
    ...wouldSend(dryRun),
    approvalText(dryRun.approval),
  ];
  process.stdout.write(`${lines.join('\n')}\n`);
}

function wouldSend({ already, objection, requests }: DryRun): string[] {
  if (objection !== null) return [`Nothing would be sent: ${objection}`];
  if (already) return ['It already is as desired: nothing would be sent.'];
  return ['Would be sent:', ...requests.map(requestLine)];
}

function approvalText(approval: DryRun['approval']): string {
  if (!approval) return 'Needs no approval.';
  const who = approval.by === 'operator' ? 'an operator' : 'the requester';
  return `Needs a yes from ${who}${approval.reason === null ? '' : `: ${approval.reason}`}.`;
}

function requestLine({ method, url, body }: DryRun['requests'][number]): string {
  return `  ${method} ${url}${body === null ? '' : ` ${JSON.stringify(body)}`}`;
}

const HELP = `
Ctrl-C stops the watching, never the command.

Examples:
  $ readback send bedroom-ac temperature=26 --wait
  $ readback send bedroom-ac mode=cool temperature=24 --dry-run
  $ readback send "Bedroom AC" power=off --request-id bedtime-monday --json
`;
