import { TestWorkflowEnvironment } from '@temporalio/testing';
import { ensureSearchAttributes } from '../commands/set-up.ts';
import { temporalProgram } from './temporal-program.ts';

/**
 * A real Temporal server on a free loopback port, in memory, its namespace `default` ready for Readback.
 * The caller ends it with `teardown()`.
 */
export async function startTemporal(): Promise<TestWorkflowEnvironment> {
  const { file } = await temporalProgram();
  const environment = await TestWorkflowEnvironment.createLocal({
    server: { executable: { type: 'existing-path', path: file }, log: { format: 'pretty', level: 'error' } },
  });
  await ensureSearchAttributes(environment.connection, 'default');
  return environment;
}
