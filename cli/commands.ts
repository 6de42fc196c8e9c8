/** `readback commands`: what was asked of devices, and what became of it. */
import type { Command } from 'commander';
import type { CommandSnapshot } from '../commands/commands.ts';
import type { Catalogue } from '../domain/catalogue/definition.ts';
import { desiredInWords } from '../domain/text.ts';
import { addEngineFlags, count, type EngineFlags, flag } from './flags.ts';
import { type OpenCommands, VIEWER, withCommands } from './open-commands.ts';
import { commandLine, fieldsOf } from './snapshot-text.ts';
import { printEnd, printSnapshotJson, snapshotsAsJson, unknownCommand, watchCommand } from './watch.ts';

interface ListFlags extends EngineFlags {
  readonly device?: string;
  readonly open?: true;
  readonly limit: number;
}

export function addCommands(program: Command): void {
  const commands = program
    .command('commands')
    .description('List, show, watch and cancel commands.')
    .addHelpText('after', HELP);
  const listing = commands
    .command('list')
    .description('The newest commands of everybody.')
    .addOption(flag('--device <id>', 'only those on this device'))
    .addOption(flag('--open', 'only those that have not ended'))
    .addOption(flag('--limit <number>', 'at most so many').default(20).argParser(count))
    .action(withCommands<[], ListFlags>(list));
  const one = (name: string, description: string) =>
    commands.command(name).argument('<commandId>', "the command's id").description(description);
  const getting = one('get', 'What one command did, or is doing.').action(
    withCommands<[string], EngineFlags>(get),
  );
  const watching = one('watch', 'Show what happens until the command has ended.').action(
    withCommands<[string], EngineFlags>(watch),
  );
  const cancelling = one('cancel', 'Stop a command. What has been sent is not undone.').action(
    withCommands<[string], EngineFlags>(cancel),
  );
  for (const command of [listing, getting, watching, cancelling]) addEngineFlags(command);
}

async function list({ commands, engine, catalogue }: OpenCommands, flags: ListFlags): Promise<void> {
  const snapshots = await commands.list(VIEWER, {
    limit: flags.limit,
    openOnly: flags.open === true,
    ...(flags.device === undefined ? {} : { device: flags.device }),
  });
  if (flags.json) {
    process.stdout.write(`${JSON.stringify({ commands: await snapshotsAsJson(snapshots, engine) })}\n`);
    return;
  }
  const lines =
    snapshots.length === 0 ? ['No commands.'] : snapshots.map((snapshot) => listLine(snapshot, catalogue));
  process.stdout.write(`${lines.join('\n')}\n`);
}

async function get(
  { commands, engine, catalogue }: OpenCommands,
  flags: EngineFlags,
  commandId: string,
): Promise<void> {
  const snapshot = await commands.get(commandId, VIEWER);
  if (!snapshot) throw unknownCommand(commandId);
  if (snapshot.status !== 'running') return printEnd(snapshot, engine, flags.json === true);
  if (flags.json) return printSnapshotJson(snapshot, engine);
  process.stdout.write(`${listLine(snapshot, catalogue)}\n`);
}

async function watch(open: OpenCommands, flags: EngineFlags, commandId: string): Promise<void> {
  await watchCommand(open, commandId, { json: flags.json === true });
}

async function cancel(
  { commands, engine, catalogue }: OpenCommands,
  flags: EngineFlags,
  commandId: string,
): Promise<void> {
  if (!(await commands.cancel(commandId, VIEWER))) throw unknownCommand(commandId);
  const snapshot = await commands.wait(commandId, VIEWER, { timeoutMs: 5_000 });
  if (!snapshot) throw unknownCommand(commandId);
  if (flags.json) return printSnapshotJson(snapshot, engine);
  process.stdout.write(`${listLine(snapshot, catalogue)}\n`);
}

function listLine(snapshot: CommandSnapshot, catalogue: Catalogue): string {
  const at = new Date(snapshot.createdAt).toISOString().slice(0, 19).replace('T', ' ');
  const { device } = snapshot.view;
  const fields = fieldsOf(catalogue, device);
  return `${snapshot.commandId}  ${at}Z  ${device}: ${desiredInWords(snapshot.view)}  ${commandLine(snapshot, fields)}`;
}

const HELP = `
Examples:
  $ readback commands list --open
  $ readback commands get ID          exit code 1 if it ended badly
  $ readback commands watch ID
  $ readback commands cancel ID
`;
