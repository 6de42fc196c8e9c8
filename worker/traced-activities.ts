/** Every attempt of an activity as a span of its own, below the workflow's. */
import { SpanKind } from '@opentelemetry/api';
import type { Context } from '@temporalio/activity';
import { ApplicationFailure, ApplicationFailureCategory, defaultPayloadConverter } from '@temporalio/common';
import type { ActivityInterceptors } from '@temporalio/worker';
import { contextIn, spanned } from '../tracing/trace-context.ts';
import { TRACE_HEADER } from '../workflows/messages.ts';

export function tracedActivities({ info }: Context): ActivityInterceptors {
  return {
    inbound: {
      async execute(input, next) {
        const header = input.headers[TRACE_HEADER];
        const parent = contextIn(header && defaultPayloadConverter.fromPayload(header));
        const attributes = {
          'temporal.workflow.id': info.workflowExecution?.workflowId ?? '',
          'temporal.activity.attempt': info.attempt,
        };
        return await spanned(
          `RunActivity:${info.activityType}`,
          { kind: SpanKind.CONSUMER, attributes, parent, isExpected: isWaiting },
          async () => await next(input),
        );
      },
    },
  };
}

/** Not yet there, and tried again by the clock: no failure. */
const isWaiting = (error: unknown): boolean =>
  error instanceof ApplicationFailure && error.category === ApplicationFailureCategory.BENIGN;
