/** Waits for Temporal and makes the namespace ready, before any worker starts. */
import { Connection } from '@temporalio/client';
import {
  ensureRetention,
  ensureSearchAttributes,
  MINIMUM_RETENTION_MS,
  retentionOf,
} from '../commands/set-up.ts';
import { EXIT, Failure } from './failure.ts';

const ANSWERS_WITHIN_MS = 30_000;
const DAY_MS = 86_400_000;

export interface NamespaceOptions {
  readonly address: string;
  readonly namespace: string;
  /** Our own server: its retention is ours to set. Somebody else's is only looked at. */
  readonly ours: boolean;
  readonly say: (text: string) => void;
}

/** Throws a `Failure` when Temporal doesn't answer or the namespace can't be made ready. */
export async function prepareNamespace({ address, namespace, ours, say }: NamespaceOptions): Promise<void> {
  const connection = await connectTemporal(address, ours ? ANSWERS_WITHIN_MS : 5_000);
  try {
    await ensureSearchAttributes(connection, namespace);
    if (ours) {
      await ensureRetention(connection, namespace);
    } else {
      const retention = await retentionOf(connection, namespace);
      if (retention < MINIMUM_RETENTION_MS) say(shortRetention(namespace, retention));
    }
  } catch (error) {
    const why = error instanceof Error ? error.message : String(error);
    throw new Failure(
      EXIT.noTemporal,
      `Temporal at ${address} answers, but its namespace "${namespace}" can't be made ready: ${why}. ` +
        'Does it exist (temporal operator namespace describe), and may we register search attributes in it?',
      error,
    );
  } finally {
    await connection.close();
  }
}

/** Throws a `Failure` with exit code 3 when nothing answers at `address` in time. */
export async function connectTemporal(address: string, withinMs: number): Promise<Connection> {
  const giveUpAt = Date.now() + withinMs;
  for (;;) {
    try {
      return await Connection.connect({ address, connectTimeout: Math.min(withinMs, 2_000) });
    } catch (error) {
      if (Date.now() < giveUpAt) {
        await new Promise((wake) => setTimeout(wake, 100));
        continue;
      }
      throw new Failure(
        EXIT.noTemporal,
        `Can't reach Temporal at ${address}. Is it running there? Without --temporal (and TEMPORAL_ADDRESS) ` +
          '`readback up` starts one of its own.',
        error,
      );
    }
  }
}

function shortRetention(namespace: string, retentionMs: number): string {
  return (
    `Temporal's namespace "${namespace}" forgets ended commands after ${retentionMs / DAY_MS} days; Readback ` +
    `recommends 7 or more: temporal operator namespace update --retention 7d ${namespace}`
  );
}
