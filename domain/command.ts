/** A command: one request to bring one or more fields of one device to desired values. */
import type { ApprovalBy } from './catalogue/definition.ts';
import type { FieldResult, Outcome, SampleRun, SentEvidence } from './outcome.ts';
import type { Desired, Value } from './values.ts';

/** Who asks. `subject` is the owner: the human or service identity, `local` where nobody signs in. */
export interface Caller {
  readonly subject: string;
  /** The client program's own name, as reported; where people sign in, its id at the issuer first, and that name in brackets. */
  readonly client: string | null;
  readonly transport: 'http' | 'stdio' | 'cli' | 'console' | 'batch';
  readonly unattended: boolean;
  /** Of the trace that the request belongs to, as the client gave it; absent: none. */
  readonly traceId?: string;
}

/** What starts a command workflow. Everything in it was validated against the catalogue. */
export interface CommandRequest {
  readonly device: string;
  readonly deviceName: string;
  readonly desired: Desired;
  /** Unit of each asked field, for people. */
  readonly units: Readonly<Record<string, string | null>>;
  readonly reason: string | null;
  readonly caller: Caller;
  readonly requestId: string | null;
  readonly resendOf: string | null;
  /** Digest of caller, device and desired (and requestId): equal open commands are one. */
  readonly contentKey: string;
  /** Digest of the device's definition as validated. */
  readonly definitionDigest: string;
  /** How long it may take to reach the device at all, from acceptance or approval. */
  readonly deliverWithinMs: number;
}

export const PHASES = [
  'waiting_for_approval',
  'waiting_for_turn',
  'sending',
  'settling',
  'verifying',
  'ended',
] as const;
export type Phase = (typeof PHASES)[number];

export interface PendingApproval {
  readonly by: ApprovalBy;
  readonly reason: string | null;
  readonly askedAt: number;
  readonly expiresAt: number;
  /** Digest of exactly what is approved: command, definition, rule. */
  readonly digest: string;
  /** Key of the question; never used twice in a command's life. */
  readonly key: string;
  readonly before: Readonly<Record<string, Value | null>>;
  /** Latest answers that were no decision, oldest first. Absent: none. */
  readonly attempts?: readonly ApprovalAttempt[];
}

/** An answer of the asking client that decided nothing: the approval stayed open. */
export interface ApprovalAttempt {
  /** `tooFast`: a no that no person can have given so soon after the question. `opened`: the page on which to decide. */
  readonly how: 'dismissed' | 'mistyped' | 'opened' | 'tooFast';
  readonly via: string;
  readonly at: number;
  /** From the question to the answer. */
  readonly latencyMs: number;
}

export interface DecisionRecord {
  readonly decision: 'approved' | 'declined';
  readonly by: string;
  /** Who that is to the issuer of sign-ins; absent: they did not sign in there. */
  readonly subject?: string;
  /** Which way it came: `form`, `mrtr`, `url`, `console`, `cli`, `temporal-ui`. */
  readonly via: string;
  /** false: decided by hand in the Temporal UI, so nobody was authenticated. */
  readonly authenticated: boolean;
  readonly at: number;
  readonly latencyMs: number;
  readonly comment: string | null;
}

/** What a command workflow keeps in its memo, so that one `describe` answers everything, also with no worker running. */
export interface CommandView {
  readonly device: string;
  readonly deviceName: string;
  readonly owner: string;
  readonly caller: Caller;
  readonly desired: Desired;
  readonly units: Readonly<Record<string, string | null>>;
  readonly reason: string | null;
  readonly requestId: string | null;
  readonly resendOf: string | null;
  readonly phase: Phase;
  /** When the phase began. */
  readonly phaseAt: number;
  /** What is going on, one sentence without ages. */
  readonly note: string;
  readonly previous: Readonly<Record<string, Value | null>>;
  readonly sent: SentEvidence;
  /** Latest moment at which the present phase ends by itself; null: unbounded. */
  readonly until: number | null;
  readonly approval: PendingApproval | null;
  readonly decidedBy: DecisionRecord | null;
  readonly result: CommandResult | null;
}

export interface CommandResult {
  readonly outcome: Outcome;
  readonly fields: Readonly<Record<string, FieldResult>>;
  /** One or two sentences of evidence: why this outcome. */
  readonly detail: string;
  readonly safeToSendAgain: boolean;
  /** The catalogue says that sending this twice does no more than sending it once; only then it can be undone likewise. */
  readonly repeatable: boolean;
  readonly adjusted: boolean;
  readonly samples: readonly SampleRun[];
  readonly endedAt: number;
  /** Set when this command ended with another one's outcome. */
  readonly joined: string | null;
}

/** The view of a command that has just been accepted; the starter puts it into the memo, the workflow goes on from it. */
export function acceptedView(request: CommandRequest, at: number): CommandView {
  return {
    device: request.device,
    deviceName: request.deviceName,
    owner: request.caller.subject,
    caller: request.caller,
    desired: request.desired,
    units: request.units,
    reason: request.reason,
    requestId: request.requestId,
    resendOf: request.resendOf,
    phase: 'waiting_for_turn',
    phaseAt: at,
    note: 'accepted',
    previous: {},
    sent: { count: 0, certain: true, reply: null },
    until: at + request.deliverWithinMs,
    approval: null,
    decidedBy: null,
    result: null,
  };
}
