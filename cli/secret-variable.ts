/** A secret from the environment: itself, or the file that has it. Never an argument, which others could read. */
import { readFileSync } from 'node:fs';
import { EXIT, Failure } from './failure.ts';

/** `name`, else what is in the file that `name`_FILE names; null: neither is set. Throws a `Failure` where it can't be read. */
export function secretVariable(name: `READBACK_${string}`): string | null {
  const given = process.env[name];
  if (given) return given;
  const file = process.env[`${name}_FILE`];
  if (!file) return null;
  try {
    return readFileSync(file, 'utf8').trim();
  } catch (error) {
    const why = (error as NodeJS.ErrnoException).code ?? String(error);
    throw new Failure(EXIT.usage, `${name}_FILE ${file} can't be read (${why}).`, error);
  }
}
