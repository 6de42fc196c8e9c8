/** `Commands` over Temporal: the one place outside workers that talks to it. */
import { Client, Connection } from '@temporalio/client';
import type { Catalogue } from '../domain/catalogue/definition.ts';
import { describeField } from '../domain/devices.ts';
import { nearest } from '../domain/nearest.ts';
import { linkTo } from '../tracing/trace-context.ts';
import { SEARCH_ATTRIBUTE, WORKFLOW_TYPE } from '../workflows/messages.ts';
import { answerQuestions } from './answer.ts';
import { decide, pendingApprovals } from './approvals.ts';
import { type AuditExport, type AuditOptions, auditExport } from './audit.ts';
import {
  type CommandSnapshot,
  type Commands,
  type DeviceSummary,
  EngineUnreachable,
  type Viewer,
} from './commands.ts';
import { ask, demand } from './engine.ts';
import { changes, follow } from './follow.ts';
import { createKnownCommands } from './known-commands.ts';
import { quotedInQuery } from './query.ts';
import { dryRun, probe, readState } from './reads.ts';
import { recentSnapshots } from './recent-snapshots.ts';
import { retentionOf } from './set-up.ts';
import { listedSnapshot, snapshotOf } from './snapshot.ts';
import { createSubmitter } from './submit.ts';
import { timelineOf } from './timeline.ts';
import { tracedClient } from './traced-client.ts';

export interface TemporalCommandsOptions {
  /** Temporal's frontend, `host:port`. */
  readonly address: string;
  readonly namespace: string;
  /** The catalogue in force now. */
  readonly catalogue: () => Catalogue;
  /** Shared with the workers; null where nothing decides approvals. */
  readonly sealKey: Uint8Array | null;
}

export interface TemporalCommands extends Commands {
  /** What was done with everybody's commands, for those who have to prove it. Throws `InputError` for an empty range. */
  audit(options: AuditOptions): Promise<AuditExport>;
  close(): Promise<void>;
}

const CONNECT_WITHIN_MS = 5000;
/** A status must be served, or its absence said, within two seconds. */
const DESCRIBE_WITHIN_MS = 2000;

/** Throws `EngineUnreachable` when Temporal doesn't answer at `address`. */
export async function createTemporalCommands({
  address,
  namespace,
  catalogue,
  sealKey,
}: TemporalCommandsOptions): Promise<TemporalCommands> {
  const connection = await connect(address);
  const client = new Client({ connection, namespace, interceptors: { workflow: [tracedClient] } });
  const retentionMs = once(() => demand(() => retentionOf(connection, namespace)));

  const { get, lately, changing } = recentSnapshots((id) => describeCommand(client, id, retentionMs));
  const known = createKnownCommands(client, (id) => get(id, { kind: 'operator' }), retentionMs);
  const { submit } = createSubmitter(client, catalogue, known);

  return {
    submit,
    get,
    lately,
    wait: async (commandId, viewer, { timeoutMs, signal, until = hasEnded }) =>
      await follow(client, commandId, () => get(commandId, viewer), { timeoutMs, signal, until }),
    changes: (commandId, viewer, signal) =>
      changes(client, commandId, () => get(commandId, viewer), hasEnded, signal),
    async cancel(commandId, viewer) {
      const snapshot = await get(commandId, viewer);
      if (snapshot === undefined) return false;
      // Temporal's cancel carries no header.
      linkTo(snapshot.trace);
      const cancel = () => ask(() => client.workflow.getHandle(commandId).cancel());
      if (snapshot.status === 'running') await changing(commandId, cancel);
      return true;
    },
    async list(viewer, { limit, device, openOnly = false, notPending = false }) {
      const retention = await retentionMs();
      const query = listQuery(viewer, { device, openOnly, notPending });
      return await demand(async () => {
        const found: CommandSnapshot[] = [];
        for await (const info of client.workflow.list({ query, pageSize: Math.min(limit, 200) })) {
          const snapshot = listedSnapshot(info, viewer, retention);
          if (snapshot !== undefined) found.push(snapshot);
          if (found.length >= limit) break;
        }
        return found;
      });
    },
    async answer(commandId, viewer, answers, way) {
      // How fast it came must not depend on how fast Temporal is.
      const at = Date.now();
      const snapshot = await get(commandId, viewer);
      if (snapshot === undefined) return 'unknown';
      linkTo(snapshot.trace);
      const decider = { by: snapshot.view.owner, at, ...way };
      return await changing(commandId, () =>
        answerQuestions(client, needKey(sealKey), snapshot, answers, decider),
      );
    },
    async timeline(commandId, viewer) {
      if ((await get(commandId, viewer)) === undefined) return undefined;
      return await timelineOf(client, commandId);
    },
    pendingApprovals: async (options) => await pendingApprovals(client, await retentionMs(), options),
    decide: async (commandId, decision, as = { kind: 'operator' }) =>
      await changing(commandId, () =>
        decide(client, needKey(sealKey), () => get(commandId, as), decision, as),
      ),
    readState: async (device) => await readState(client, catalogue(), device),
    probe: async (device) => await probe(client, catalogue(), device),
    dryRun: async (submission) => await dryRun(client, catalogue(), submission),
    devices: (query) => deviceSummaries(catalogue(), query),
    audit: async (options) => await auditExport(client, await retentionMs(), options),
    close: () => connection.close(),
  };
}

function needKey(sealKey: Uint8Array | null): Uint8Array {
  if (sealKey === null)
    throw new Error('this process has no key to seal decisions with: set READBACK_SEAL_KEY');
  return sealKey;
}

async function describeCommand(
  client: Client,
  commandId: string,
  retentionMs: () => Promise<number>,
): Promise<CommandSnapshot | undefined> {
  const describe = () => client.workflow.getHandle(commandId).describe();
  const description = await ask(() => client.withDeadline(Date.now() + DESCRIBE_WITHIN_MS, describe));
  return description && (await snapshotOf(client, description, { kind: 'operator' }, await retentionMs()));
}

const hasEnded = (snapshot: CommandSnapshot): boolean => snapshot.status !== 'running';

async function connect(address: string): Promise<Connection> {
  try {
    return await Connection.connect({ address, connectTimeout: CONNECT_WITHIN_MS });
  } catch (error) {
    throw new EngineUnreachable(
      `No Temporal answers at ${address}. Start one with \`readback up\`, or name another with --temporal ADDRESS.`,
      { cause: error },
    );
  }
}

/** Asked for once, and again only if it failed. */
function once<T>(load: () => Promise<T>): () => Promise<T> {
  let loading: Promise<T> | null = null;
  return () => {
    loading ??= load().catch((error: unknown) => {
      loading = null;
      throw error;
    });
    return loading;
  };
}

function listQuery(
  viewer: Viewer,
  { device, openOnly, notPending }: { device: string | undefined; openOnly: boolean; notPending: boolean },
): string {
  const conditions = [`WorkflowType = "${WORKFLOW_TYPE.deviceCommand}"`];
  if (viewer.kind === 'owner')
    conditions.push(`${SEARCH_ATTRIBUTE.owner.name} = ${quotedInQuery(viewer.subject)}`);
  if (device !== undefined) conditions.push(`${SEARCH_ATTRIBUTE.device.name} = ${quotedInQuery(device)}`);
  if (openOnly) conditions.push('ExecutionStatus = "Running"');
  if (notPending) {
    const { name } = SEARCH_ATTRIBUTE.approval;
    conditions.push(`(${name} IS NULL OR ${name} != "pending")`);
  }
  return conditions.join(' AND ');
}

/** Matches id, name, alias, area and tag, loosely: this only lists, it never sends. */
function deviceSummaries({ devices }: Catalogue, query: string | undefined): DeviceSummary[] {
  const summaries = Object.values(devices).map(
    ({ id, name, area, aliases, tags, hint, fields }): DeviceSummary => {
      const described = Object.entries(fields).map(([field, definition]): [string, string] => [
        field,
        describeField(definition),
      ]);
      return { device: id, name, area, aliases, tags, hint, fields: Object.fromEntries(described) };
    },
  );
  const wanted = query?.trim().toLowerCase() ?? '';
  if (wanted === '') return summaries;
  const words = (summary: DeviceSummary): string[] => [
    summary.device,
    summary.name,
    summary.area ?? '',
    ...summary.aliases,
    ...summary.tags,
  ];
  const found = summaries.filter((summary) =>
    words(summary).some((word) => word.toLowerCase().includes(wanted)),
  );
  if (found.length > 0) return found;
  const close = new Set(nearest(wanted, summaries.flatMap(words)));
  return summaries.filter((summary) => words(summary).some((word) => close.has(word)));
}
