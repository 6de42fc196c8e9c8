/** A workflow's history, event by event, and what its payloads hold. */
import type { Client } from '@temporalio/client';
import { decodeArrayFromPayloads } from '@temporalio/common/lib/internal-non-workflow/index.js';
import { optionalTsToMs } from '@temporalio/common/lib/time.js';
import type { temporal } from '@temporalio/proto';
import { ask } from './engine.ts';

export type HistoryEvent = temporal.api.history.v1.IHistoryEvent;
export type Payloads = temporal.api.common.v1.IPayloads | null | undefined;
/** The first of the payloads; undefined where there is none. Rejects for what the data converter doesn't know. */
export type Decode = <T>(payloads: Payloads) => Promise<T | undefined>;

export interface Execution {
  readonly workflowId: string;
  readonly runId: string;
}

export const decoderOf = (client: Client): Decode =>
  async function decode<T>(payloads: Payloads): Promise<T | undefined> {
    const values = await decodeArrayFromPayloads(client.options.loadedDataConverter, payloads?.payloads);
    return values[0] as T | undefined;
  };

/** Epoch ms of Temporal's clock. */
export const timeOf = (event: HistoryEvent): number => optionalTsToMs(event.eventTime) ?? 0;

/** Page by page, so that a long history takes no more memory than a short one. Nothing: unknown, or past retention. */
export async function* historyOf(
  client: Client,
  { workflowId, runId }: Execution,
): AsyncGenerator<HistoryEvent, void> {
  let token: Uint8Array | null = null;
  do {
    const page: temporal.api.workflowservice.v1.IGetWorkflowExecutionHistoryResponse | undefined = await ask(
      () =>
        client.workflowService.getWorkflowExecutionHistory({
          namespace: client.options.namespace,
          execution: { workflowId, runId },
          maximumPageSize: PAGE_EVENTS,
          ...(token === null ? {} : { nextPageToken: token }),
        }),
    );
    yield* page?.history?.events ?? [];
    const next = page?.nextPageToken;
    token = next != null && next.length > 0 ? next : null;
  } while (token !== null);
}

const PAGE_EVENTS = 500;
