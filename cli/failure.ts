/** How commands of the command line end: as asked (0), badly (1), misused (2), without Temporal (3), or no longer watched (130). */
import { CommanderError } from 'commander';

export const EXIT = {
  asAsked: 0,
  endedBadly: 1,
  usage: 2,
  noTemporal: 3,
  /** Ctrl-C ended the watching, not the command. As shells say it. */
  watchedNoMore: 130,
} as const;
export type ExitCode = (typeof EXIT)[keyof typeof EXIT];

/** Something the person at the terminal can mend. `message` says what happened, to what, and what to do next. */
export class Failure extends Error {
  override readonly name = 'Failure';
  readonly exitCode: ExitCode;

  constructor(exitCode: ExitCode, message: string, cause?: unknown) {
    super(message, { cause });
    this.exitCode = exitCode;
  }
}

/** Errors of other parts, told apart by name so that nothing heavy is loaded just to end. */
const EXIT_OF_ERROR: Readonly<Record<string, ExitCode>> = {
  InputError: EXIT.usage,
  CatalogueError: EXIT.usage,
  EngineUnreachable: EXIT.noTemporal,
};

/** Says on stderr what went wrong (with `--json` on stdout too, as one line) and returns the exit code. Stack traces only with READBACK_DEBUG. */
export function tellFailure(error: unknown, json: boolean): number {
  // Commander has printed its own message, or the help that was asked for.
  if (error instanceof CommanderError) return error.exitCode === 0 ? EXIT.asAsked : EXIT.usage;
  const message = error instanceof Error ? error.message : String(error);
  const exitCode = exitCodeOf(error);
  if (json) process.stdout.write(`${JSON.stringify({ error: message, exitCode })}\n`);
  process.stderr.write(`${message}\n`);
  if (process.env.READBACK_DEBUG && error instanceof Error) process.stderr.write(`${error.stack}\n`);
  return exitCode;
}

function exitCodeOf(error: unknown): ExitCode {
  if (error instanceof Failure) return error.exitCode;
  return (error instanceof Error ? EXIT_OF_ERROR[error.name] : undefined) ?? EXIT.endedBadly;
}
