/**
 * The whole of Readback in one process on real parts: a Temporal server of its own, the simulator over HTTP, a worker,
 * and `Commands`. Nothing in it is replaced; times are as the test's catalogue says.
 */
import { randomBytes } from 'node:crypto';
import type { TestWorkflowEnvironment } from '@temporalio/testing';
import type { CommandSnapshot, Submission } from '../../commands/commands.ts';
import { createTemporalCommands, type TemporalCommands } from '../../commands/temporal-commands.ts';
import type { Catalogue } from '../../domain/catalogue/definition.ts';
import { loadCatalogue } from '../../domain/catalogue/load.ts';
import type { Caller } from '../../domain/command.ts';
import type { Counters, ReceivedRequest } from '../../simulator/ledger.ts';
import { startSimulator } from '../../simulator/simulator.ts';
import { type RunningWorker, startWorker } from '../../worker/worker.ts';
import { startTemporal } from '../temporal.ts';
import { testWorkflowBundle } from '../workflow-bundle.ts';

export interface Harness {
  readonly temporal: TestWorkflowEnvironment;
  readonly catalogue: Catalogue;
  readonly commands: TemporalCommands;
  readonly sealKey: Uint8Array;
  readonly simulatorUrl: string;
  /** Calls `/admin` of the simulator; the parsed reply. */
  admin(method: string, path: string, body?: unknown): Promise<SimulatedDevice>;
  /** Submits as the local caller; the id. Fails the test when it was not taken. */
  submit(device: string, desired: unknown, more?: Partial<Submission>): Promise<string>;
  /** The command once it has ended. Fails the test when it doesn't within `withinMs`. */
  ended(commandId: string, withinMs?: number): Promise<CommandSnapshot>;
  /** `submit` and `ended`. */
  carryOut(device: string, desired: unknown, more?: Partial<Submission>): Promise<CommandSnapshot>;
  /** Event types of a workflow's history, in order. */
  history(workflowId: string): Promise<string[]>;
  stopWorker(): Promise<void>;
  startWorker(): Promise<void>;
  /** Has another catalogue, in YAML, come into force; `by`: in these only. */
  changeCatalogue(yaml: string, by?: readonly ('server' | 'worker')[]): Promise<void>;
  /** A second server's `Commands`, with nothing shared but Temporal. */
  otherCommands(): Promise<TemporalCommands>;
  close(): Promise<void>;
}

/** What the simulator tells of a device. */
export interface SimulatedDevice {
  readonly reading: Readonly<Record<string, unknown>>;
  readonly counters: Counters;
  readonly received: readonly ReceivedRequest[];
}

export interface HarnessOptions {
  /** Devices of the simulator, and what they share, as in its file. */
  readonly devices: Readonly<Record<string, object>>;
  readonly profiles?: Readonly<Record<string, object>>;
  readonly limits?: Readonly<Record<string, object>>;
  readonly accounts?: Readonly<Record<string, object>>;
  /** The catalogue, in YAML; its `baseUrl: "simulator:"` is filled in. */
  readonly catalogue: string;
  readonly environment?: Readonly<Record<string, string>>;
  /** What the webhook links to. */
  readonly consoleUrl?: string;
}

export const LOCAL: Caller = { subject: 'local', client: 'test', transport: 'http', unattended: false };

export async function startReadback({
  devices,
  profiles = {},
  limits = {},
  accounts = {},
  catalogue: yaml,
  environment = {},
  consoleUrl,
}: HarnessOptions): Promise<Harness> {
  const [temporal, simulator, workflowBundle] = await Promise.all([
    startTemporal(),
    startSimulator({ devices: { devices, profiles, limits, accounts } }),
    testWorkflowBundle(),
  ]);
  const catalogue = await testCatalogue(yaml, simulator.url, environment);
  const inForce = { server: catalogue, worker: catalogue };
  const sealKey = randomBytes(32);
  const shared = { address: temporal.address, namespace: 'default', sealKey };
  const opened: TemporalCommands[] = [];
  const open = async () => {
    const commands = await createTemporalCommands({ ...shared, catalogue: () => inForce.server });
    opened.push(commands);
    return commands;
  };
  const commands = await open();
  let worker: RunningWorker | undefined;
  const harness: Harness = {
    temporal,
    catalogue,
    commands,
    sealKey,
    simulatorUrl: simulator.url,
    async admin(method, path, body) {
      const response = await fetch(`${simulator.url}/admin${path}`, {
        method,
        ...(body === undefined ? {} : { body: JSON.stringify(body) }),
      });
      if (!response.ok) throw new Error(`simulator: ${response.status} ${await response.text()}`);
      return (await response.json()) as SimulatedDevice;
    },
    async submit(device, desired, more = {}) {
      const submitted = await commands.submit({
        device,
        desired,
        caller: LOCAL,
        ...more,
      });
      return submitted.commandId;
    },
    async ended(commandId, withinMs = 60_000) {
      const snapshot = await commands.wait(commandId, { kind: 'operator' }, { timeoutMs: withinMs });
      if (snapshot === undefined || snapshot.status === 'running')
        throw new Error(`${commandId} has not ended: ${JSON.stringify(snapshot?.view)}`);
      return snapshot;
    },
    carryOut: async (device, desired, more) =>
      await harness.ended(await harness.submit(device, desired, more)),
    async history(workflowId) {
      const { events } = await temporal.client.workflow.getHandle(workflowId).fetchHistory();
      return (events ?? []).map(
        (event) => Object.keys(event).find((key) => key.endsWith('EventAttributes')) ?? '?',
      );
    },
    async stopWorker() {
      await worker?.stop();
      worker = undefined;
    },
    async startWorker() {
      worker = await startWorker({
        ...shared,
        catalogue: inForce.worker,
        workflowBundle,
        stickyTimeoutMs: 1000,
        consoleUrl: consoleUrl ?? null,
      });
    },
    async changeCatalogue(changed, by = ['server', 'worker']) {
      const next = await testCatalogue(changed, simulator.url, environment);
      for (const part of by) inForce[part] = next;
      worker?.replaceCatalogue(inForce.worker);
    },
    otherCommands: open,
    async close() {
      await harness.stopWorker();
      for (const one of opened) await one.close();
      await simulator.close();
      await temporal.teardown();
    },
  };
  await harness.startWorker();
  return harness;
}

async function testCatalogue(
  yaml: string,
  simulatorUrl: string,
  environment: Readonly<Record<string, string>>,
): Promise<Catalogue> {
  const loaded = await loadCatalogue({ file: 'test.yaml', readFile: () => yaml, environment, simulatorUrl });
  if (!loaded.ok)
    throw new Error(loaded.problems.map(({ path, message }) => `${path}: ${message}`).join('\n'));
  return loaded.catalogue;
}
