/** The approval queue: what waits for a person, and carrying their decision to it. */
import type { Client } from '@temporalio/client';
import { asksItsOwner } from '../domain/approval/brief.ts';
import { LONGEST_COMMENT } from '../domain/approval/decision.ts';
import { samePerson } from '../domain/approval/person.ts';
import { plain } from '../domain/text.ts';
import { SEARCH_ATTRIBUTE, WORKFLOW_TYPE } from '../workflows/messages.ts';
import { deliverAnswer, sealed } from './answer.ts';
import {
  type CommandSnapshot,
  type Decided,
  type Decision,
  InputError,
  type PendingApprovals,
  type Viewer,
} from './commands.ts';
import { demand } from './engine.ts';
import { listPage } from './list-page.ts';

const PENDING = `WorkflowType = "${WORKFLOW_TYPE.deviceCommand}" AND ${SEARCH_ATTRIBUTE.approval.name} = "pending" AND ExecutionStatus = "Running"`;
const LARGEST_PAGE = 200;

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

/** `get` describes the command anew each time: the list of what is pending may be old, and so is what was true before. */
export async function decide(
  client: Client,
  sealKey: Uint8Array,
  get: () => Promise<CommandSnapshot | undefined>,
  { decision, comment, ...who }: Decision,
  as: Viewer,
): Promise<Decided> {
  const snapshot = await get();
  if (snapshot === undefined || (as.kind === 'owner' && !asksItsOwner(snapshot.view)))
    return { kind: 'unknown' };
  const { by, via } = who;
  const { commandId, view } = snapshot;
  const words = comment === null || comment.trim() === '' ? null : plain(comment, LONGEST_COMMENT);
  if (decision === 'declined' && (words === null || words === ''))
    throw new InputError('A decline needs a reason, so that whoever asked can be told. Nothing was decided.');
  const { approval } = view;
  if (snapshot.status !== 'running' || approval === null || approval.expiresAt <= Date.now())
    return standing(snapshot);
  if (approval.by === 'operator' && [by, who.subject ?? by].some((name) => samePerson(name, view.owner))) {
    throw new InputError(
      `${by} asked for this command, so somebody else has to decide it. Nothing was decided.`,
    );
  }
  const answer = sealed(sealKey, commandId, approval, { decision, ...who, comment: words });
  const receipt = await deliverAnswer(client, commandId, answer);
  if (receipt === 'queued') return { kind: 'queued' };
  if (receipt !== 'ended' && receipt.taken) return { kind: 'taken' };
  // Somebody was faster, or it ended meanwhile; if it ended by this very decision, the receipt was lost with it.
  const after = (await get()) ?? snapshot;
  const { decidedBy } = after.view;
  const ours = decidedBy?.by === by && decidedBy.via === via && decidedBy.decision === decision;
  return ours && decidedBy.at >= answer.at ? { kind: 'taken' } : standing(after);
}

/** What stands where a decision no longer counts. */
function standing(snapshot: CommandSnapshot): Decided {
  const { decidedBy } = snapshot.view;
  if (decidedBy !== null) return { kind: 'decidedBefore', decision: decidedBy.decision, by: decidedBy.by };
  return { kind: 'notPending', why: whyNotPending(snapshot) };
}

function whyNotPending({ view, status }: CommandSnapshot): string {
  if (view.result !== null) return `it has ended: ${view.result.outcome}`;
  if (status !== 'running') return `it is ${status}`;
  if (view.approval === null) return 'it needs no approval';
  if (view.approval.expiresAt <= Date.now()) return 'its time is over; nothing was sent';
  return 'the decision was not accepted; it still waits';
}
