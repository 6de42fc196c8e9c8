/** Where the output of one process goes: all of it into its file, what a person should see to stderr. */
import { appendFileSync, renameSync, statSync } from 'node:fs';
import { join } from 'node:path';

/** One older file is kept, so a log takes at most twice this. */
const ROTATE_AT_BYTES = 10_000_000;
const WARN = 40;
const LINES_KEPT = 8;

export interface PartLog {
  readonly file: string;
  write(chunk: string): void;
  /** The last few lines, for telling why the process ended. */
  lastLines(): readonly string[];
}

/** `onWarning` gets the text of each line that is a pino record of level warn or above. */
export function createPartLog(dataDir: string, name: string, onWarning: (text: string) => void): PartLog {
  const file = join(dataDir, 'logs', `${name}.log`);
  let size = sizeOf(file);
  let rest = '';
  const last: string[] = [];

  const writeLine = (line: string): void => {
    if (size > ROTATE_AT_BYTES) {
      renameSync(file, `${file}.1`);
      size = 0;
    }
    appendFileSync(file, `${line}\n`);
    size += Buffer.byteLength(line) + 1;
    const { level, text } = readRecord(line);
    last.push(text);
    if (last.length > LINES_KEPT) last.shift();
    if (level >= WARN) onWarning(text);
  };

  return {
    file,
    write(chunk) {
      const lines = (rest + chunk).split('\n');
      rest = lines.pop() ?? '';
      for (const line of lines) if (line.trim() !== '') writeLine(line);
    },
    lastLines: () => (rest.trim() === '' ? last : [...last, rest]),
  };
}

/** A line of pino (numeric level), or anything else, which is level 0. */
function readRecord(line: string): { level: number; text: string } {
  if (!line.startsWith('{')) return { level: 0, text: line };
  try {
    const record = JSON.parse(line) as { level?: unknown; msg?: unknown; err?: { message?: unknown } };
    const reason = typeof record.err?.message === 'string' ? `: ${record.err.message}` : '';
    const level = typeof record.level === 'number' ? record.level : 0;
    return { level, text: typeof record.msg === 'string' ? `${record.msg}${reason}` : line };
  } catch {
    return { level: 0, text: line };
  }
}

function sizeOf(file: string): number {
  return statSync(file, { throwIfNoEntry: false })?.size ?? 0;
}
