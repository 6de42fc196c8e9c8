/**
 * Every name that travels between Readback and Temporal: workflow types and IDs, task queues, messages, memo,
 * search attributes, failure types. Nothing else may spell one of these.
 */
import { defineSearchAttributeKey } from '@temporalio/common';
import { defineSignal, defineUpdate } from '@temporalio/workflow';
import type { SaidAboutApproval, Seal } from '../domain/approval/decision.ts';
import type { Ask, Loan } from '../domain/budget.ts';

/** Workflows and the activities that touch devices. */
export const TASK_QUEUE = 'readback';
/** Activities that wait for a device's turn: their own queue, so that a crowd at one device takes no slot from another's send. */
export const TURNS_TASK_QUEUE = 'readback-turns';
/** Activities that tell the outside of an approval: a receiver that hangs takes no slot from a send either. */
export const RINGS_TASK_QUEUE = 'readback-rings';

export const WORKFLOW_TYPE = {
  deviceCommand: 'deviceCommand',
  lane: 'lane',
  budget: 'budget',
  readDevice: 'readDevice',
  probeDevice: 'probeDevice',
  rehearseCommand: 'rehearseCommand',
} as const;

const LANE_PREFIX = 'lane/';
/** One lane a device; the device's id is the rest of the workflow ID. */
export const laneWorkflowId = (device: string): string => `${LANE_PREFIX}${device}`;

/** One budget a connection; the connection's name is the rest of the workflow ID. */
export const budgetWorkflowId = (connection: string): string => `budget/${connection}`;

/** The one memo key that changes: `upsertMemo` replaces a whole top-level key, so the view is one value. Holds a `CommandView`. */
export const MEMO_KEY = 'readback';

/** Where a workflow's trace is: the context of its own span, as `tracing/` writes it. Beside the view, since it never changes. */
export const TRACE_MEMO_KEY = 'trace';
/** Header of starts, messages and activities; the name is that of Temporal's own interceptors. */
export const TRACE_HEADER = '_tracer-data';

/** Registered before any worker starts: an unknown one would fail the workflow task for ever. All of type Keyword. */
export const SEARCH_ATTRIBUTE = {
  device: defineSearchAttributeKey('ReadbackDevice', 'KEYWORD'),
  owner: defineSearchAttributeKey('ReadbackOwner', 'KEYWORD'),
  /** Digest of caller and content: finds the same call made before. */
  content: defineSearchAttributeKey('ReadbackContent', 'KEYWORD'),
  /** Digest of caller and requestId. */
  request: defineSearchAttributeKey('ReadbackRequest', 'KEYWORD'),
  /** `open` until the command ends, then its outcome. */
  outcome: defineSearchAttributeKey('ReadbackOutcome', 'KEYWORD'),
  /** `pending`, then what was decided; unset where no approval was needed. */
  approval: defineSearchAttributeKey('ReadbackApproval', 'KEYWORD'),
} as const;

/** An approval's decision, as an update (acked with what counts) and as a signal (durable while no worker runs). */
export const answerUpdate = defineUpdate<AnswerReceipt, [Answer]>('answer');
export const answerSignal = defineSignal<[Answer]>('answer');
/** A newer command took the device over (lane policy `supersede`). */
export const supersedeSignal = defineSignal<[{ by: string | null }]>('supersede');
/** A command asks for its place in the device's lane. */
export const enterUpdate = defineUpdate<LaneAnswer, [LaneEntry, LaneNews]>('enter');

/** A worker asks for places in its connection's budget, and brings back what it did not use of earlier ones. */
export const lendUpdate = defineUpdate<Loan, [Ask]>('lend');
/** It only brings back, or tells what the API said: durable while no worker runs. Wants nothing. */
export const bringBackSignal = defineSignal<[Ask]>('bringBack');

/** What a person (or what their client) said, sealed by the part that authenticated them. */
export interface Answer {
  /** Key of the question that is answered. */
  readonly key: string;
  readonly decision: SaidAboutApproval;
  readonly by: string;
  /** Who that is to the issuer of sign-ins; absent: they did not sign in there. */
  readonly subject?: string;
  readonly via: string;
  readonly comment: string | null;
  /** When the answer was received, epoch ms. */
  readonly at: number;
  /** When the asking client was shown the question, epoch ms; null: not known, or not asked through a client. */
  readonly askedAt: number | null;
  /** Absent: decided by hand in the Temporal UI. */
  readonly seal: Seal | null;
}

export interface AnswerReceipt {
  readonly taken: boolean;
  /** What stands now, whoever decided it. */
  readonly standing: 'approved' | 'declined' | 'open' | 'expired';
  readonly by: string | null;
}

export interface LaneEntry {
  readonly commandId: string;
  /** Server time of acceptance (start, or approval), epoch ms. */
  readonly acceptedAt: number;
  readonly fields: readonly string[];
  readonly contentKey: string;
}

/** What the one who enters knows, and the lane can't. */
export interface LaneNews {
  /** Over for good: they hold nobody up any more. */
  readonly closed: readonly string[];
  /** Over without having been given to the device: they have overtaken nobody. */
  readonly withdrawn: readonly string[];
}

export type LaneAnswer =
  /** Go once all of these are closed, in this order. */
  | { readonly kind: 'entered'; readonly ahead: readonly string[] }
  /** The same call of the same caller is in the lane already. */
  | { readonly kind: 'duplicate'; readonly of: string }
  /** A command accepted later, on the same fields, came first: the last word given stands. */
  | { readonly kind: 'overtaken'; readonly by: string };

/** Types of `ApplicationFailure`s. All but the last are ordinary waiting: benign, and retried when they say so. */
export const FAILURE = {
  /** Others are ahead in the lane. */
  waitingForTurn: 'WaitingForTurn',
  /** The device is not there yet; the message says what it shows. */
  notSettled: 'NotSettled',
  /** The API takes nothing for a while; the message says until when. First detail: for how many ms, or null. */
  waitingForApi: 'WaitingForApi',
  /** The command names something that this worker's catalogue doesn't have; another worker may. */
  catalogueMismatch: 'CatalogueMismatch',
  /** The receiver of the webhook did not take it. */
  notRung: 'NotRung',
} as const;
