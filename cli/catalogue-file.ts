/** Reading the catalogue. */
import { readFileSync } from 'node:fs';
import { relative } from 'node:path';
import type { Catalogue } from '../domain/catalogue/definition.ts';
import { type LoadOptions, loadCatalogue } from '../domain/catalogue/load.ts';
import { formatProblem } from '../domain/catalogue/problems.ts';
import { EXIT, Failure } from './failure.ts';

/** For those that never talk to a device: neither where the simulator is nor any secret matters to them. */
export const readCatalogueWithoutSecrets = (file: string): Promise<Catalogue> =>
  load(file, { environment: {}, withoutSecrets: true });

/** As `readCatalogue`, for those that go on to work with it: also throws for whatever Readback can't do yet. */
export async function readUsableCatalogue(
  file: string,
  simulatorUrl: string | null,
  warn?: (text: string) => void,
): Promise<Catalogue> {
  const [catalogue, { unusable }] = await Promise.all([
    readCatalogue(file, simulatorUrl, warn),
    import('../worker/usable.ts'),
  ]);
  const problems = unusable(catalogue);
  if (problems.length === 0) return catalogue;
  throw new Failure(
    EXIT.usage,
    [...problems.map((text) => `${shortest(file)}: ${text}`), NOTHING].join('\n'),
  );
}

const NOTHING = 'Nothing was started.';

/**
 * For those that talk to devices. Where `simulator:` leads is `simulatorUrl`. Throws a `Failure` that lists every
 * problem of the file at once, secrets that are not set included; what is odd but not wrong is told to `warn`.
 */
export const readCatalogue = (
  file: string,
  simulatorUrl: string | null,
  warn: (text: string) => void = () => {},
): Promise<Catalogue> => load(file, { environment: process.env, simulatorUrl }, warn);

async function load(
  file: string,
  surroundings: Pick<LoadOptions, 'environment' | 'simulatorUrl' | 'withoutSecrets'>,
  warn: (text: string) => void = () => {},
): Promise<Catalogue> {
  const loaded = await loadCatalogue({
    ...surroundings,
    // Problems name the file; people know it by its place relative to where they are.
    file: shortest(file),
    readFile: (path) => readFileSync(path, 'utf8'),
  });
  if (!loaded.ok) {
    const { length } = loaded.problems;
    const count = `${length} ${length === 1 ? 'problem' : 'problems'} in the catalogue. ${NOTHING}`;
    throw new Failure(EXIT.usage, [...loaded.problems.map(formatProblem), count].join('\n'));
  }
  for (const warning of loaded.warnings) warn(warning);
  return loaded.catalogue;
}

function shortest(file: string): string {
  const path = relative(process.cwd(), file);
  return path.startsWith('..') ? file : path;
}
