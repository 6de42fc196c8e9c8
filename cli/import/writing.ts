/** Puts a catalogue in the place of the one that was read: all of it or nothing, and never over somebody else's change. */
import { randomBytes } from 'node:crypto';
import { existsSync, realpathSync, statSync } from 'node:fs';
import { open, readFile, rename, rm } from 'node:fs/promises';
import { basename, dirname, join } from 'node:path';
import { EXIT, Failure } from '../failure.ts';

/** `before` is what was read; empty: there was no file. */
export async function replaceCatalogue(file: string, before: string, after: string): Promise<void> {
  const isThere = existsSync(file);
  // A link stays one.
  const place = isThere ? realpathSync(file) : file;
  const draft = join(dirname(place), `.${basename(place)}.${randomBytes(6).toString('hex')}`);
  try {
    const handle = await open(draft, 'wx', isThere ? statSync(place).mode & 0o777 : 0o644);
    try {
      await handle.writeFile(after);
      await handle.sync();
    } finally {
      await handle.close();
    }
    const now = isThere ? await readFile(place, 'utf8') : '';
    if (now !== before || existsSync(file) !== isThere)
      throw new Failure(EXIT.endedBadly, `${file} was changed meanwhile. Nothing was written: import again.`);
    await rename(draft, place);
  } catch (error) {
    await rm(draft, { force: true });
    if (error instanceof Failure) throw error;
    const code = error instanceof Error && 'code' in error ? String(error.code) : 'unknown error';
    throw new Failure(EXIT.endedBadly, `${file} can't be written (${code}). It is as it was.`, error);
  }
}
