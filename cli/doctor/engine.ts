/** Checks of Temporal: reached, namespace, search attributes, retention, workers. */
import type { Connection } from '@temporalio/client';
import { workersPolling } from '../../commands/polling.ts';
import { MINIMUM_RETENTION_MS, missingSearchAttributes, retentionOf } from '../../commands/set-up.ts';
import { EXIT } from '../failure.ts';
import { connectTemporal } from '../namespace.ts';
import { type Finding, fine, problem, warning } from './finding.ts';

const REACHED_WITHIN_MS = 3_000;
const DAY_MS = 86_400_000;

export async function checkEngine(address: string, namespace: string): Promise<Finding[]> {
  let connection: Connection;
  try {
    connection = await connectTemporal(address, REACHED_WITHIN_MS);
  } catch {
    const mend = 'Start `readback up`, or name the right one with --temporal or TEMPORAL_ADDRESS.';
    return [problem('temporal', EXIT.noTemporal, `nothing answers at ${address}`, mend)];
  }
  try {
    const reached = fine('temporal', `answers at ${address}`);
    const existence = await checkNamespace(connection, namespace);
    if (existence.status === 'problem') return [reached, existence];
    return [
      reached,
      existence,
      await checkSearchAttributes(connection, namespace),
      await checkRetention(connection, namespace),
      await checkWorkers(connection, namespace),
    ];
  } finally {
    await connection.close();
  }
}

async function checkNamespace(connection: Connection, namespace: string): Promise<Finding> {
  try {
    await connection.workflowService.describeNamespace({ namespace });
    return fine('namespace', namespace);
  } catch (error) {
    const why = error instanceof Error ? error.message : String(error);
    const mend = `Make it (temporal operator namespace create --retention 7d ${namespace}), or name another with --namespace.`;
    return problem('namespace', EXIT.noTemporal, `"${namespace}" can't be used: ${why}`, mend);
  }
}

async function checkSearchAttributes(connection: Connection, namespace: string): Promise<Finding> {
  const missing = await missingSearchAttributes(connection, namespace);
  if (missing.length === 0) return fine('search attributes', 'registered');
  const flags = missing.map((name) => `--name ${name} --type Keyword`).join(' ');
  return problem(
    'search attributes',
    EXIT.endedBadly,
    `missing: ${missing.join(', ')}`,
    `\`readback up\` registers them; by hand: temporal operator search-attribute create --namespace ${namespace} ${flags}`,
  );
}

async function checkRetention(connection: Connection, namespace: string): Promise<Finding> {
  const retention = await retentionOf(connection, namespace);
  const days = `${Math.round((retention / DAY_MS) * 10) / 10} days`;
  if (retention >= MINIMUM_RETENTION_MS) return fine('retention', `ended commands are kept for ${days}`);
  return warning(
    'retention',
    `ended commands are forgotten after ${days}`,
    `temporal operator namespace update --retention 7d ${namespace}`,
  );
}

async function checkWorkers(connection: Connection, namespace: string): Promise<Finding> {
  const polling = await workersPolling(connection, namespace);
  if (polling === 'all') return fine('worker', 'polls');
  return problem(
    'worker',
    EXIT.endedBadly,
    polling === 'some' ? 'polls, but not for everything' : 'none polls: commands are accepted and wait',
    'Start `readback up`, or `readback worker` with the same --temporal, --namespace and --catalogue. If one runs, see its log.',
  );
}
