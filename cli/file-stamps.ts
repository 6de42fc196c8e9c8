/** Telling whether files have changed by their status alone: cheap, and true however they were changed. */
import { stat } from 'node:fs/promises';

/** Another text once the file at `path` was written, replaced by another, removed, or came to be. A pipe never changes. */
export async function stampOf(path: string): Promise<string> {
  try {
    const found = await stat(path, { bigint: true });
    if (!found.isFile()) return 'no file';
    return [found.dev, found.ino, found.size, found.mtimeNs, found.ctimeNs].join(' ');
  } catch (error) {
    return error instanceof Error && 'code' in error ? String(error.code) : String(error);
  }
}

/** Which of these have another stamp than they had, and what it is; empty: none. */
export async function changedSince(stamps: ReadonlyMap<string, string>): Promise<string> {
  const now = await Promise.all([...stamps.keys()].map(async (path) => [path, await stampOf(path)] as const));
  return now
    .filter(([path, stamp]) => stamps.get(path) !== stamp)
    .map((one) => one.join(' '))
    .join('\n');
}
