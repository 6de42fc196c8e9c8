/** The budget of a connection as all workers share it: kept by a workflow, so that no worker's death or restart forgets it. */
import { type Client, WithStartWorkflowOperation } from '@temporalio/client';
import {
  bringBackSignal,
  budgetWorkflowId,
  lendUpdate,
  TASK_QUEUE,
  WORKFLOW_TYPE,
} from '../workflows/messages.ts';
import type { Lender } from './borrowing.ts';

/** Longer than a budget takes to move to a living worker when its own has died. */
const ANSWERS_WITHIN_MS = 10_000;

export function sharedBudget(client: Client, connection: string): Lender {
  const workflowId = budgetWorkflowId(connection);
  const inTime = <T>(call: () => Promise<T>) => client.withDeadline(Date.now() + ANSWERS_WITHIN_MS, call);
  return {
    async lend(ask) {
      const startWorkflowOperation = new WithStartWorkflowOperation(WORKFLOW_TYPE.budget, {
        workflowId,
        taskQueue: TASK_QUEUE,
        args: [],
        workflowIdConflictPolicy: 'USE_EXISTING',
      });
      // The lease's own id: asked again on the way, it is lent once.
      const options = { startWorkflowOperation, args: [ask] as [typeof ask], updateId: ask.lease };
      return await inTime(() => client.workflow.executeUpdateWithStart(lendUpdate, options));
    },

    async tell(news) {
      // Untold, it counts as used: safe, and over with the limit's time.
      await inTime(() => client.workflow.getHandle(workflowId).signal(bringBackSignal, news)).catch(() => {});
    },
  };
}
