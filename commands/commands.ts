/** What the parts in front of Temporal (MCP server, console, CLI) may ask of it. Implemented by `temporal-commands.ts`. */
import type { SaidAboutApproval } from '../domain/approval/decision.ts';
import type { ApprovalBy, FieldDefinition } from '../domain/catalogue/definition.ts';
import type { Caller, CommandView, Phase } from '../domain/command.ts';
import type { FaultState, SendResult } from '../domain/exchange.ts';
import type { Outcome, SampleRun } from '../domain/outcome.ts';
import type { Probe } from '../domain/probe.ts';
import type { Desired, Json, Reading, Value } from '../domain/values.ts';
import type { TraceCarrier } from '../tracing/trace-context.ts';

export interface Submission {
  /** Device id, name or alias, as the caller wrote it. */
  readonly device: string;
  /** As the caller wrote it, e.g. `{"temperature": "26"}`. Validated and coerced here. */
  readonly desired: unknown;
  readonly caller: Caller;
  readonly reason?: string | undefined;
  readonly requestId?: string | undefined;
  readonly resendOf?: string | undefined;
}

/** How a submission was taken. */
export type Submitted =
  | { readonly kind: 'started' | 'joined'; readonly commandId: string; readonly coerced: readonly string[] }
  /** The same call ended badly minutes ago and may not be repeated blindly: nothing was sent; this is the old command. */
  | { readonly kind: 'repeatRefused'; readonly commandId: string };

/** One command as `describe` shows it. Times are epoch milliseconds. */
export interface CommandSnapshot {
  readonly commandId: string;
  readonly status: 'running' | 'completed' | 'cancelled' | 'failed';
  readonly view: CommandView;
  readonly createdAt: number;
  readonly closedAt: number | null;
  /** Later of the phase's change and the receipt of the reading shown. */
  readonly lastUpdatedAt: number;
  readonly cancelRequested: boolean;
  /** The present phase should be over by now: no worker seems to be running, and this is the last known state. */
  readonly overdue: boolean;
  /** Latest reading while settling, from the running activity's heartbeat. */
  readonly live: LiveReading | null;
  /** Whole number of milliseconds from creation for which this command can be asked about; null while unbounded. */
  readonly ttlMs: number | null;
  /** Only for `failed`: what broke in Readback itself, in words. */
  readonly failure: string | null;
  /** The trace of the request that started it; absent: none. */
  readonly trace?: TraceCarrier;
}

export interface LiveReading {
  readonly at: number;
  readonly fields: Readonly<Record<string, Reading>>;
  readonly note: string;
  /** Why it takes its time, as far as that is known, e.g. `waiting for the device to wake`. */
  readonly why: string | null;
  /** When settling ends at the latest, as far as one can tell now; null: it has ended. */
  readonly until: number | null;
  readonly reads: number;
  /** Everything asked reads as desired, and is being confirmed. */
  readonly matching: boolean;
  /** What was read since the send, oldest first. */
  readonly samples: readonly SampleRun[];
}

/** One thing that happened to a command, as its history holds it. `at` is epoch ms of Temporal's clock. */
export type TimelineEntry =
  | { readonly kind: 'accepted' | 'cancelRequested'; readonly at: number }
  | {
      readonly kind: 'phase';
      readonly at: number;
      readonly phase: Phase;
      readonly note: string;
      /** When an approval that is asked for expires. */
      readonly expiresAt: number | null;
    }
  | {
      readonly kind: 'answer';
      readonly at: number;
      readonly decision: SaidAboutApproval;
      readonly by: string;
      readonly via: string;
      readonly comment: string | null;
      /** false: given by hand in the Temporal UI, so nobody was authenticated. */
      readonly sealed: boolean;
      /** Did it count? null: not told. */
      readonly taken: boolean | null;
    }
  | {
      readonly kind: 'send';
      readonly at: number;
      /** null: under way. */
      readonly endedAt: number | null;
      /** null: under way, or no reply was recorded. */
      readonly result: SendResult | null;
    }
  | { readonly kind: 'ended'; readonly at: number; readonly outcome: Outcome; readonly detail: string };

export interface DeviceState {
  readonly device: string;
  readonly deviceName: string;
  readonly at: number;
  readonly deviceAt: string | null;
  readonly fields: Readonly<Record<string, Reading & { readonly unit: string | null }>>;
  readonly moving: boolean;
  readonly faults: Readonly<Record<string, FaultState>>;
  readonly trouble: string | null;
}

export interface DryRun {
  readonly device: string;
  readonly desired: Desired;
  /** Each asked field as it is now; null: not readable. */
  readonly previous: Readonly<Record<string, Value | null>>;
  readonly coerced: readonly string[];
  /** Exactly what would be sent, in order; secrets are not in it. */
  readonly requests: readonly { readonly method: string; readonly url: string; readonly body: Json }[];
  /** Why nothing would be sent; null: it would be. */
  readonly objection: string | null;
  readonly state: DeviceState;
  readonly approval: { readonly by: ApprovalBy; readonly reason: string | null } | null;
  /** True: the device already is as desired, nothing would be sent. */
  readonly already: boolean;
}

export interface DeviceSummary {
  readonly device: string;
  readonly name: string;
  readonly area: string | null;
  readonly aliases: readonly string[];
  readonly tags: readonly string[];
  readonly hint: string | null;
  /** e.g. `16–30 °C, step 0.5`, `on | off`, `read only`. */
  readonly fields: Readonly<Record<string, string>>;
}

/** A viewer sees its own commands; `operator` sees all. */
export type Viewer = { readonly kind: 'owner'; readonly subject: string } | { readonly kind: 'operator' };

export interface PendingApprovals {
  readonly items: readonly CommandSnapshot[];
  /** For the next page; null: this was the last one. */
  readonly cursor: string | null;
  readonly total: number;
}

export interface Decision {
  readonly decision: 'approved' | 'declined';
  /** The person who decides, as everybody is told. */
  readonly by: string;
  /** Who that is to the issuer of sign-ins; absent: they did not sign in there. */
  readonly subject?: string;
  readonly via: 'console' | 'cli';
  /** A decline needs one, at most 500 characters. */
  readonly comment: string | null;
}

/** What became of a decision. */
export type Decided =
  /** It counts. */
  | { readonly kind: 'taken' }
  /** Recorded; it counts as soon as a worker runs, if nothing else was decided before. */
  | { readonly kind: 'queued' }
  /** Somebody else was first. */
  | { readonly kind: 'decidedBefore'; readonly decision: 'approved' | 'declined'; readonly by: string }
  /** Nothing waits for an approval here (any more): expired, cancelled, ended. */
  | { readonly kind: 'notPending'; readonly why: string }
  | { readonly kind: 'unknown' };

/** What became of an answer of the asking client. */
export type Answered =
  /** It counts. */
  | 'decided'
  /** It changes nothing: this or another answer has decided already. */
  | 'decidedBefore'
  /** Recorded as no decision; the approval is still open, under a new key. */
  | 'leftOpen'
  /** The same: the page on which the person decides was opened. */
  | 'opened'
  /** Recorded; it counts as soon as a worker runs, if nothing else was decided before. */
  | 'queued'
  /** Nothing is asked under that key (any more). */
  | 'notOpen'
  /** As for an id that nobody has. */
  | 'unknown';

export interface Commands {
  /** Resolves when Temporal has acknowledged the start. Throws `InputError` (nothing started) or `EngineUnreachable`. */
  submit(submission: Submission): Promise<Submitted>;
  /** One describe. undefined: not a command, not yours, unknown or past retention. Throws `EngineUnreachable`. */
  get(commandId: string, viewer: Viewer): Promise<CommandSnapshot | undefined>;
  /**
   * As `get`, for those who poll: may be some hundred milliseconds old, but never older than what this process has shown or
   * done since. What many ask for at once is one describe.
   */
  lately(commandId: string, viewer: Viewer): Promise<CommandSnapshot | undefined>;
  /** Waits until `done(snapshot)` or the time is over, pushed by Temporal where it can be; the last snapshot either way. */
  wait(
    commandId: string,
    viewer: Viewer,
    options: { timeoutMs: number; signal?: AbortSignal; until?: (snapshot: CommandSnapshot) => boolean },
  ): Promise<CommandSnapshot | undefined>;
  /**
   * The command now and after every change, pushed by Temporal; the same may come twice. Ends with the command, or when
   * the signal aborts; at once where it is unknown or not yours. Throws `EngineUnreachable`.
   */
  changes(commandId: string, viewer: Viewer, signal: AbortSignal): AsyncIterable<CommandSnapshot>;
  /** Asks the workflow to stop. false: as for an unknown id. Cancelling an ended command changes nothing and is true. */
  cancel(commandId: string, viewer: Viewer): Promise<boolean>;
  /** Newest first. */
  list(
    viewer: Viewer,
    options: {
      limit: number;
      device?: string;
      openOnly?: boolean;
      /** Leaves out those that wait for a person's decision. */
      notPending?: boolean;
    },
  ): Promise<readonly CommandSnapshot[]>;
  /** Oldest first; undefined as for an unknown id. */
  timeline(commandId: string, viewer: Viewer): Promise<readonly TimelineEntry[] | undefined>;
  /**
   * The answer of the asking client's user to an approval by the requester; `askedAt`: when that client was shown the
   * question, epoch ms, where that is known.
   */
  answer(
    commandId: string,
    viewer: Viewer,
    answers: Readonly<Record<string, unknown>>,
    way: { readonly via: 'form' | 'mrtr' | 'url'; readonly askedAt: number | null },
  ): Promise<Answered>;
  /** Commands that wait for a person, in pages; within a page those that expire first come first. */
  pendingApprovals(options: { limit: number; cursor?: string | undefined }): Promise<PendingApprovals>;
  /**
   * A person's decision, whoever has authenticated them. `as`: an approver, or the owner, who decides nothing but their
   * own approvals by the requester; all others are unknown. Throws `InputError` where they may not decide it (the
   * requester of an operator's rule) or a decline lacks its reason.
   */
  decide(commandId: string, decision: Decision, as?: Viewer): Promise<Decided>;
  /** One read by a worker. Throws `InputError` for an unknown device. */
  readState(device: string): Promise<DeviceState>;
  /** As `readState`, looking at what of the device's catalogue entry its reply bears out. */
  probe(device: string): Promise<Probe>;
  dryRun(submission: Submission): Promise<DryRun>;
  /** Every device of the catalogue that matches, in the catalogue's order. */
  devices(query?: string): readonly DeviceSummary[];
}

/** Something in the caller's input is wrong. `message` names the field, what is allowed, and that nothing was sent. */
export class InputError extends Error {
  override readonly name = 'InputError';
  /** Set where these values are all that is wrong, so that somebody can be asked for them. */
  readonly missing: MissingValues | null;

  constructor(message: string, options: ErrorOptions & { readonly missing?: MissingValues | null } = {}) {
    super(message, options);
    this.missing = options.missing ?? null;
  }
}

/** Fields that must be given together with those that were. */
export interface MissingValues {
  readonly deviceName: string;
  readonly fields: readonly FieldDefinition[];
}

/** Temporal can't be reached; the command's state is unknown, not lost. */
export class EngineUnreachable extends Error {
  override readonly name = 'EngineUnreachable';
}
