/** `readback approvers`: who may decide what operators have to approve. */
import type { Command } from 'commander';
import { plain } from '../domain/text.ts';
import { approversOf } from './approvers-file.ts';
import { EXIT, Failure } from './failure.ts';
import { type ApproversFlags, addApproversFlags, addJsonFlag, type JsonFlag } from './flags.ts';

type Flags = ApproversFlags & JsonFlag;

export function addApprovers(program: Command): void {
  const approvers = program
    .command('approvers')
    .description('Add, list and remove those who may approve.')
    .addHelpText('after', HELP);
  const adding = approvers
    .command('add')
    .argument('<name>', 'the person, as decisions will name them')
    .description('Add a person, and show their secret once.')
    .action(add);
  const listing = approvers.command('list').description('Who may approve.').action(list);
  const removing = approvers
    .command('remove')
    .argument('<name>', 'as the list shows it')
    .description('Remove a person: their secret and their sessions count no more.')
    .action(remove);
  for (const command of [adding, listing, removing]) addApproversFlags(addJsonFlag(command));
}

function add(name: string, flags: Flags): void {
  const approvers = approversOf(flags, { forWriting: true });
  const secret = approvers.add(name);
  if (flags.json) {
    process.stdout.write(`${JSON.stringify({ name, secret, file: approvers.file })}\n`);
    return;
  }
  process.stdout.write(
    `${name} may approve from now on. Their secret, which is shown this once and kept nowhere:\n\n` +
      `  ${secret}\n\n` +
      `They sign in to the console with it, or type it when \`readback approvals approve\` asks.\n`,
  );
}

function list(flags: Flags): void {
  const people = approversOf(flags)
    .list()
    .map(({ name, addedAt }) => ({ name, addedAt }));
  if (flags.json) {
    process.stdout.write(`${JSON.stringify({ approvers: people })}\n`);
    return;
  }
  const lines = people.map(({ name, addedAt }) => `${plain(name, 64)}  since ${addedAt.slice(0, 10)}`);
  process.stdout.write(`${lines.length === 0 ? 'There are no approvers.' : lines.join('\n')}\n`);
}

function remove(name: string, flags: Flags): void {
  if (!approversOf(flags, { forWriting: true }).remove(name))
    throw new Failure(
      EXIT.usage,
      `There is no approver "${plain(name, 64)}". \`readback approvers list\` shows them.`,
    );
  process.stdout.write(
    flags.json ? `${JSON.stringify({ removed: name })}\n` : `${name} may not approve any more.\n`,
  );
}

const HELP = `
An approver is a person, not a program: whoever asks for a command can never approve it under the same name.
Kept are a name and a hash of the secret, in approvers.json in the data folder, or in the file of --approvers.

Examples:
  $ readback approvers add "Ann Smith"
  $ readback approvers remove "Ann Smith"
`;
