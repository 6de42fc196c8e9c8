/** Shows live what happens to a command, until it ends or the person has seen enough. */
import type { CommandSnapshot, Commands } from '../commands/commands.ts';
import { EXIT, Failure } from './failure.ts';
import { VIEWER } from './open-commands.ts';
import { commandLine, endLines } from './snapshot-text.ts';

/** How long one look waits for news before it looks again. */
const LOOK_MS = 30_000;
/** As shells say it: ended by Ctrl-C. */
const INTERRUPTED = 130;

/** Of outcomes: is it what was asked for? */
const AS_ASKED: readonly string[] = ['verified', 'already', 'unverifiable'];

export interface WatchOptions {
  readonly json: boolean;
  /** How the device is called where its command is worked on: `--json` prints only the end. */
  readonly write?: (text: string) => void;
}

/**
 * Prints a line whenever something has changed, and the outcome at the end; with `json` one object at the end.
 * Sets the exit code: 0 as asked, 1 ended badly, 130 when Ctrl-C ended the watching (the command goes on).
 */
export async function watchCommand(
  commands: Commands,
  commandId: string,
  { json }: WatchOptions,
): Promise<void> {
  const stopped = new AbortController();
  const stop = (): void => stopped.abort();
  process.once('SIGINT', stop);
  let shown = '';
  let snapshot = await commands.get(commandId, VIEWER);
  for (; snapshot && !stopped.signal.aborted; ) {
    const line = commandLine(snapshot);
    if (!json && line !== shown && snapshot.status === 'running')
      process.stdout.write(`${elapsed(snapshot)}  ${line}\n`);
    shown = line;
    if (snapshot.status !== 'running') break;
    const until = (next: CommandSnapshot): boolean =>
      next.status !== 'running' || commandLine(next) !== shown;
    snapshot = await commands.wait(commandId, VIEWER, { timeoutMs: LOOK_MS, signal: stopped.signal, until });
  }
  process.off('SIGINT', stop);
  if (!snapshot) throw unknownCommand(commandId);
  if (snapshot.status === 'running') return stoppedWatching(snapshot, json);
  await printEnd(snapshot, json);
}

export function unknownCommand(commandId: string): Failure {
  return new Failure(
    EXIT.usage,
    `There is no command "${commandId}", or it ended longer ago than Temporal keeps it. \`readback commands list\` shows those there are.`,
  );
}

/** Prints an ended command and sets the exit code. */
export async function printEnd(snapshot: CommandSnapshot, json: boolean): Promise<void> {
  if (json) await printSnapshotJson(snapshot);
  else process.stdout.write(`${endLines(snapshot).join('\n')}\n`);
  process.exitCode = AS_ASKED.includes(snapshot.view.result?.outcome ?? '') ? EXIT.asAsked : EXIT.endedBadly;
}

/** The same object that agents get. */
export async function printSnapshotJson(snapshot: CommandSnapshot): Promise<void> {
  const { structuredContent } = await import('../mcp-server/structured-content.ts');
  process.stdout.write(`${JSON.stringify(structuredContent(snapshot, Date.now()))}\n`);
}

async function stoppedWatching(snapshot: CommandSnapshot, json: boolean): Promise<void> {
  if (json) await printSnapshotJson(snapshot);
  const id = snapshot.commandId;
  process.stderr.write(
    `\nNo longer watching; the command goes on by itself.\n` +
      `  readback commands watch ${id}     to watch it again\n` +
      `  readback commands cancel ${id}    to stop it\n`,
  );
  process.exitCode = INTERRUPTED;
}

function elapsed({ createdAt }: CommandSnapshot): string {
  return `${(Math.max(0, Date.now() - createdAt) / 1000).toFixed(1)} s`.padStart(8);
}
