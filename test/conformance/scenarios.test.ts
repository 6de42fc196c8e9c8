/** The protocol's official conformance suite, on the code that serves Readback, with tasks that live in Temporal. */
import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import { cites } from '../mcp-server/tasks-requirements.ts';
import { type FixtureServer, startFixtureServer } from './fixture-server.ts';
import { runSuite } from './suite.ts';

/** All that there are but `tasks-status-notifications`, which the suite itself skips: listening has tests of our own. */
const TASK_SCENARIOS = [
  ['tasks-lifecycle', cites('create.result-type', 'get.completed', 'get.failed', 'completed.tool-error')],
  ['tasks-capability-negotiation', cites('create.only-declared', 'errors.missing-capability')],
  ['tasks-wire-fields', cites('get.working', 'completed.same-result')],
  ['tasks-request-state-removal', cites('get.working')],
  ['tasks-mrtr-input', cites('get.input-required', 'get.all-outstanding', 'update.empty')],
  ['tasks-request-headers', cites('headers.name')],
  ['tasks-dispatch-and-envelope', cites('create.durable', 'create.result-type-only', 'get.result-type')],
  ['tasks-required-task-error', cites('create.missing-capability')],
  ['tasks-mrtr-composition', cites('create.asks-first')],
] as const;
/** Fewer would mean that the suite has found nothing to check. */
const REVISIONS = [
  ['2026-07-28', 180],
  ['2025-11-25', 70],
] as const;

describe('the conformance suite', () => {
  let server: FixtureServer;
  before(async () => {
    server = await startFixtureServer();
  });
  after(() => server.close());

  for (const [scenario, requirements] of TASK_SCENARIOS) {
    it(`finds nothing wrong in ${scenario}`, requirements, async () => {
      const { exitCode, passed, failed, output } = await runSuite(server.url, ['--scenario', scenario]);
      assert.deepEqual([exitCode, failed], [0, 0], output);
      assert.ok(passed > 0, output);
      assert.doesNotMatch(output, /[1-9]\d* warnings/);
    });
  }

  for (const [revision, fewest] of REVISIONS) {
    it(`finds nothing wrong in what ${revision} requires, nor in what it runs besides`, async () => {
      const { exitCode, passed, failed, output } = await runSuite(server.url, ['--requirements', revision]);
      assert.deepEqual([exitCode, failed], [0, 0], output);
      assert.ok(passed >= fewest, `${passed} checks`);
    });
  }
});
