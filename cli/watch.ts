/** Shows live what happens to a command, until it ends or the person has seen enough. */
import { type CommandSnapshot, EngineUnreachable } from '../commands/commands.ts';
import { endedWell } from '../domain/outcome.ts';
import { EXIT, Failure } from './failure.ts';
import { type OpenCommands, VIEWER } from './open-commands.ts';
import type { Engine } from './running-up.ts';
import { commandLine, endLines, fieldsOf } from './snapshot-text.ts';

/** Temporal pushes changes of a command at once, but not the readings in between: those are looked for this often. */
const LOOK_EVERY_MS = 1_000;
/** Temporal restarted is back in seconds; away for longer, something is wrong. */
const BACK_WITHIN_MS = 60_000;

/**
 * Prints a line whenever something has changed, and the outcome at the end; with `json` one object at the end.
 * Sets the exit code: 0 as asked, 1 ended badly, 130 when Ctrl-C ended the watching (the command goes on).
 */
export async function watchCommand(
  open: OpenCommands,
  commandId: string,
  { json }: { readonly json: boolean },
): Promise<void> {
  const stopped = new AbortController();
  const stop = (): void => stopped.abort();
  process.once('SIGINT', stop);
  let last: CommandSnapshot | undefined;
  for await (const snapshot of changes(open, commandId, stopped.signal)) {
    last = snapshot;
    if (!json && snapshot.status === 'running')
      process.stdout.write(`${elapsed(snapshot)}  ${line(open, snapshot)}\n`);
  }
  process.off('SIGINT', stop);
  if (!last) throw unknownCommand(commandId);
  if (last.status === 'running') return stoppedWatching(last, open.engine, json);
  await printEnd(last, open.engine, json);
}

/** A snapshot for everything new, up to the end of the command, or to `signal`. Goes on over a restart of Temporal. */
export async function* changes(
  open: OpenCommands,
  commandId: string,
  signal: AbortSignal,
): AsyncGenerator<CommandSnapshot> {
  let shown = '';
  let snapshot = await open.commands.get(commandId, VIEWER);
  let answeredAt = Date.now();
  const until = (next: CommandSnapshot): boolean => next.status !== 'running' || line(open, next) !== shown;
  for (; snapshot; ) {
    if (until(snapshot)) yield snapshot;
    if (snapshot.status !== 'running' || signal.aborted) return;
    shown = line(open, snapshot);
    try {
      snapshot = await open.commands.wait(commandId, VIEWER, { timeoutMs: LOOK_EVERY_MS, signal, until });
      answeredAt = Date.now();
    } catch (error) {
      if (!(error instanceof EngineUnreachable) || Date.now() - answeredAt > BACK_WITHIN_MS) throw error;
      await new Promise((wake) => setTimeout(wake, LOOK_EVERY_MS));
    }
  }
}

const line = ({ catalogue }: OpenCommands, snapshot: CommandSnapshot): string =>
  commandLine(snapshot, fieldsOf(catalogue, snapshot.view.device));

export function unknownCommand(commandId: string): Failure {
  return new Failure(
    EXIT.usage,
    `There is no command "${commandId}", or it ended longer ago than Temporal keeps it. \`readback commands list\` shows those there are.`,
  );
}

/** Prints an ended command and sets the exit code. */
export async function printEnd(snapshot: CommandSnapshot, engine: Engine, json: boolean): Promise<void> {
  if (json) await printSnapshotJson(snapshot, engine);
  else process.stdout.write(`${endLines(snapshot).join('\n')}\n`);
  const outcome = snapshot.view.result?.outcome;
  process.exitCode = outcome && endedWell(outcome) ? EXIT.asAsked : EXIT.endedBadly;
}

export async function printSnapshotJson(snapshot: CommandSnapshot, engine: Engine): Promise<void> {
  process.stdout.write(`${JSON.stringify((await snapshotsAsJson([snapshot], engine))[0])}\n`);
}

/** The same objects that agents get. */
export async function snapshotsAsJson(
  snapshots: readonly CommandSnapshot[],
  { consoleUrl }: Engine,
): Promise<readonly object[]> {
  const [{ structuredContent }, { DEFAULT_OPTIONS }] = await Promise.all([
    import('../mcp-server/structured-content.ts'),
    import('../mcp-server/options.ts'),
  ]);
  const now = Date.now();
  return snapshots.map((snapshot) => structuredContent(snapshot, now, { ...DEFAULT_OPTIONS, consoleUrl }));
}

async function stoppedWatching(snapshot: CommandSnapshot, engine: Engine, json: boolean): Promise<void> {
  if (json) await printSnapshotJson(snapshot, engine);
  const id = snapshot.commandId;
  process.stderr.write(
    `\nNo longer watching; the command goes on by itself.\n` +
      `  readback commands watch ${id}     to watch it again\n` +
      `  readback commands cancel ${id}    to stop it\n`,
  );
  process.exitCode = EXIT.watchedNoMore;
}

function elapsed({ createdAt }: CommandSnapshot): string {
  return `${(Math.max(0, Date.now() - createdAt) / 1000).toFixed(1)} s`.padStart(8);
}
