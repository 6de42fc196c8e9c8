/** `readback audit`: who had which device do what, for those who have to prove it. */
import { existsSync } from 'node:fs';
import { open, rename, rm } from 'node:fs/promises';
import type { Writable } from 'node:stream';
import { Readable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import { type Command, InvalidArgumentError } from 'commander';
import type { AuditExport } from '../commands/audit.ts';
import { harmlessJson } from '../domain/harmless-json.ts';
import { formatDuration } from '../domain/text.ts';
import { EXIT, Failure } from './failure.ts';
import { addEngineFlags, type EngineFlags, flag } from './flags.ts';
import { type OpenCommands, withCommands } from './open-commands.ts';

interface ExportFlags extends EngineFlags {
  readonly since?: number;
  readonly until?: number;
  readonly device?: string;
  readonly output?: string;
}

export function addAudit(program: Command): void {
  const exporting = program
    .command('audit')
    .description('What was asked, decided, sent and seen, as records.')
    .command('export')
    .description('Every acceptance, decision, send and end, one JSON object a line.')
    .addHelpText('after', HELP)
    .addOption(flag('--since <time>', 'from this moment on (default: all that is kept)').argParser(moment))
    .addOption(
      flag('--until <time>', 'before this moment (default: until ten seconds ago)').argParser(moment),
    )
    .addOption(flag('--device <id>', 'only commands on this device'))
    .addOption(flag('--output <file>', 'write to this file, which must not be there yet (default: stdout)'))
    .action(withCommands<[], ExportFlags>(exportAudit));
  addEngineFlags(exporting);
}

/** Epoch ms. A time of day without its time zone would mean another moment on another machine. */
function moment(text: string): number {
  const at = /^\d{4}-\d\d-\d\d(T\d\d:\d\d(:\d\d(\.\d{1,3})?)?(Z|[+-]\d\d:\d\d))?$/.test(text)
    ? Date.parse(text)
    : Number.NaN;
  if (Number.isNaN(at))
    throw new InvalidArgumentError(
      'A time looks like 2026-11-30 (midnight UTC), 2026-11-30T08:00:00Z or 2026-11-30T09:00+01:00.',
    );
  return at;
}

async function exportAudit({ commands }: OpenCommands, flags: ExportFlags): Promise<void> {
  const { since = null, until = null, device, output, json = false } = flags;
  const found = await commands.audit({ since, until, device });
  const progress = startProgress(found.commands);
  let records = 0;
  async function* lines(): AsyncGenerator<string, void> {
    for await (const record of found.records(progress.step)) {
      records += 1;
      yield `${harmlessJson(record)}\n`;
    }
  }
  try {
    if (output === undefined) await writeTo(process.stdout, lines());
    else await writeFile(output, lines());
  } finally {
    progress.end();
  }
  const summary = summaryOf(found, records, device);
  // Where records go to stdout, nothing else does.
  const out = output === undefined ? process.stderr : process.stdout;
  if (json) out.write(`${JSON.stringify(summary)}\n`);
  else process.stderr.write(`${inWords(summary, found, output).join('\n')}\n`);
}

const writeTo = (stream: Writable, lines: AsyncIterable<string>): Promise<void> =>
  pipeline(Readable.from(lines), stream, { end: false });

/** Nothing stands under the file's own name until all of it is there. */
async function writeFile(file: string, lines: AsyncIterable<string>): Promise<void> {
  const draft = `${file}.part`;
  if (existsSync(file))
    throw new Failure(
      EXIT.usage,
      `${file} is there already, and an audit replaces nothing. Give another --output.`,
    );
  // Who asked for what is nobody else's business.
  const handle = await open(draft, 'wx', 0o600).catch((error: NodeJS.ErrnoException) => {
    const why =
      error.code === 'EEXIST' ? 'another export writes it, or was broken off: then remove it' : error.code;
    throw new Failure(EXIT.usage, `${draft} can't be written (${why}). Nothing was exported.`, error);
  });
  try {
    await pipeline(Readable.from(lines), handle.createWriteStream());
    await rename(draft, file);
  } catch (error) {
    await rm(draft, { force: true });
    throw error;
  }
}

interface Summary {
  readonly records: number;
  readonly commands: number;
  readonly device: string | null;
  readonly since: string | null;
  readonly until: string;
  /** When the oldest command ended that Temporal still knows, and until when it is kept. */
  readonly oldestEnd: string | null;
  readonly oldestKeptUntil: string | null;
  /** When the next export has to be made at the latest, so that it joins this one without a gap. */
  readonly nextExportBefore: string;
}

function summaryOf(found: AuditExport, records: number, device: string | undefined): Summary {
  const { since, until, commands, retentionMs, oldestEndAt } = found;
  const iso = (at: number | null): string | null => (at === null ? null : new Date(at).toISOString());
  return {
    records,
    commands,
    device: device ?? null,
    since: iso(since),
    until: new Date(until).toISOString(),
    oldestEnd: iso(oldestEndAt),
    oldestKeptUntil: iso(oldestEndAt === null ? null : oldestEndAt + retentionMs),
    nextExportBefore: new Date(until + retentionMs).toISOString(),
  };
}

function inWords(
  summary: Summary,
  { since, retentionMs }: AuditExport,
  output: string | undefined,
): string[] {
  const { records, commands, until, oldestEnd, oldestKeptUntil, nextExportBefore } = summary;
  const where = output === undefined ? '' : ` in ${output}`;
  const kept = formatDuration(retentionMs);
  const gone = since !== null && since < Date.now() - retentionMs;
  return [
    `${counted(records, 'record')} of ${counted(commands, 'command')}${where}, ${summary.since ?? 'all that is kept'} to ${until}.`,
    ...(gone
      ? [`Temporal keeps a command for ${kept} after its end: of this range not everything is left.`]
      : []),
    oldestEnd === null
      ? `Temporal keeps a command for ${kept} after its end; none has ended yet.`
      : `The oldest history is of a command that ended at ${oldestEnd}; it is kept until ${oldestKeptUntil}.`,
    `Go on with --since ${until}, before ${nextExportBefore}: then nothing is missed.`,
  ];
}

const counted = (count: number, what: string): string => `${count} ${what}${count === 1 ? '' : 's'}`;

const PROGRESS_EVERY_MS = 2000;

/** Short exports say nothing. */
function startProgress(total: number): { step(): void; end(): void } {
  let read = 0;
  const timer = setInterval(() => process.stderr.write(`${read} of ${total} commands\n`), PROGRESS_EVERY_MS);
  return { step: () => (read += 1), end: () => clearInterval(timer) };
}

const HELP = `
Records are made from the commands' histories in Temporal, which are kept for some days after a command has ended; it is
said on stderr for how long. The same range always gives the same lines, and ranges that join leave no gap and no double.

Examples:
  $ readback audit export --output audit-all.jsonl
  $ readback audit export --since 2026-11-30 --until 2026-12-01 --output audit-2026-11-30.jsonl
  $ readback audit export --device front-door | jq 'select(.kind == "decision")'
`;
