/**
 * The audit: every acceptance, answer, send and end of commands, from the histories that Temporal keeps. Nothing is stored
 * for it, so nothing can be missing from it, until retention is over.
 */
import type { Client } from '@temporalio/client';
import { optionalTsToMs } from '@temporalio/common/lib/time.js';
import { SEARCH_ATTRIBUTE, WORKFLOW_TYPE } from '../workflows/messages.ts';
import { createAuditor } from './audit/auditor.ts';
import type { AuditRecord } from './audit/record.ts';
import { InputError } from './commands.ts';
import { demand } from './engine.ts';
import { decoderOf, type Execution, historyOf, timeOf } from './history.ts';
import { quotedInQuery } from './query.ts';

export interface AuditOptions {
  /** Epoch ms; the first moment that belongs to it. null: from the oldest history. */
  readonly since: number | null;
  /** Epoch ms; the first moment that no longer does. null: until a moment ago. */
  readonly until: number | null;
  readonly device?: string | undefined;
}

export interface AuditExport {
  readonly since: number | null;
  /** What was asked for, or a moment ago, if that is earlier: then nothing can be added to the range any more. */
  readonly until: number;
  /** Commands whose histories have to be read. */
  readonly commands: number;
  /** How long Temporal keeps a command after its end. */
  readonly retentionMs: number;
  /** When the command ended whose history goes first. null: none has ended. */
  readonly oldestEndAt: number | null;
  /**
   * By the command's start, then in the order of its history; the same for the same range, whenever it is read.
   * `read`: told after each command. Throws `EngineUnreachable`.
   */
  records(read?: () => void): AsyncIterable<AuditRecord>;
}

/** Visibility lags, and the clocks of this machine and Temporal's differ: what is older than this is all there. */
const SETTLES_WITHIN_MS = 10_000;
/** Only so many ids are held, and sorted, at a time. */
const WINDOW_COMMANDS = 500;
const HISTORIES_AT_ONCE = 8;
const LIST_PAGE = 200;

const COMMANDS = `WorkflowType = "${WORKFLOW_TYPE.deviceCommand}"`;

/** Throws `InputError` for a range that holds nothing. */
export async function auditExport(
  client: Client,
  retentionMs: number,
  { since, until: wanted, device }: AuditOptions,
): Promise<AuditExport> {
  const now = Date.now();
  const until = Math.min(wanted ?? now, now - SETTLES_WITHIN_MS);
  if (since !== null && since >= until)
    throw new InputError(
      `The range is empty: it would begin at ${iso(since)} and end at ${iso(until)}. What happened in the last ${SETTLES_WITHIN_MS / 1000} s is left to the next export.`,
    );
  const query = [
    COMMANDS,
    ...(device === undefined ? [] : [`${SEARCH_ATTRIBUTE.device.name} = ${quotedInQuery(device)}`]),
    ...(since === null ? [] : [`(ExecutionStatus = "Running" OR CloseTime >= "${iso(since)}")`]),
  ].join(' AND ');
  const range = { from: since ?? 0, until };
  return {
    since,
    until,
    commands: await countOf(client, `${query} AND StartTime < "${iso(until)}"`),
    retentionMs,
    oldestEndAt: await oldestEnd(client, now),
    records: (read = () => {}) => records(client, query, range, read),
  };
}

interface Range {
  readonly from: number;
  readonly until: number;
}

async function* records(
  client: Client,
  query: string,
  range: Range,
  read: () => void,
): AsyncGenerator<AuditRecord, void> {
  for await (const executions of startedIn(client, query, { from: 0, until: range.until })) {
    const ofEach = inOrder(executions, HISTORIES_AT_ONCE, (execution) => recordsOf(client, execution, range));
    for await (const found of ofEach) {
      yield* found;
      read();
    }
  }
}

/** A command's history has some dozens of events, a few thousand at most, of which only the records are kept. */
async function recordsOf(
  client: Client,
  execution: Execution,
  { from, until }: Range,
): Promise<AuditRecord[]> {
  const auditor = createAuditor(execution, decoderOf(client));
  const found: AuditRecord[] = [];
  let at = 0;
  for await (const event of historyOf(client, execution)) {
    // What came in during a workflow task is written after it, with the time at which it came: ranges need one direction.
    at = Math.max(at, timeOf(event));
    if (at >= until) break;
    const settled = await auditor.take(event, at);
    if (at >= from) found.push(...settled);
  }
  return found;
}

/**
 * The commands that were started in this time, in order, some hundreds at a time. Visibility knows no order that stays,
 * and no order at all on some databases: the time is halved until a part is small enough to be sorted here.
 */
async function* startedIn(
  client: Client,
  query: string,
  { from, until }: Range,
): AsyncGenerator<Execution[], void> {
  const within = `${query} AND StartTime >= "${iso(from)}" AND StartTime < "${iso(until)}"`;
  const count = await countOf(client, within);
  if (count === 0) return;
  if (count <= WINDOW_COMMANDS || until - from <= 1) {
    yield await listed(client, within);
    return;
  }
  const middle = Math.floor((from + until) / 2);
  yield* startedIn(client, query, { from, until: middle });
  yield* startedIn(client, query, { from: middle, until });
}

async function listed(client: Client, query: string): Promise<Execution[]> {
  /** By run: one that ends while pages are read may be in two of them. */
  const found = new Map<string, Execution & { readonly startedAt: number }>();
  let token: Uint8Array | null = null;
  do {
    const page: Awaited<ReturnType<typeof client.workflowService.listWorkflowExecutions>> = await demand(() =>
      client.workflowService.listWorkflowExecutions({
        namespace: client.options.namespace,
        query,
        pageSize: LIST_PAGE,
        ...(token === null ? {} : { nextPageToken: token }),
      }),
    );
    for (const { execution, startTime } of page.executions) {
      const { workflowId, runId } = execution ?? {};
      if (workflowId && runId)
        found.set(runId, { workflowId, runId, startedAt: optionalTsToMs(startTime) ?? 0 });
    }
    token = page.nextPageToken.length > 0 ? page.nextPageToken : null;
  } while (token !== null);
  return [...found.values()].sort((a, b) => a.startedAt - b.startedAt || (a.runId < b.runId ? -1 : 1));
}

/** To the second. Visibility can't be asked for the oldest, so the time before which none has ended is halved. */
async function oldestEnd(client: Client, now: number): Promise<number | null> {
  const endedBefore = (at: number): Promise<number> =>
    countOf(client, `${COMMANDS} AND CloseTime < "${iso(at)}"`);
  if ((await endedBefore(now)) === 0) return null;
  let [none, some] = [0, now];
  while (some - none > 1000) {
    const middle = Math.floor((none + some) / 2);
    if ((await endedBefore(middle)) === 0) none = middle;
    else some = middle;
  }
  return none;
}

const countOf = async (client: Client, query: string): Promise<number> =>
  (await demand(() => client.workflow.count(query))).count;

const iso = (at: number): string => new Date(at).toISOString();

/** Works on several at once, and gives the results in the order of the items. */
async function* inOrder<Item, Result>(
  items: readonly Item[],
  atOnce: number,
  work: (item: Item) => Promise<Result>,
): AsyncGenerator<Result, void> {
  const underWay: Promise<Result>[] = [];
  for (const item of items) {
    const result = work(item);
    // It is awaited below, perhaps only after another one has failed.
    result.catch(() => {});
    underWay.push(result);
    const first = underWay.length < atOnce ? undefined : underWay.shift();
    if (first !== undefined) yield await first;
  }
  for (const result of underWay) yield await result;
}
