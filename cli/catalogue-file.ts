/** Which catalogue counts, and reading it. */
import { existsSync, readFileSync } from 'node:fs';
import { relative, resolve } from 'node:path';
import type { Catalogue } from '../domain/catalogue/definition.ts';
import { loadCatalogue } from '../domain/catalogue/load.ts';
import { formatProblem } from '../domain/catalogue/problems.ts';
import { EXIT, Failure } from './failure.ts';
import { packageFile } from './package-root.ts';

/** The one that was asked for, else `./readback.yaml`, else the demo that comes with Readback. An absolute path. */
export function catalogueFile(asked: string | undefined): string {
  if (asked !== undefined) {
    if (!existsSync(asked))
      throw new Failure(EXIT.usage, `There is no catalogue at ${resolve(asked)}. Nothing was started.`);
    return resolve(asked);
  }
  const own = resolve('readback.yaml');
  return existsSync(own) ? own : packageFile('examples/demo.yaml');
}

/**
 * Where `simulator:` leads is `simulatorUrl`. Throws a `Failure` that lists every problem of the file at once;
 * what is odd but not wrong is told to `warn`.
 */
export async function readCatalogue(
  file: string,
  simulatorUrl: string | null,
  warn: (text: string) => void = () => {},
): Promise<Catalogue> {
  const loaded = await loadCatalogue({
    // Problems name the file; people know it by its place relative to where they are.
    file: shortest(file),
    readFile: (path) => readFileSync(path, 'utf8'),
    environment: process.env,
    simulatorUrl,
  });
  if (!loaded.ok) {
    const { length } = loaded.problems;
    const count = `${length} ${length === 1 ? 'problem' : 'problems'} in the catalogue. Nothing was started.`;
    throw new Failure(EXIT.usage, [...loaded.problems.map(formatProblem), count].join('\n'));
  }
  for (const warning of loaded.warnings) warn(warning);
  return loaded.catalogue;
}

function shortest(file: string): string {
  const path = relative(process.cwd(), file);
  return path.startsWith('..') ? file : path;
}
