/** Where the output of one process goes: all of it into its file, what a person should see to stderr. */
import { appendFileSync, renameSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { plain } from '../../domain/text.ts';

/** One older file is kept, so a log takes at most twice this. */
const ROTATE_AT_BYTES = 10_000_000;
const WARN = 40;
const ERROR = 50;
const LINES_KEPT = 8;
const LONGEST_REASON = 500;

export interface PartLog {
  readonly file: string;
  write(chunk: string): void;
  /** The last few errors, else the last few lines: for telling why the process ended. */
  lastLines(): readonly string[];
}

/** `onWarning` gets the text of each line that is a pino record of level warn or above. */
export function createPartLog(dataDir: string, name: string, onWarning: (text: string) => void): PartLog {
  const file = join(dataDir, 'logs', `${name}.log`);
  let size = sizeOf(file);
  let rest = '';
  let last: string[] = [];
  let errors: string[] = [];

  const writeLine = (line: string): void => {
    if (size > ROTATE_AT_BYTES) {
      renameSync(file, `${file}.1`);
      size = 0;
    }
    appendFileSync(file, `${line}\n`);
    size += Buffer.byteLength(line) + 1;
    const { level, text } = readRecord(line);
    last = [...last, text].slice(-LINES_KEPT);
    if (level >= ERROR) errors = [...errors, text].slice(-LINES_KEPT);
    if (level >= WARN) onWarning(text);
  };

  return {
    file,
    write(chunk) {
      const lines = (rest + chunk).split('\n');
      rest = lines.pop() ?? '';
      for (const line of lines) if (line.trim() !== '') writeLine(line);
    },
    lastLines: () => (errors.length > 0 ? errors : rest.trim() === '' ? last : [...last, rest]),
  };
}

/** A line of pino (numeric level) or of Temporal (level in words, reason under `error`); anything else is level 0. */
function readRecord(line: string): { level: number; text: string } {
  if (!line.startsWith('{')) return { level: 0, text: line };
  try {
    const { level, msg, err, error } = JSON.parse(line) as {
      level?: number | string;
      msg?: string;
      err?: { message?: string };
      error?: string;
    };
    // A reason may quote a request, and so be of a stranger's words: a terminal must not obey them, nor be flooded.
    const reasons = [err?.message ?? error]
      .filter((part) => typeof part === 'string')
      .map((part) => plain(part, LONGEST_REASON));
    const text = msg === undefined ? line : [msg, ...reasons].join(': ');
    return { level: typeof level === 'number' ? level : level === 'ERROR' ? ERROR : 0, text };
  } catch {
    return { level: 0, text: line };
  }
}

function sizeOf(file: string): number {
  return statSync(file, { throwIfNoEntry: false })?.size ?? 0;
}
