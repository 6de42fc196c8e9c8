import { join } from 'node:path';
import { DefaultLogger, type WorkflowBundle } from '@temporalio/worker';
import { DEFAULT_DATA_DIR } from '../cli/data-folder.ts';
import { workflowBundle } from '../cli/workflow-bundle.ts';

/** Where `npm start` keeps its own: made once for all test files of the same sources. */
const dataDir = join(import.meta.dirname, '..', DEFAULT_DATA_DIR);

export const testWorkflowBundle = (): Promise<WorkflowBundle> =>
  workflowBundle(dataDir, new DefaultLogger('ERROR'));
