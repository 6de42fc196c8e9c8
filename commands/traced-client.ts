/** What is asked of a workflow takes its trace along, in the header that Temporal's own interceptors use. */
import { SpanKind } from '@opentelemetry/api';
import type { WorkflowClientInterceptor } from '@temporalio/client';
import { defaultPayloadConverter, type Headers } from '@temporalio/common';
import { carrierOf, spanned, type TraceCarrier } from '../tracing/trace-context.ts';
import { TRACE_HEADER, TRACE_MEMO_KEY } from '../workflows/messages.ts';

/** The span of a start is the workflow's own: what its activities do is done below it. */
export const tracedClient: WorkflowClientInterceptor = {
  startWithDetails: async (input, next) =>
    await traced(`StartWorkflow:${input.workflowType}`, input.options.workflowId, async (carrier) => {
      if (carrier === null) return await next(input);
      const memo = { ...input.options.memo, [TRACE_MEMO_KEY]: carrier };
      const options = { ...input.options, memo };
      return await next({ ...input, options, headers: withTrace(input.headers, carrier) });
    }),
  startUpdate: async (input, next) =>
    await traced(
      `StartWorkflowUpdate:${input.updateName}`,
      input.workflowExecution.workflowId,
      async (carrier) => await next({ ...input, headers: withTrace(input.headers, carrier) }),
    ),
  signal: async (input, next) =>
    await traced(
      `SignalWorkflow:${input.signalName}`,
      input.workflowExecution.workflowId,
      async (carrier) => await next({ ...input, headers: withTrace(input.headers, carrier) }),
    ),
};

async function traced<T>(
  name: string,
  workflowId: string | null | undefined,
  call: (carrier: TraceCarrier | null) => Promise<T>,
): Promise<T> {
  const attributes = { 'temporal.workflow.id': workflowId ?? '' };
  return await spanned(
    name,
    { kind: SpanKind.PRODUCER, attributes },
    async (span) => await call(carrierOf(span)),
  );
}

function withTrace(headers: Headers, carrier: TraceCarrier | null): Headers {
  return carrier === null
    ? headers
    : { ...headers, [TRACE_HEADER]: defaultPayloadConverter.toPayload(carrier) };
}
