/** What an operator's tracing would be given: every span of this process, kept in memory. */
import { setTimeout as sleep } from 'node:timers/promises';
import { trace } from '@opentelemetry/api';
import {
  BasicTracerProvider,
  InMemorySpanExporter,
  type ReadableSpan,
  SimpleSpanProcessor,
} from '@opentelemetry/sdk-trace-base';

export interface RecordedSpans {
  all(): readonly ReadableSpan[];
  /** Once there is one that `isWanted`. Fails the test after some seconds. */
  find(isWanted: (span: ReadableSpan) => boolean): Promise<ReadableSpan>;
}

/** From now on, for this process. */
export function recordSpans(): RecordedSpans {
  const exporter = new InMemorySpanExporter();
  trace.setGlobalTracerProvider(
    new BasicTracerProvider({ spanProcessors: [new SimpleSpanProcessor(exporter)] }),
  );
  return {
    all: () => exporter.getFinishedSpans(),
    async find(isWanted) {
      const giveUpAt = Date.now() + 10_000;
      for (;;) {
        const span = exporter.getFinishedSpans().find(isWanted);
        if (span !== undefined) return span;
        if (Date.now() > giveUpAt)
          throw new Error(
            `no such span among ${exporter
              .getFinishedSpans()
              .map(({ name }) => name)
              .join(', ')}`,
          );
        await sleep(20);
      }
    },
  };
}

/** Names from the root of its trace down to this span; a parent that nobody here made is `…`. */
export function pathOf(span: ReadableSpan, all: readonly ReadableSpan[]): string {
  const parentId = span.parentSpanContext?.spanId;
  if (parentId === undefined) return span.name;
  const parent = all.find(
    (other) =>
      other.spanContext().spanId === parentId && other.spanContext().traceId === span.spanContext().traceId,
  );
  return `${parent === undefined ? '…' : pathOf(parent, all)} > ${span.name}`;
}
