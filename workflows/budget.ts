/**
 * The budget of one connection: a register that lends places to workers and counts what comes back. It waits for nobody
 * and wakes nobody; what a dead worker had runs out by itself.
 */
import { condition, makeContinueAsNewFunc, setHandler, workflowInfo } from '@temporalio/workflow';
import { type Ask, type Budget, EMPTY_BUDGET, idleAt, type Loan, lend } from '../domain/budget.ts';
import { bringBackSignal, lendUpdate } from './messages.ts';

/** About 6 events an ask: far below Temporal's own limits, and a replay stays short. */
const ASKS_PER_RUN = 300;

/** Starting afresh costs more than staying a while. */
const STAYS_FOR_MS = 60_000;

/** Ends when nothing it knows counts any more: the next ask starts it afresh, and nothing has been forgotten. */
export async function budget(kept: Budget = EMPTY_BUDGET): Promise<void> {
  let state = kept;
  let asks = 0;

  // Synchronous on purpose: a handler that awaits can interleave with another and lend one place twice.
  const heard = (ask: Ask): Loan => {
    asks += 1;
    const lent = lend(state, ask, Date.now());
    state = lent.budget;
    return lent.loan;
  };
  setHandler(lendUpdate, heard);
  setHandler(bringBackSignal, (news) => void heard(news));

  const isFull = () => asks >= ASKS_PER_RUN || workflowInfo().continueAsNewSuggested;
  // The ask that started this run is on its way; and each end is a start for the next one.
  let quietMs = STAYS_FOR_MS;
  while (quietMs > 0) {
    if (await condition(isFull, quietMs)) {
      await makeContinueAsNewFunc<typeof budget>({ memo: workflowInfo().memo ?? {} })(state);
    }
    quietMs = idleAt(state) - Date.now();
  }
}
