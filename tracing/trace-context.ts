/**
 * One trace through every part: W3C Trace Context and Baggage, from whoever calls Readback to the device. Who wants to
 * see the spans registers a provider of OpenTelemetry in the process; without one the caller's context is handed on as it is.
 */
import {
  type Context,
  context,
  defaultTextMapGetter,
  defaultTextMapSetter,
  ROOT_CONTEXT,
  type Span,
  type SpanOptions,
  SpanStatusCode,
  trace,
} from '@opentelemetry/api';
import { AsyncLocalStorageContextManager } from '@opentelemetry/context-async-hooks';
import { CompositePropagator, W3CBaggagePropagator, W3CTraceContextPropagator } from '@opentelemetry/core';

/** A context as it travels: `traceparent`, and where there is any, `tracestate` and `baggage`. */
export type TraceCarrier = Readonly<Record<string, string>>;

/** As long as a baggage may be by its standard; the other two are shorter. */
const LONGEST_FIELD = 8192;
/** What all three consist of. Whatever else comes would only be somebody's attempt at a header of his own. */
const FIELD = /^[\x20-\x7e]+$/;

const propagator = new CompositePropagator({
  propagators: [new W3CTraceContextPropagator(), new W3CBaggagePropagator()],
});
const tracer = trace.getTracer('readback');

// What a request causes must find its context. Where somebody registered a context manager before, that one does it.
context.setGlobalContextManager(new AsyncLocalStorageContextManager().enable());

/** The context that a stranger's metadata names. What is malformed in it is as if it weren't there. */
export function contextIn(metadata: unknown): Context {
  const given: object = typeof metadata === 'object' && metadata !== null ? metadata : {};
  const fields = Object.entries(given).filter(
    ([name, value]) =>
      propagator.fields().includes(name) &&
      typeof value === 'string' &&
      value.length <= LONGEST_FIELD &&
      FIELD.test(value),
  );
  return propagator.extract(ROOT_CONTEXT, Object.fromEntries(fields), defaultTextMapGetter);
}

/** Of the trace that a stranger's metadata names; null: none. */
export function traceIdIn(metadata: unknown): string | null {
  return trace.getSpanContext(contextIn(metadata))?.traceId ?? null;
}

/** What to give to whom `span` calls; null: there is no trace. */
export function carrierOf(span: Span): TraceCarrier | null {
  const carrier: Record<string, string> = {};
  propagator.inject(trace.setSpan(context.active(), span), carrier, defaultTextMapSetter);
  return carrier['traceparent'] === undefined ? null : carrier;
}

/**
 * Runs `work` in a span of its own, which is a child of `parent`. A throw marks it as failed, unless it `isExpected`;
 * only the error's name is recorded, since its message may say what is nobody's business.
 */
export async function spanned<T>(
  name: string,
  {
    parent = context.active(),
    isExpected = () => false,
    ...options
  }: SpanOptions & { parent?: Context; isExpected?: (error: unknown) => boolean },
  work: (span: Span) => Promise<T>,
): Promise<T> {
  const span = tracer.startSpan(name, options, parent);
  try {
    return await context.with(trace.setSpan(parent, span), () => work(span));
  } catch (error) {
    if (!isExpected(error)) markFailed(span, error instanceof Error ? error.name : typeof error);
    throw error;
  } finally {
    span.end();
  }
}

export function markFailed(span: Span, type: string): void {
  span.setAttribute('error.type', type).setStatus({ code: SpanStatusCode.ERROR });
}

/** The present span concerns what another trace is about. */
export function linkTo(carrier: TraceCarrier | undefined): void {
  const other = trace.getSpanContext(contextIn(carrier));
  if (other !== undefined) trace.getActiveSpan()?.addLink({ context: other });
}
