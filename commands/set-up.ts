/** Makes a namespace ready for Readback: search attributes and retention. Repeating it is harmless. */
import type { Connection } from '@temporalio/client';
import { msToTs } from '@temporalio/common/lib/time.js';
import proto from '@temporalio/proto';
import { SEARCH_ATTRIBUTE } from '../workflows/messages.ts';

const KEYWORD = proto.temporal.api.enums.v1.IndexedValueType.INDEXED_VALUE_TYPE_KEYWORD;
/** A command's end can be asked about for at least this long. */
export const MINIMUM_RETENTION_MS = 7 * 24 * 3_600_000;
/** A namespace created a moment ago may not be known everywhere yet. */
const NAMESPACE_APPEARS_WITHIN_MS = 15_000;

/**
 * Registers the search attributes that are missing and waits until the server knows them.
 * Must be done before any worker starts: an unregistered one fails the workflow task for ever.
 */
export async function ensureSearchAttributes(connection: Connection, namespace: string): Promise<void> {
  const missing = await missingSearchAttributes(connection, namespace);
  if (missing.length === 0) return;
  const searchAttributes = Object.fromEntries(missing.map((name) => [name, KEYWORD]));
  await untilNamespaceAppears(() =>
    connection.operatorService.addSearchAttributes({ namespace, searchAttributes }),
  );
}

/** Names that the namespace doesn't have yet. */
export async function missingSearchAttributes(connection: Connection, namespace: string): Promise<string[]> {
  const known = await untilNamespaceAppears(() =>
    connection.operatorService.listSearchAttributes({ namespace }),
  );
  return Object.values(SEARCH_ATTRIBUTE)
    .map((key) => key.name)
    .filter((name) => known.customAttributes?.[name] === undefined);
}

/** Raises the namespace's retention to at least seven days; returns the retention in force, in milliseconds. */
export async function ensureRetention(connection: Connection, namespace: string): Promise<number> {
  const present = await retentionOf(connection, namespace);
  if (present >= MINIMUM_RETENTION_MS) return present;
  await connection.workflowService.updateNamespace({
    namespace,
    config: { workflowExecutionRetentionTtl: msToTs(MINIMUM_RETENTION_MS) },
  });
  return MINIMUM_RETENTION_MS;
}

/** How long the namespace keeps closed workflows, in milliseconds. */
export async function retentionOf(connection: Connection, namespace: string): Promise<number> {
  const described = await untilNamespaceAppears(() =>
    connection.workflowService.describeNamespace({ namespace }),
  );
  return Number(described.config?.workflowExecutionRetentionTtl?.seconds ?? 0) * 1000;
}

async function untilNamespaceAppears<T>(call: () => Promise<T>): Promise<T> {
  const giveUpAt = Date.now() + NAMESPACE_APPEARS_WITHIN_MS;
  for (;;) {
    try {
      return await call();
    } catch (error) {
      const unknownYet = error instanceof Error && /namespace .*not found/i.test(error.message);
      if (!unknownYet || Date.now() > giveUpAt) throw error;
      await new Promise((resolve) => setTimeout(resolve, 500));
    }
  }
}
