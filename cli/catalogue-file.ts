/** Reading the catalogue. */
import { readFileSync } from 'node:fs';
import { relative } from 'node:path';
import type { Catalogue } from '../domain/catalogue/definition.ts';
import { type LoadOptions, loadCatalogue } from '../domain/catalogue/load.ts';
import { formatProblem } from '../domain/catalogue/problems.ts';
import { EXIT, Failure } from './failure.ts';

/** Everything that is wrong with it at once, each with its place. What is odd but not wrong is a warning. */
export type ReadCatalogue =
  | { readonly ok: true; readonly catalogue: Catalogue; readonly warnings: readonly string[] }
  | { readonly ok: false; readonly problems: readonly string[] };

/** Reads one catalogue, as often as it is asked to. `before` is told the path of each of its files before that is read. */
export type CatalogueReader = (before?: (path: string) => Promise<void>) => Promise<ReadCatalogue>;

/** For those that never talk to a device: neither where the simulator is nor any secret matters to them. */
export const readingWithoutSecrets = (file: string): CatalogueReader =>
  reading(file, { environment: {}, withoutSecrets: true });

/** For those that talk to devices. Where `simulator:` leads is `simulatorUrl`. */
export const readingWithSecrets = (file: string, simulatorUrl: string | null): CatalogueReader =>
  reading(file, { environment: process.env, simulatorUrl });

/** As `readingWithSecrets`, for those that go on to work with it: whatever keeps a connection from being worked with is a problem as well. */
export function readingUsable(file: string, simulatorUrl: string | null): CatalogueReader {
  const read = readingWithSecrets(file, simulatorUrl);
  return async (before) => {
    const [found, { unusable }] = await Promise.all([read(before), import('../worker/usable.ts')]);
    if (!found.ok) return found;
    const problems = unusable(found.catalogue).map((text) => `${shortest(file)}: ${text}`);
    return problems.length === 0 ? found : { ok: false, problems };
  };
}

/** Throws a `Failure` that lists every problem. Warnings are told to `warn`. */
export async function readOnce(
  read: CatalogueReader,
  warn: (text: string) => void = () => {},
): Promise<Catalogue> {
  const found = await read();
  if (!found.ok) throw cannotStart(found.problems);
  for (const warning of found.warnings) warn(warning);
  return found.catalogue;
}

export function cannotStart(problems: readonly string[]): Failure {
  const { length } = problems;
  const count = `${length} ${length === 1 ? 'problem' : 'problems'} in the catalogue. Nothing was started.`;
  return new Failure(EXIT.usage, [...problems, count].join('\n'));
}

function reading(
  file: string,
  surroundings: Pick<LoadOptions, 'environment' | 'simulatorUrl' | 'withoutSecrets'>,
): CatalogueReader {
  return async (before) => {
    const loaded = await loadCatalogue({
      ...surroundings,
      // Problems name the file; people know it by its place relative to where they are.
      file: shortest(file),
      readFile: async (path) => {
        await before?.(path);
        return readFileSync(path, 'utf8');
      },
    });
    return loaded.ok ? loaded : { ok: false, problems: loaded.problems.map(formatProblem) };
  };
}

function shortest(file: string): string {
  const path = relative(process.cwd(), file);
  return path.startsWith('..') ? file : path;
}
