/** Tries the examples that stand in the catalogue's profiles. */
import { readFileSync } from 'node:fs';
import { loadCatalogue } from '../../domain/catalogue/load.ts';
import { differences } from '../../domain/examples.ts';
import { EXIT } from '../failure.ts';
import { type Finding, fine, problem } from './finding.ts';

/** None for a catalogue without examples, and for one that doesn't load: what is wrong with that is told elsewhere. */
export async function checkExamples(file: string): Promise<Finding[]> {
  const loaded = await loadCatalogue({
    file,
    readFile: (path) => readFileSync(path, 'utf8'),
    environment: {},
    withoutSecrets: true,
  });
  if (!loaded.ok || loaded.examples.length === 0) return [];
  const failed: string[] = [];
  for (const example of loaded.examples) {
    const place = `profiles.${example.profile}.examples[${example.index}]`;
    failed.push(...(await differences(example)).map((text) => `${place}: ${text}`));
  }
  const count = `${loaded.examples.length} ${loaded.examples.length === 1 ? 'example' : 'examples'}`;
  if (failed.length === 0) return [fine('examples', `${count} in profiles, and all come out as they say`)];
  const mend =
    'Mend the profile, or the example where the device really differs: `readback devices probe` tells.';
  return [problem('examples', EXIT.usage, failed.join('\n'), mend)];
}
