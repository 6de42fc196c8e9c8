/** Whether workers are there to do what commands ask for. */
import type { Connection } from '@temporalio/client';
import proto from '@temporalio/proto';
import { RINGS_TASK_QUEUE, TASK_QUEUE, TURNS_TASK_QUEUE } from '../workflows/messages.ts';

/** A poll lasts up to a minute; whoever hasn't polled for longer is gone. */
const POLLED_WITHIN_MS = 90_000;

const { TASK_QUEUE_TYPE_WORKFLOW: WORKFLOWS, TASK_QUEUE_TYPE_ACTIVITY: ACTIVITIES } =
  proto.temporal.api.enums.v1.TaskQueueType;

/** `all`: every task queue of Readback is polled; `some`: work will get stuck half-way; `none`: commands wait. */
export async function workersPolling(
  connection: Connection,
  namespace: string,
): Promise<'all' | 'some' | 'none'> {
  const polled = await Promise.all([
    isPolled(connection, namespace, TASK_QUEUE, WORKFLOWS),
    isPolled(connection, namespace, TASK_QUEUE, ACTIVITIES),
    isPolled(connection, namespace, TURNS_TASK_QUEUE, ACTIVITIES),
    isPolled(connection, namespace, RINGS_TASK_QUEUE, ACTIVITIES),
  ]);
  if (polled.every(Boolean)) return 'all';
  return polled.some(Boolean) ? 'some' : 'none';
}

async function isPolled(
  connection: Connection,
  namespace: string,
  name: string,
  taskQueueType: proto.temporal.api.enums.v1.TaskQueueType,
): Promise<boolean> {
  const { pollers } = await connection.workflowService.describeTaskQueue({
    namespace,
    taskQueue: { name },
    taskQueueType,
  });
  const since = Date.now() - POLLED_WITHIN_MS;
  return (pollers ?? []).some(({ lastAccessTime }) => Number(lastAccessTime?.seconds ?? 0) * 1000 > since);
}
