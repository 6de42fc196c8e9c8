/** Commands outlive deploys: what was recorded while they waited must replay on the workflows of today. */
import assert from 'node:assert/strict';
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, it } from 'node:test';
import { historyFromJSON } from '@temporalio/common/lib/proto-utils.js';
import { DefaultLogger, Runtime, Worker } from '@temporalio/worker';
import packageJson from '../../package.json' with { type: 'json' };
import { testWorkflowBundle } from '../workflow-bundle.ts';

/** One folder a version. */
const folder = join(import.meta.dirname, 'histories');
/** Of a version: what a command can wait for, and how it can end. */
const FEWEST = 15;

describe('a recorded history replays on the present workflows', async () => {
  Runtime.install({ logger: new DefaultLogger('ERROR') });
  const workflowBundle = await testWorkflowBundle();
  const versions = readdirSync(folder);
  assert.ok(versions.includes(packageJson.version), 'record those of this version: npm run histories');
  for (const version of versions) {
    const files = readdirSync(join(folder, version));
    assert.ok(files.length >= FEWEST, `${version} has ${files.length}`);
    for (const file of files) {
      it(`${version} ${file.replace('.json', '')}`, async () => {
        const history = historyFromJSON(JSON.parse(readFileSync(join(folder, version, file), 'utf8')));
        await Worker.runReplayHistory({ workflowBundle }, history, file);
      });
    }
  }
});
