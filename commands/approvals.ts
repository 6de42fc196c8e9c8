/** The approval queue: what waits for a person, and carrying their decision to it. */
import type { Client } from '@temporalio/client';
import { plain } from '../domain/text.ts';
import { SEARCH_ATTRIBUTE, WORKFLOW_TYPE } from '../workflows/messages.ts';
import { deliverAnswer, sealed } from './answer.ts';
import {
  type CommandSnapshot,
  type Decided,
  type Decision,
  InputError,
  type PendingApprovals,
} from './commands.ts';
import { demand } from './engine.ts';
import { listPage } from './list-page.ts';

const PENDING = `WorkflowType = "${WORKFLOW_TYPE.deviceCommand}" AND ${SEARCH_ATTRIBUTE.approval.name} = "pending" AND ExecutionStatus = "Running"`;
const LARGEST_PAGE = 200;
const LONGEST_COMMENT = 500;

export async function pendingApprovals(
  client: Client,
  retentionMs: number,
  { limit, cursor }: { limit: number; cursor?: string | undefined },
): Promise<PendingApprovals> {
  const [page, counted] = await Promise.all([
    listPage(
      client,
      { query: PENDING, limit: Math.min(limit, LARGEST_PAGE), cursor },
      { kind: 'operator' },
      retentionMs,
    ),
    demand(() => client.workflow.count(PENDING)),
  ]);
  // The list lags by some milliseconds: what has been decided meanwhile is left out.
  const items = page.items.filter(({ view }) => view.approval !== null);
  items.sort((a, b) => (a.view.approval?.expiresAt ?? 0) - (b.view.approval?.expiresAt ?? 0));
  return { items, cursor: page.cursor, total: counted.count };
}

/** `snapshot` is fresh: the list of what is pending may be old. */
export async function decide(
  client: Client,
  sealKey: Uint8Array,
  snapshot: CommandSnapshot | undefined,
  { decision, by, via, comment }: Decision,
): Promise<Decided> {
  if (snapshot === undefined) return { kind: 'unknown' };
  const { commandId, view } = snapshot;
  const words = comment === null || comment.trim() === '' ? null : plain(comment, LONGEST_COMMENT);
  if (decision === 'declined' && words === null)
    throw new InputError('A decline needs a reason, so that whoever asked can be told. Nothing was decided.');
  if (view.decidedBy !== null)
    return { kind: 'decidedBefore', decision: view.decidedBy.decision, by: view.decidedBy.by };
  if (snapshot.status !== 'running' || view.approval === null)
    return { kind: 'notPending', why: whyNotPending(snapshot) };
  if (view.approval.expiresAt <= Date.now())
    return { kind: 'notPending', why: 'its time is over; nothing was sent' };
  if (view.approval.by === 'operator' && by === view.owner) {
    throw new InputError(
      `${by} asked for this command, so somebody else has to decide it. Nothing was decided.`,
    );
  }
  const receipt = await deliverAnswer(
    client,
    commandId,
    sealed(sealKey, commandId, view.approval, { decision, by, via, comment: words }),
  );
  if (receipt === 'queued') return { kind: 'queued' };
  if (receipt === 'ended') return { kind: 'notPending', why: 'it has ended meanwhile' };
  if (receipt.taken) return { kind: 'taken' };
  if (receipt.by !== null && (receipt.standing === 'approved' || receipt.standing === 'declined')) {
    return { kind: 'decidedBefore', decision: receipt.standing, by: receipt.by };
  }
  return {
    kind: 'notPending',
    why:
      receipt.standing === 'expired' ? 'its time is over; nothing was sent' : 'the decision was not accepted',
  };
}

function whyNotPending({ view, status }: CommandSnapshot): string {
  if (view.result !== null) return `it has ended: ${view.result.outcome}`;
  return status === 'running' ? 'it needs no approval' : `it is ${status}`;
}
