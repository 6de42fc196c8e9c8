/** `subscriptions/listen` with `taskIds` over stdio: the SDK's answers, with tasks added on their way out. */
import {
  type Implementation,
  type JSONRPCMessage,
  ProtocolError,
  type RequestId,
  SERVER_INFO_META_KEY,
  type Transport,
} from '@modelcontextprotocol/server';
import { isJsonObject } from './json-object.ts';
import {
  honoursMore,
  isAcknowledgement,
  LISTEN,
  SUBSCRIPTION_ID,
  subscriptionIdOf,
  taskNotification,
  withTaskIds,
} from './listen-message.ts';
import type { McpService } from './service.ts';
import { asksForTasks, type TaskSubscription, type TaskSubscriptions } from './task-subscriptions.ts';

type StdioParts = Pick<McpService, 'requesterOf' | 'serverInfo' | 'onError'>;

/** `inner` as the SDK should use it. */
export function listeningTransport(
  inner: Transport,
  subscriptions: TaskSubscriptions,
  parts: StdioParts,
): Transport {
  const listeners = new Map<RequestId, Listener>();

  function leave(id: RequestId): void {
    listeners.get(id)?.leave();
    listeners.delete(id);
  }
  /** The SDK believes that the client has cancelled, and forgets it without a word. */
  function forget(id: RequestId): void {
    leave(id);
    outer.onmessage?.({ jsonrpc: '2.0', method: 'notifications/cancelled', params: { requestId: id } });
  }
  function receive(message: JSONRPCMessage): void {
    const listen = listenIn(message);
    if (listen !== null && !listeners.has(listen.id)) {
      const line = { send: (said: JSONRPCMessage) => inner.send(said), over: () => forget(listen.id) };
      listeners.set(listen.id, listener(listen, line, subscriptions, parts));
    }
    const cancelled = cancelledIn(message);
    if (cancelled !== undefined) leave(cancelled);
  }

  const outer: Transport = {
    async start() {
      inner.onmessage = (message, extra) => {
        receive(message);
        outer.onmessage?.(message, extra);
      };
      inner.onerror = (error) => outer.onerror?.(error);
      inner.onclose = () => {
        for (const id of listeners.keys()) leave(id);
        outer.onclose?.();
      };
      await inner.start();
    },
    async send(message, options) {
      const of = listeners.get(subscriptionIdOf(message) as RequestId);
      // Not waited for: the SDK serves no other request before this returns.
      if (of !== undefined && isAcknowledgement(message)) return of.acknowledge(message);
      await of?.acknowledged();
      // The SDK's own last word on a stream: refused, or the server ends.
      const answered = 'id' in message && !('method' in message) ? message.id : undefined;
      if (answered !== undefined) leave(answered);
      await inner.send(message, options);
    },
    async close() {
      for (const id of listeners.keys()) leave(id);
      await inner.close();
    },
  };
  return outer;
}

/** One request to listen, from its arrival until its last message. */
interface Listener {
  /** Sends the SDK's acknowledgement with tasks added, then follows them; or an error in its place. */
  acknowledge(sdks: Readonly<Record<string, unknown>>): void;
  /** What else is listened to must not come before. */
  acknowledged(): Promise<void>;
  leave(): void;
}

function listener(
  { id, params }: ListenRequest,
  line: { send(message: JSONRPCMessage): Promise<void>; over(): void },
  subscriptions: TaskSubscriptions,
  { requesterOf, serverInfo, onError }: StdioParts,
): Listener {
  let subscription: TaskSubscription | null = null;
  let left = false;
  let acknowledged = Promise.resolve();

  async function open(sdks: Readonly<Record<string, unknown>>): Promise<void> {
    try {
      const requester = requesterOf({ envelope: params['_meta'], headers: null });
      subscription = await subscriptions.open(params, requester);
    } catch (error) {
      if (!(error instanceof ProtocolError)) throw error;
      const { code, message, data } = error;
      await line.send({ jsonrpc: '2.0', id, error: { code, message, ...(data !== undefined && { data }) } });
      line.over();
      return;
    }
    if (left) return subscription.close();
    await line.send(withTaskIds(sdks, subscription.taskIds) as unknown as JSONRPCMessage);
    void follow(subscription, honoursMore(sdks)).catch(onError);
  }

  async function follow(tasks: TaskSubscription, goesOn: boolean): Promise<void> {
    await tasks.follow((_taskId, task) => {
      if (!left) void line.send(taskNotification(task, id)).catch(onError);
    });
    if (left || goesOn) return;
    const _meta = { [SUBSCRIPTION_ID]: id, [SERVER_INFO_META_KEY]: serverInfo satisfies Implementation };
    await line.send({ jsonrpc: '2.0', id, result: { resultType: 'complete', _meta } });
    line.over();
  }

  return {
    acknowledge(sdks) {
      acknowledged = open(sdks).catch(onError);
    },
    acknowledged: () => acknowledged,
    leave() {
      left = true;
      subscription?.close();
    },
  };
}

interface ListenRequest {
  readonly id: RequestId;
  readonly params: Readonly<Record<string, unknown>>;
}

function listenIn(message: unknown): ListenRequest | null {
  if (!isJsonObject(message) || message['method'] !== LISTEN || !asksForTasks(message['params'])) return null;
  const { id, params } = message;
  if (typeof id !== 'string' && typeof id !== 'number') return null;
  return { id, params: params as Readonly<Record<string, unknown>> };
}

function cancelledIn(message: unknown): RequestId | undefined {
  if (!isJsonObject(message) || message['method'] !== 'notifications/cancelled') return undefined;
  const params = message['params'];
  return isJsonObject(params) ? (params['requestId'] as RequestId | undefined) : undefined;
}
