/** Commands outlive deploys: what was recorded while they waited must replay on the workflows of today. */
import assert from 'node:assert/strict';
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, it } from 'node:test';
import { historyFromJSON } from '@temporalio/common/lib/proto-utils.js';
import { DefaultLogger, Runtime, Worker } from '@temporalio/worker';
import { bundleWorkflows } from '../../worker/worker.ts';

const folder = join(import.meta.dirname, 'histories');

describe('a recorded history replays on the present workflows', async () => {
  Runtime.install({ logger: new DefaultLogger('ERROR') });
  const workflowBundle = await bundleWorkflows(new DefaultLogger('ERROR'));
  const files = readdirSync(folder);
  assert.ok(files.length >= 8);
  for (const file of files) {
    it(file.replace('.json', ''), async () => {
      const history = historyFromJSON(JSON.parse(readFileSync(join(folder, file), 'utf8')));
      await Worker.runReplayHistory({ workflowBundle }, history, file);
    });
  }
});
