/** A request to a device as a span of its own, which the device's side can go on from. */
import { SpanKind } from '@opentelemetry/api';
import { carrierOf, markFailed, spanned } from '../tracing/trace-context.ts';
import { type Endpoint, type HttpAnswer, type HttpRequest, requestOnce } from './http-request.ts';

/**
 * `requestOnce`, with the trace in its headers; those that the request has already stay as they are. The path is in no
 * span: it may hold secrets. The caller's baggage stays here: what is in it is not meant for makers of devices.
 */
export async function tracedRequest(
  endpoint: Endpoint,
  request: HttpRequest,
  signal?: AbortSignal,
): Promise<HttpAnswer> {
  const { hostname, port, protocol } = new URL(endpoint.origin);
  const attributes = {
    'http.request.method': request.method,
    'server.address': hostname,
    'server.port': Number(port || (protocol === 'https:' ? 443 : 80)),
  };
  return await spanned(request.method, { kind: SpanKind.CLIENT, attributes }, async (span) => {
    const { baggage: _, ...trace } = carrierOf(span) ?? {};
    const answer = await requestOnce(
      endpoint,
      { ...request, headers: { ...trace, ...request.headers } },
      signal,
    );
    if (answer.kind !== 'reply') markFailed(span, answer.kind);
    else {
      span.setAttribute('http.response.status_code', answer.status);
      if (answer.status >= 400) markFailed(span, String(answer.status));
    }
    return answer;
  });
}
