/** The budget as a workflow, in skipped time: quotas of a day, and what is known across runs. */
import assert from 'node:assert/strict';
import { randomUUID } from 'node:crypto';
import { after, before, describe, it } from 'node:test';
import type { TestWorkflowEnvironment } from '@temporalio/testing';
import { DefaultLogger, Runtime, Worker } from '@temporalio/worker';
import { sharedBudget } from '../../activities/shared-budget.ts';
import type { Ask, BudgetRules } from '../../domain/budget.ts';
import { bundleWorkflows } from '../../worker/worker.ts';
import { budgetWorkflowId, TASK_QUEUE } from '../../workflows/messages.ts';
import { startTimeSkippingTemporal } from '../time-skipping.ts';

const HOUR_MS = 3_600_000;
const NOTHING = { readbacks: 0, others: 0 };
const DAILY: BudgetRules = {
  limits: [{ requests: 200, perMs: 24 * HOUR_MS, keepForReads: 20 }],
  spacingMs: 0,
  timeoutMs: 10_000,
};

describe('the budget of a connection', () => {
  let temporal: TestWorkflowEnvironment;
  let worker: Worker;
  let running: Promise<void>;
  before(async () => {
    const logger = new DefaultLogger('ERROR');
    Runtime.install({ logger });
    const [environment, workflowBundle] = await Promise.all([
      startTimeSkippingTemporal(),
      bundleWorkflows(logger),
    ]);
    temporal = environment;
    const connection = temporal.nativeConnection;
    worker = await Worker.create({ connection, taskQueue: TASK_QUEUE, workflowBundle });
    running = worker.run();
  });
  after(async () => {
    worker.shutdown();
    await running;
    await temporal.teardown();
  });

  function asking(connection: string, rules: BudgetRules) {
    const lender = sharedBudget(temporal.client, connection);
    const ask = (more: Partial<Ask>): Ask => ({
      worker: 'a',
      lease: randomUUID(),
      rules,
      wanted: NOTHING,
      returned: [],
      heldMs: NOTHING,
      ...more,
    });
    return {
      async lend(others: number, more: Partial<Ask> = {}) {
        const asked = ask({ wanted: { readbacks: 0, others }, ...more });
        return { ...(await lender.lend(asked)), lease: asked.lease };
      },
      tell: (more: Partial<Ask>) => lender.tell(ask(more)),
    };
  }

  it('says of a quota of a day when it is free again, and it is then, whichever worker asks', async () => {
    const { lend, tell } = asking('daily', DAILY);
    const first = await lend(180);
    assert.equal(first.places, 180);
    await tell({ returned: [{ lease: first.lease, used: [{ agoMs: 0, count: 180 }] }] });
    const none = await lend(1, { worker: 'b' });
    assert.equal(none.places, 0);
    assert.ok(Math.abs(none.waitMs.others - 24 * HOUR_MS) < HOUR_MS, String(none.waitMs.others));
    await temporal.sleep(none.waitMs.others - HOUR_MS);
    assert.equal((await lend(1, { worker: 'b' })).places, 0);
    await temporal.sleep(HOUR_MS);
    assert.ok((await lend(1, { worker: 'b' })).places > 0);
  });

  it('ends when nothing counts any more, and starts afresh with the next ask', async () => {
    const { lend } = asking('idle', {
      ...DAILY,
      limits: [{ requests: 30, perMs: 300_000, keepForReads: 0 }],
    });
    assert.equal((await lend(30)).places, 30);
    assert.equal((await lend(30)).places, 0);
    await temporal.sleep(HOUR_MS);
    const { status } = await temporal.client.workflow.getHandle(budgetWorkflowId('idle')).describe();
    assert.equal(status.name, 'COMPLETED');
    assert.equal((await lend(30)).places, 30);
  });

  it('goes on in a new run with what it knew', async () => {
    const { lend } = asking('busy', {
      ...DAILY,
      limits: [{ requests: 310, perMs: HOUR_MS, keepForReads: 0 }],
    });
    const { runId } = await first(lend);
    let places = 0;
    for (let asks = 0; asks < 320; asks += 20) {
      const loans = await Promise.all(Array.from({ length: 20 }, () => lend(1)));
      places += loans.reduce((sum, loan) => sum + loan.places, 0);
    }
    const after = await temporal.client.workflow.getHandle(budgetWorkflowId('busy')).describe();
    assert.notEqual(after.runId, runId, 'it has continued as new');
    assert.equal(places, 310 - 20);
  });

  async function first(lend: (others: number) => Promise<unknown>) {
    await lend(20);
    return await temporal.client.workflow.getHandle(budgetWorkflowId('busy')).describe();
  }
});
