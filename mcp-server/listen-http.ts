/** `subscriptions/listen` with `taskIds` over Streamable HTTP: the SDK's own event stream, with tasks woven in. */
import {
  type AuthInfo,
  ProtocolError,
  ProtocolErrorCode,
  type RequestId,
} from '@modelcontextprotocol/server';
import { type EventStream, eventStream, framesOf } from './event-stream.ts';
import { isJsonObject } from './json-object.ts';
import { isAcknowledgement, LISTEN, taskNotification, withTaskIds } from './listen-message.ts';
import type { McpService } from './service.ts';
import { asksForTasks, type TaskSubscription, type TaskSubscriptions } from './task-subscriptions.ts';

type Fetch = (request: Request, parsedBody: unknown, auth: AuthInfo | undefined) => Promise<Response>;

/** `fetch` of the SDK's handler, which does everything else: headers, envelope, versions, other kinds of notifications. */
export function listeningOverHttp(
  fetch: Fetch,
  subscriptions: TaskSubscriptions,
  { requesterOf, onError }: Pick<McpService, 'requesterOf' | 'onError'>,
  keepAliveMs: number,
): Fetch {
  return async (request, parsedBody, auth) => {
    const response = await fetch(request, parsedBody, auth);
    const listen = listenIn(parsedBody);
    const body = isEventStream(response) ? response.body : null;
    if (listen === null || body === null) return response;
    const { id, params } = listen;
    try {
      const requester = requesterOf({ envelope: params['_meta'], headers: request.headers, auth });
      const subscription = await subscriptions.open(params, requester);
      const stream = eventStream(keepAliveMs, request.signal);
      void weave(body, subscription, id, stream).catch(onError);
      return new Response(stream.body, { status: response.status, headers: response.headers });
    } catch (error) {
      await body.cancel().catch(() => undefined);
      if (error instanceof ProtocolError) return refusal(error, id);
      throw error;
    }
  };
}

/** The acknowledgement, then tasks and whatever else is listened to; the SDK's last word comes when both are over. */
async function weave(
  body: ReadableStream<Uint8Array>,
  subscription: TaskSubscription,
  id: RequestId,
  stream: EventStream,
): Promise<void> {
  const leave = () => subscription.close();
  stream.left.addEventListener('abort', leave, { once: true });
  let following: Promise<void> | undefined;
  let lastWord: string | undefined;
  try {
    for await (const { frame, message } of framesOf(body, stream.left)) {
      if (isAcknowledgement(message)) {
        stream.put(withTaskIds(message, subscription.taskIds));
        following = subscription.follow((taskId, task) =>
          stream.putLatest(taskId, taskNotification(task, id)),
        );
      } else if (isJsonObject(message) && message['id'] === id) lastWord = frame;
      else stream.putFrame(frame);
    }
    await following;
  } finally {
    leave();
    stream.end(lastWord);
  }
}

export const isListen = (body: unknown): boolean => isJsonObject(body) && body['method'] === LISTEN;

function listenIn(body: unknown): { id: RequestId; params: Readonly<Record<string, unknown>> } | null {
  if (!isJsonObject(body) || body['method'] !== LISTEN || !asksForTasks(body['params'])) return null;
  return { id: body['id'] as RequestId, params: body['params'] as Readonly<Record<string, unknown>> };
}

function isEventStream(response: Response): boolean {
  return response.headers.get('content-type')?.startsWith('text/event-stream') === true;
}

/** A capability that is missing is an HTTP error too, so that whatever is in between knows; everything else is in-band. */
function refusal({ code, message, data }: ProtocolError, id: RequestId): Response {
  const error = { code, message, ...(data !== undefined && { data }) };
  const missing: number = ProtocolErrorCode.MissingRequiredClientCapability;
  const status = code === missing ? 400 : 200;
  return Response.json({ jsonrpc: '2.0', id, error }, { status });
}
