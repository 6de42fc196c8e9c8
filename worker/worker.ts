/** Composition root of the worker: workflows, activities, and the queues they are taken from. */
import { fileURLToPath } from 'node:url';
import { Client, Connection } from '@temporalio/client';
import {
  bundleWorkflowCode,
  type Logger,
  NativeConnection,
  Worker,
  type WorkflowBundle,
} from '@temporalio/worker';
import { createActivities } from '../activities/activities.ts';
import { putInForce } from '../activities/in-force.ts';
import { sharedBudget } from '../activities/shared-budget.ts';
import { fileSignIns } from '../activities/sign-in/store.ts';
import type { Catalogue } from '../domain/catalogue/definition.ts';
import { RINGS_TASK_QUEUE, TASK_QUEUE, TURNS_TASK_QUEUE } from '../workflows/messages.ts';
import { tracedActivities } from './traced-activities.ts';

export interface WorkerOptions {
  /** Temporal's frontend, `host:port`. */
  readonly address: string;
  readonly namespace: string;
  /** The one to begin with. */
  readonly catalogue: Catalogue;
  readonly sealKey: Uint8Array;
  /** Where sign-ins at devices' APIs are kept, sealed; left out: they are forgotten with this worker. */
  readonly signInFolder?: string | undefined;
  /** Where people decide approvals; the webhook then links to it. */
  readonly consoleUrl?: string | null;
  readonly logger?: Logger;
  /** A bundle made earlier; bundling takes about two seconds. */
  readonly workflowBundle?: WorkflowBundle;
  /** Shorter, a killed worker's workflows move sooner to another one; longer, fewer replays. */
  readonly stickyTimeoutMs?: number;
}

export interface RunningWorker {
  /** Resolves when the worker has stopped by itself or by `stop`; rejects when it broke. */
  readonly done: Promise<void>;
  /** What begins from now on works by this catalogue. Throws, and changes nothing, where its connections can't be opened. */
  replaceCatalogue(catalogue: Catalogue): void;
  /** Takes no more work, lets sends that are under way finish, and closes its connections. */
  stop(): Promise<void>;
}

/** Sends and reads: each holds a socket and little else. */
const ACTIVITY_SLOTS = 200;
/** Commands that long-poll the one ahead of them at their device. */
const TURN_SLOTS = 500;
/** One receiver at the end of all of them. */
const RING_SLOTS = 8;
/** A send may take its whole time-out; stopping waits for it, so that its outcome is known. */
const SHUTDOWN_GRACE = '40 seconds';

export async function startWorker(options: WorkerOptions): Promise<RunningWorker> {
  const { address, namespace, catalogue, sealKey, consoleUrl = null, stickyTimeoutMs = 5000 } = options;
  const connection = await NativeConnection.connect({ address });
  const clientConnection = await Connection.connect({ address });
  const client = new Client({ connection: clientConnection, namespace });
  const { signInFolder } = options;
  const inForce = putInForce(catalogue, {
    lenderOf: (name) => sharedBudget(client, name),
    signIns: signInFolder === undefined ? undefined : fileSignIns(signInFolder, sealKey),
  });
  const activities = createActivities({ client, sealKey, consoleUrl }, inForce);
  const shared = {
    connection,
    namespace,
    shutdownGraceTime: SHUTDOWN_GRACE,
    interceptors: { activity: [tracedActivities] },
  };
  const main = await Worker.create({
    ...shared,
    taskQueue: TASK_QUEUE,
    activities,
    workflowBundle: options.workflowBundle ?? (await bundleWorkflows(options.logger)),
    maxConcurrentActivityTaskExecutions: ACTIVITY_SLOTS,
    // A heartbeat carries the latest reading to whoever asks; held back longer it would be old.
    maxHeartbeatThrottleInterval: '1 second',
    stickyQueueScheduleToStartTimeout: stickyTimeoutMs,
  });
  const turns = await Worker.create({
    ...shared,
    taskQueue: TURNS_TASK_QUEUE,
    activities: { takeTurn: activities.takeTurn },
    maxConcurrentActivityTaskExecutions: TURN_SLOTS,
  });
  const rings = await Worker.create({
    ...shared,
    taskQueue: RINGS_TASK_QUEUE,
    activities: { ring: activities.ring },
    maxConcurrentActivityTaskExecutions: RING_SLOTS,
  });
  const workers = [main, turns, rings];

  const done = Promise.all(workers.map((worker) => worker.run())).then(async () => {
    await inForce.close();
    await clientConnection.close();
    await connection.close();
  });
  return {
    done,
    replaceCatalogue: inForce.replace,
    stop: async () => {
      for (const worker of workers) if (worker.getState() === 'RUNNING') worker.shutdown();
      await done;
    },
  };
}

/** Everything below `workflows/`, as one deterministic bundle. */
export async function bundleWorkflows(logger?: Logger): Promise<WorkflowBundle> {
  const fileOf = (name: string) => fileURLToPath(new URL(`../workflows/${name}`, import.meta.url));
  return await bundleWorkflowCode({
    workflowsPath: fileOf('index.ts'),
    workflowInterceptorModules: [fileOf('trace-header.ts')],
    ...(logger === undefined ? {} : { logger }),
  });
}
