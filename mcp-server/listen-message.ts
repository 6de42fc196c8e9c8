/** The messages of a `subscriptions/listen` stream that concern tasks. */
import type { RequestId } from '@modelcontextprotocol/server';
import { isJsonObject } from './json-object.ts';
import type { ShownTask } from './task-subscriptions.ts';

/** Every message of a stream carries the id of the request that opened it. */
export const SUBSCRIPTION_ID = 'io.modelcontextprotocol/subscriptionId';
export const LISTEN = 'subscriptions/listen';
const ACKNOWLEDGED = 'notifications/subscriptions/acknowledged';

/** The SDK's acknowledgement knows no tasks: the ones agreed on are added. */
export function withTaskIds(
  acknowledgement: Readonly<Record<string, unknown>>,
  taskIds: readonly string[],
): Readonly<Record<string, unknown>> {
  const params = isJsonObject(acknowledgement['params']) ? acknowledgement['params'] : {};
  return {
    ...acknowledgement,
    params: { ...params, notifications: { ...notificationsIn(acknowledgement), taskIds } },
  };
}

export function isAcknowledgement(message: unknown): message is Readonly<Record<string, unknown>> {
  return isJsonObject(message) && message['method'] === ACKNOWLEDGED;
}

/** Whether more than tasks is listened to, so that the stream goes on when all tasks have ended. */
export function honoursMore(acknowledgement: Readonly<Record<string, unknown>>): boolean {
  return Object.keys(notificationsIn(acknowledgement)).length > 0;
}

function notificationsIn({ params }: Readonly<Record<string, unknown>>): Readonly<Record<string, unknown>> {
  const notifications = isJsonObject(params) ? params['notifications'] : undefined;
  return isJsonObject(notifications) ? notifications : {};
}

export function subscriptionIdOf(message: unknown): unknown {
  const params = isJsonObject(message) ? message['params'] : undefined;
  const meta = isJsonObject(params) ? params['_meta'] : undefined;
  return isJsonObject(meta) ? meta[SUBSCRIPTION_ID] : undefined;
}

export function taskNotification(task: ShownTask, subscriptionId: RequestId) {
  return {
    jsonrpc: '2.0' as const,
    method: 'notifications/tasks',
    params: { ...task, _meta: { [SUBSCRIPTION_ID]: subscriptionId } },
  };
}
