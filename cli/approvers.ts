/** `readback approvers`: who may decide what operators have to approve. */
import { type Command, Option } from 'commander';
import { subjectAt } from '../domain/approval/person.ts';
import { plain } from '../domain/text.ts';
import { approversOf } from './approvers-file.ts';
import { EXIT, Failure } from './failure.ts';
import {
  type ApproversFlags,
  type AuthFlags,
  addApproversFlags,
  addJsonFlag,
  issuerFlag,
  type JsonFlag,
} from './flags.ts';

type Flags = ApproversFlags & JsonFlag;
type AddFlags = Flags & Pick<AuthFlags, 'authIssuer'> & { readonly subject?: string };

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
  adding
    .addOption(
      new Option('--subject <subject>', 'who they are to the issuer, if they sign in to the console there'),
    )
    .addOption(issuerFlag());
  for (const command of [adding, listing, removing]) addApproversFlags(addJsonFlag(command));
}

function add(name: string, flags: AddFlags): void {
  const subject = subjectOf(flags);
  const approvers = approversOf(flags, { forWriting: true });
  const secret = approvers.add(name, subject);
  if (flags.json) {
    process.stdout.write(`${JSON.stringify({ name, subject, secret, file: approvers.file })}\n`);
    return;
  }
  process.stdout.write(
    `${name} may approve from now on. Their secret, which is shown this once and kept nowhere:\n\n` +
      `  ${secret}\n\n` +
      `They sign in to the console with it, or type it when \`readback approvals approve\` asks.\n${
        subject === null ? '' : `In the console they may as well sign in at the issuer, as ${subject}.\n`
      }`,
  );
}

/** The issuer belongs to it: the next issuer may mean somebody else by the same word. */
function subjectOf({ subject, authIssuer }: AddFlags): string | null {
  if (subject === undefined) return null;
  if (authIssuer === undefined)
    throw new Failure(
      EXIT.usage,
      'Whose subject that is, only an issuer can tell: say which with --auth-issuer. Nobody was added.',
    );
  return subjectAt(authIssuer, subject);
}

function list(flags: Flags): void {
  const people = approversOf(flags)
    .list()
    .map(({ name, addedAt, subject }) => ({ name, addedAt, subject }));
  if (flags.json) {
    process.stdout.write(`${JSON.stringify({ approvers: people })}\n`);
    return;
  }
  const lines = people.map(
    ({ name, addedAt, subject }) =>
      `${plain(name, 64)}  since ${addedAt.slice(0, 10)}${subject === null ? '' : `  signs in as ${plain(subject, 300)}`}`,
  );
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
  $ readback approvers add "Ben Ng" --subject 24c1f0 --auth-issuer https://login.example.com/realms/home
  $ readback approvers remove "Ann Smith"
`;
