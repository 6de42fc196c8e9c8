/** What the audit says of each fact. Only facts that can't change any more are recorded, so a record never does. */
import type { CommandRequest, CommandView, DecisionRecord } from '../../domain/command.ts';
import type { SendResult } from '../../domain/exchange.ts';
import type { Outcome, Verdict } from '../../domain/outcome.ts';
import { plain } from '../../domain/text.ts';
import type { Value } from '../../domain/values.ts';
import type { SendInput } from '../../workflows/activity-types.ts';
import type { Execution } from '../history.ts';
import type { SettledAnswer } from './answers.ts';

/** What every record says. Times are ISO 8601 of Temporal's clock. */
interface Common extends Execution {
  /** Of this fact for ever: workflow, run and event. */
  readonly id: string;
  /** The event in the workflow's history that it is about. */
  readonly eventId: number;
  /** When it was settled; ranges of an export go by it. */
  readonly at: string;
  readonly device: string;
  readonly deviceName: string;
  readonly requested: Readonly<Record<string, RequestedValue>>;
  /** Who asked. The client's name is what it says of itself. */
  readonly subject: string;
  readonly client: string | null;
  readonly transport: CommandRequest['caller']['transport'];
  readonly unattended: boolean;
  readonly traceId: string | null;
  /** Of exactly what approval was asked for: command, definition and rules. null: for nothing so far. */
  readonly approvalDigest: string | null;
}

interface RequestedValue {
  readonly value: Value;
  readonly unit: string | null;
}

/** A person's answer. `authenticated`: null where nothing waited for it, so that nobody looked. */
interface Answered extends Common {
  readonly answeredAt: string;
  readonly by: string | null;
  /** Who that is to the issuer of sign-ins, `ISSUER#SUBJECT`; null: they did not sign in there. */
  readonly bySubject: string | null;
  readonly via: string | null;
  readonly authenticated: boolean | null;
  /** Sent without a seal: by hand, in the Temporal UI or its command line. */
  readonly byHand: boolean;
  /** From the question to the answer; null: not told. */
  readonly latencyMs: number | null;
  readonly comment: string | null;
}

export type AuditRecord =
  | (Common & {
      readonly kind: 'accepted';
      /** In the asking agent's own words: a claim. */
      readonly reason: string | null;
      readonly resendOf: string | null;
      readonly definitionDigest: string;
    })
  | (Answered & { readonly kind: 'decision'; readonly decision: DecisionRecord['decision'] })
  | (Answered & {
      readonly kind: 'attempt';
      readonly said: string | null;
      /** `notCounted`: invalid, too late, or from somebody who may not decide it. */
      readonly why: 'dismissed' | 'mistyped' | 'opened' | 'tooFast' | 'notCounted';
    })
  | (Common & {
      readonly kind: 'send';
      readonly fields: readonly string[];
      readonly beganAt: string;
      readonly latencyMs: number;
      readonly idempotencyKey: string;
      readonly class: SendResult['class'];
      readonly replyStatus: number | null;
      readonly detail: string;
    })
  | (Common & {
      readonly kind: 'ended';
      readonly status: 'completed' | 'cancelled' | 'failed' | 'terminated' | 'timedOut';
      /** null: it ended without one, by a fault or by hand. */
      readonly outcome: Outcome | null;
      readonly sends: number;
      /** false: one of the sends may or may not have arrived. */
      readonly certain: boolean;
      readonly replyStatus: number | null;
      readonly fields: Readonly<
        Record<string, { readonly observed: Value | null; readonly verdict: Verdict }>
      >;
      readonly decidedBy: string | null;
      readonly joined: string | null;
    });

const LONGEST_NAME = 200;
/** An issuer's URL and its word for somebody; that is never cut off, or two people would look like one. */
const LONGEST_SUBJECT = 2000;
const LONGEST_WORDS = 500;
/** What a record says of its own kind. */
type Facts = AuditRecord extends infer Record
  ? Record extends AuditRecord
    ? Omit<Record, keyof Common>
    : never
  : never;

/** Where and when something happened. */
export interface Moment extends Execution {
  readonly eventId: number;
  /** Epoch ms. */
  readonly at: number;
  readonly approvalDigest: string | null;
}

export function recordOf(
  { workflowId, runId, eventId, at, approvalDigest }: Moment,
  { device, deviceName, desired, units, caller }: CommandRequest,
  facts: Facts,
): AuditRecord {
  const requested = Object.entries(desired).map(([field, value]): [string, RequestedValue] => [
    field,
    { value, unit: units?.[field] ?? null },
  ]);
  const common: Common = {
    id: `${workflowId}/${runId}/${eventId}`,
    workflowId,
    runId,
    eventId,
    at: iso(at),
    device: plain(device, LONGEST_NAME),
    deviceName: words(deviceName, LONGEST_NAME) ?? '',
    requested: Object.fromEntries(requested),
    subject: plain(caller.subject, LONGEST_SUBJECT),
    client: words(caller.client, LONGEST_NAME),
    transport: caller.transport,
    unattended: caller.unattended,
    traceId: caller.traceId ?? null,
    approvalDigest,
  };
  const { kind, ...more } = facts;
  return { kind, ...common, ...more } as AuditRecord;
}

const iso = (at: number): string => new Date(at).toISOString();

const words = (text: unknown, limit: number): string | null =>
  typeof text === 'string' ? plain(text, limit) : null;

export const acceptanceFacts = ({ reason, resendOf, definitionDigest }: CommandRequest): Facts => ({
  kind: 'accepted',
  reason: words(reason, LONGEST_WORDS),
  resendOf,
  definitionDigest,
});

export function answerFacts({ answer, receivedAt, sealed, fate }: SettledAnswer): Facts {
  const said = words(answer.decision, LONGEST_NAME);
  const facts = {
    answeredAt: iso(receivedAt),
    by: words(answer.by, LONGEST_SUBJECT),
    bySubject: answer.seal == null ? null : words(answer.subject, LONGEST_SUBJECT),
    via: words(answer.via, LONGEST_NAME),
    authenticated: sealed,
    byHand: answer.seal == null,
    latencyMs: fate.kind === 'notCounted' ? null : fate.latencyMs,
    comment: words(answer.comment, LONGEST_WORDS),
  };
  if (fate.kind === 'decided')
    return { kind: 'decision', decision: said === 'approved' ? 'approved' : 'declined', ...facts };
  return { kind: 'attempt', said, why: fate.kind === 'leftOpen' ? fate.how : 'notCounted', ...facts };
}

/** A send as it was given to a worker. */
export interface Sending {
  readonly beganAt: number;
  readonly input: SendInput;
}

export function sendFacts(
  { beganAt, input }: Sending,
  at: number,
  result: Pick<SendResult, 'class' | 'reply' | 'detail'>,
): Facts {
  return {
    kind: 'send',
    fields: input.fields,
    beganAt: iso(beganAt),
    latencyMs: at - beganAt,
    idempotencyKey: input.idempotencyKey,
    class: result.class,
    replyStatus: result.reply?.status ?? null,
    detail: plain(result.detail, LONGEST_WORDS),
  };
}

export type ClosingStatus = Extract<AuditRecord, { kind: 'ended' }>['status'];

export function endFacts(status: ClosingStatus, view: CommandView | null): Facts {
  const { result = null, sent, decidedBy } = view ?? {};
  const fields = Object.entries(result?.fields ?? {}).map(([field, { observed, verdict }]) => [
    field,
    { observed: observed?.value ?? null, verdict },
  ]);
  return {
    kind: 'ended',
    status,
    outcome: result?.outcome ?? null,
    sends: sent?.count ?? 0,
    certain: sent?.certain ?? true,
    replyStatus: sent?.reply?.status ?? null,
    fields: Object.fromEntries(fields) as Extract<AuditRecord, { kind: 'ended' }>['fields'],
    decidedBy: words(decidedBy?.by, LONGEST_SUBJECT),
    joined: result?.joined ?? null,
  };
}
