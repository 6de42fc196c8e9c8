/** Keeps the bundle of the workflows from start to start: making it takes longer than everything else a worker does first. */
import { createHash } from 'node:crypto';
import { mkdirSync, readdirSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Logger } from '@temporalio/worker';
import { bundleWorkflows } from '../worker/worker.ts';
import { packageFile } from './package-root.ts';

/** All that a workflow may import. */
const SOURCES = ['workflows', 'domain'] as const;

/** The bundle of the sources as they are now; kept in `dataDir` where that can be written. */
export async function workflowBundle(dataDir: string, logger: Logger): Promise<{ readonly code: string }> {
  const folder = join(dataDir, 'workflow-bundle');
  const name = `${sourcesDigest()}.js`;
  try {
    return { code: readFileSync(join(folder, name), 'utf8') };
  } catch {
    const { code } = await bundleWorkflows(logger);
    keep(folder, name, code);
    return { code };
  }
}

function keep(folder: string, name: string, code: string): void {
  try {
    mkdirSync(folder, { recursive: true });
    // A whole file under its final name in one step; bundles of earlier sources are of no more use.
    const draft = join(folder, `${name}.${process.pid}`);
    writeFileSync(draft, code);
    renameSync(draft, join(folder, name));
    for (const other of readdirSync(folder)) if (other !== name) rmSync(join(folder, other), { force: true });
  } catch {
    // Read-only: the next start makes it again.
  }
}

/** Changes with any file that could be in the bundle, and with the version of Temporal's library in it. */
function sourcesDigest(): string {
  const hash = createHash('sha256');
  for (const folder of SOURCES) {
    const files = readdirSync(packageFile(folder), { recursive: true, encoding: 'utf8' }).sort();
    for (const file of files.filter((name) => name.endsWith('.ts'))) {
      hash.update(`${folder}/${file}\n`).update(readFileSync(packageFile(join(folder, file))));
    }
  }
  return hash
    .update(readFileSync(packageFile('package.json')))
    .digest('hex')
    .slice(0, 32);
}
