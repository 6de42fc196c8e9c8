/** The protocol's official conformance suite, on the code that serves Readback, with tasks that live in Temporal. */
import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import { type FixtureServer, startFixtureServer } from './fixture-server.ts';
import { runSuite } from './suite.ts';

/** All that there are but `tasks-status-notifications`, which the suite itself skips: listening has tests of our own. */
const TASK_SCENARIOS = [
  'tasks-lifecycle',
  'tasks-capability-negotiation',
  'tasks-wire-fields',
  'tasks-request-state-removal',
  'tasks-mrtr-input',
  'tasks-request-headers',
  'tasks-dispatch-and-envelope',
  'tasks-required-task-error',
  'tasks-mrtr-composition',
];
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

  for (const scenario of TASK_SCENARIOS) {
    it(`finds nothing wrong in ${scenario}`, async () => {
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
