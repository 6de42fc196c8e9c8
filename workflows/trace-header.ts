/**
 * Hands the trace of a workflow on to its activities, unread. What a handler schedules at once, like the check of an
 * answer's seal, goes with the trace of whoever gave the answer. It adds no command and no step to any history.
 */
import type { Headers, WorkflowInterceptors } from '@temporalio/workflow';
import { TRACE_HEADER } from './messages.ts';

export function interceptors(): WorkflowInterceptors {
  let ofWorkflow: Headers = {};
  let ofHandler: Headers | null = null;

  function handling<T>(headers: Headers, handle: () => T): T {
    ofHandler = traceIn(headers);
    try {
      // Until it waits for the first time.
      return handle();
    } finally {
      ofHandler = null;
    }
  }

  return {
    inbound: [
      {
        execute(input, next) {
          ofWorkflow = traceIn(input.headers) ?? {};
          return next(input);
        },
        handleUpdate: (input, next) => handling(input.headers, () => next(input)),
        handleSignal: (input, next) => handling(input.headers, () => next(input)),
      },
    ],
    outbound: [
      {
        scheduleActivity: (input, next) =>
          next({ ...input, headers: { ...input.headers, ...(ofHandler ?? ofWorkflow) } }),
      },
    ],
  };
}

function traceIn(headers: Headers): Headers | null {
  const trace = headers[TRACE_HEADER];
  return trace === undefined ? null : { [TRACE_HEADER]: trace };
}
