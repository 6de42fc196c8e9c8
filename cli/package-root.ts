import { readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';

/** A path inside the installed package. */
export const packageFile = (path: string): string => fileURLToPath(new URL(`../${path}`, import.meta.url));

export const packageVersion = (): string =>
  (JSON.parse(readFileSync(packageFile('package.json'), 'utf8')) as { version: string }).version;
