/** A request of the protocol as a span, which goes on with the trace that its `_meta` names (W3C Trace Context). */

import type { ServerContext } from '@modelcontextprotocol/server';
import { type Span, SpanKind } from '@opentelemetry/api';
import { contextIn, spanned } from '../tracing/trace-context.ts';

/** `target`: the tool, where one is called; a name of ours, never the caller's text. */
export async function tracedMethod<T>(
  { mcpReq }: ServerContext,
  method: string,
  target: string | null,
  handle: (span: Span) => Promise<T>,
): Promise<T> {
  const attributes = {
    'mcp.method.name': method,
    ...(target !== null && { 'gen_ai.tool.name': target }),
  };
  const name = target === null ? method : `${method} ${target}`;
  return await spanned(name, { kind: SpanKind.SERVER, attributes, parent: contextIn(mcpReq._meta) }, handle);
}
