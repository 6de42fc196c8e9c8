/** A command's workflow as `describe` shows it, turned into what the rest of Readback reads. */
import type { Client, WorkflowExecutionDescription, WorkflowExecutionInfo } from '@temporalio/client';
import { decodeArrayFromPayloads } from '@temporalio/common/lib/internal-non-workflow/index.js';
import { optionalTsToDate } from '@temporalio/common/lib/time.js';
import proto from '@temporalio/proto';
import type { CommandView } from '../domain/command.ts';
import { samplesOf } from '../domain/settle.ts';
import type { TraceCarrier } from '../tracing/trace-context.ts';
import { ACTIVITY, type SettleHeartbeat } from '../workflows/activity-types.ts';
import { FAILURE, MEMO_KEY, TRACE_MEMO_KEY, WORKFLOW_TYPE } from '../workflows/messages.ts';
import type { CommandSnapshot, LiveReading, Viewer } from './commands.ts';

/** A phase that should be over by now, and a little: then nobody is working on the command. */
const OVERDUE_AFTER_MS = 5000;

/** undefined: a workflow of the namespace that is no command, or not this viewer's. One answer for both. */
export async function snapshotOf(
  client: Client,
  description: WorkflowExecutionDescription,
  viewer: Viewer,
  retentionMs: number,
): Promise<CommandSnapshot | undefined> {
  const now = {
    live: await liveReading(client, description),
    cancelRequested: description.raw.workflowExtendedInfo?.cancelRequested === true,
    sendingSince: sendingSince(description),
    waitingForApi: waitingForApi(description),
  };
  return listedSnapshot(description, viewer, retentionMs, now);
}

/** Its owner may, and whoever operates Readback. */
export function maySee(viewer: Viewer, { owner }: CommandView): boolean {
  return viewer.kind === 'operator' || owner === viewer.subject;
}

/** What runs at this moment, which only a description shows. */
interface Now {
  readonly live: LiveReading | null;
  readonly cancelRequested: boolean;
  /** Epoch ms; null: no send is under way. */
  readonly sendingSince: number | null;
  /** null: nothing that is known of. */
  readonly waitingForApi: string | null;
}

const SCHEDULED = proto.temporal.api.enums.v1.PendingActivityState.PENDING_ACTIVITY_STATE_SCHEDULED;

const NOTHING_RUNS: Now = { live: null, cancelRequested: false, sendingSince: null, waitingForApi: null };

/** What a description and a list entry have in common. */
type Listed = Pick<WorkflowExecutionInfo, 'type' | 'workflowId' | 'memo' | 'status' | 'startTime'> & {
  closeTime?: Date | undefined;
};

/** The same from a list, which doesn't show what runs right now. */
export function listedSnapshot(
  info: Listed,
  viewer: Viewer,
  retentionMs: number,
  now: Now = NOTHING_RUNS,
): CommandSnapshot | undefined {
  const kept = info.memo?.[MEMO_KEY] as CommandView | undefined;
  if (info.type !== WORKFLOW_TYPE.deviceCommand || kept === undefined) return undefined;
  if (!maySee(viewer, kept)) return undefined;
  const trace = info.memo?.[TRACE_MEMO_KEY] as TraceCarrier | undefined;
  const createdAt = info.startTime.getTime();
  const closedAt = info.closeTime?.getTime() ?? null;
  const status = statusOf(info);
  const view = status === 'running' ? viewNow(kept, now) : kept;
  return {
    commandId: info.workflowId,
    status,
    view,
    createdAt,
    closedAt,
    lastUpdatedAt: Math.max(view.phaseAt, now.live?.at ?? 0, closedAt ?? 0),
    cancelRequested: status === 'running' && now.cancelRequested,
    overdue: status === 'running' && view.until !== null && Date.now() > view.until + OVERDUE_AFTER_MS,
    live: status === 'running' ? now.live : null,
    ttlMs: closedAt === null ? null : closedAt - createdAt + retentionMs,
    failure: status === 'failed' ? failureText(info, kept) : null,
    ...(trace !== undefined && { trace }),
  };
}

/** The workflow writes down what has happened; what is happening shows in its pending activity, at no cost in history. */
function viewNow(view: CommandView, { live, sendingSince, waitingForApi: waiting }: Now): CommandView {
  if (waiting !== null) return { ...view, note: waiting };
  if (sendingSince !== null) {
    return {
      ...view,
      phase: 'sending',
      phaseAt: sendingSince,
      note: `sending ${Object.keys(view.desired).join(', ')}`,
      // It may have arrived by now; only its end tells.
      sent: { ...view.sent, count: view.sent.count + 1, certain: false },
    };
  }
  if (live === null || view.phase !== 'settling') return view;
  const until = live.until !== null && view.until !== null ? Math.max(live.until, view.until) : view.until;
  return { ...view, until, phase: live.matching ? 'verifying' : 'settling' };
}

function statusOf(info: Listed): CommandSnapshot['status'] {
  switch (info.status.name) {
    case 'COMPLETED':
      return 'completed';
    case 'CANCELLED':
      return 'cancelled';
    case 'FAILED':
    case 'TERMINATED':
    case 'TIMED_OUT':
      return 'failed';
    default:
      return 'running';
  }
}

function failureText(info: Listed, { sent }: CommandView): string {
  const how = info.status.name === 'TERMINATED' ? 'was terminated in Temporal' : 'failed inside Readback';
  const reached = sent.count === 0 ? 'no send is recorded' : `${sent.count} send(s) are recorded`;
  return `The command ${how}; ${reached}. Look at the device before sending again.`;
}

/** As long as no worker has taken it, nothing is being sent; nor between attempts, all of which but the last held back. */
function sendingSince(description: WorkflowExecutionDescription): number | null {
  const send = pending(description, ACTIVITY.send);
  if (send?.lastFailure != null && send.state === SCHEDULED) return null;
  return optionalTsToDate(send?.lastStartedTime)?.getTime() ?? null;
}

/** What the API's limits keep from being read or sent, in the words of the attempt that met them. */
function waitingForApi(description: WorkflowExecutionDescription): string | null {
  for (const { state, lastFailure } of description.raw.pendingActivities ?? []) {
    const type = lastFailure?.applicationFailureInfo?.type;
    if (state === SCHEDULED && type === FAILURE.waitingForApi) return lastFailure?.message ?? null;
  }
  return null;
}

const pending = ({ raw }: WorkflowExecutionDescription, name: string) =>
  raw.pendingActivities?.find(({ activityType }) => activityType?.name === name);

/** The latest reading, from the heartbeat of the activity that reads back: it costs no history and needs no worker. */
async function liveReading(
  client: Client,
  description: WorkflowExecutionDescription,
): Promise<LiveReading | null> {
  const payloads = pending(description, ACTIVITY.settle)?.heartbeatDetails?.payloads;
  if (payloads == null || payloads.length === 0) return null;
  const [heartbeat] = (await decodeArrayFromPayloads(
    client.options.loadedDataConverter,
    payloads,
  )) as SettleHeartbeat[];
  const sample = heartbeat?.story.lastSample;
  if (heartbeat === undefined || sample == null) return null;
  const tracks = Object.values(heartbeat.story.tracks);
  return {
    at: sample.at,
    fields: sample.fields,
    note: heartbeat.note,
    why: heartbeat.why,
    until: heartbeat.until,
    reads: heartbeat.story.reads,
    matching: tracks.length > 0 && tracks.every((track) => track.matching !== null),
    samples: samplesOf(heartbeat.story),
  };
}
