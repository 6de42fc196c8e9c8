/**
 * What became of each answer to an approval, from a history. An update is told with its receipt, a signal is not; and one
 * answer may have come both ways. What counted is what the workflow wrote into its view next.
 */
import type { ApprovalAttempt, CommandView, DecisionRecord } from '../../domain/command.ts';
import type { Answer, AnswerReceipt } from '../../workflows/messages.ts';

/** An answer as it came: anybody who reaches Temporal may have sent anything. */
export type ReceivedAnswer = Readonly<Partial<Record<keyof Answer, unknown>>>;

/** An answer whose fate is settled. */
export interface SettledAnswer {
  readonly eventId: number;
  /** Epoch ms of Temporal's clock: when it reached the workflow's history. */
  readonly receivedAt: number;
  readonly answer: ReceivedAnswer;
  /** Was its seal right? null: it was never looked at, as nothing waited for it. */
  readonly sealed: boolean | null;
  readonly fate:
    | { readonly kind: 'decided'; readonly latencyMs: number | null }
    | { readonly kind: 'leftOpen'; readonly how: ApprovalAttempt['how']; readonly latencyMs: number | null }
    | { readonly kind: 'notCounted' };
}

export interface AnswerBook {
  received(eventId: number, receivedAt: number, answer: ReceivedAnswer, way: 'update' | 'signal'): void;
  sealCheckBegan(eventId: number, answer: ReceivedAnswer): void;
  sealChecked(beganEventId: number, sealed: boolean): void;
  /** The update that was accepted with this event was answered; null: its handler broke. */
  receipted(acceptedEventId: number, receipt: AnswerReceipt | null): SettledAnswer[];
  told(view: CommandView): SettledAnswer[];
  /** The command is over: whatever is still open never counted. */
  closed(): SettledAnswer[];
}

interface Entry {
  readonly eventId: number;
  readonly receivedAt: number;
  readonly answer: ReceivedAnswer;
  bySignal: boolean;
  sealed: boolean | null;
  receipt: AnswerReceipt | null;
  settled: boolean;
}

export function createAnswerBook(): AnswerBook {
  /** By what makes two arrivals one answer. */
  const entries = new Map<string, Entry>();
  const updates = new Map<number, Entry>();
  const sealChecks = new Map<number, Entry>();
  let decided = false;
  let lastAttempt: ApprovalAttempt | undefined;

  const open = (): Entry[] => [...entries.values()].filter((entry) => !entry.settled);
  const settle = (entry: Entry, fate: SettledAnswer['fate']): SettledAnswer => {
    entry.settled = true;
    const { eventId, receivedAt, answer, sealed } = entry;
    return { eventId, receivedAt, answer, sealed, fate };
  };

  function decision(record: DecisionRecord | null): SettledAnswer[] {
    if (record === null || decided) return [];
    const matching = open().filter(({ answer }) => isSame(answer, record));
    // Of two that say the same, the one that was told so.
    const entry = matching.find(({ receipt }) => receipt?.taken === true) ?? matching[0];
    if (entry === undefined) return [];
    decided = true;
    return [settle(entry, { kind: 'decided', latencyMs: record.latencyMs })];
  }

  function attempt(latest: ApprovalAttempt | undefined): SettledAnswer[] {
    if (latest === undefined || (lastAttempt?.at === latest.at && lastAttempt.via === latest.via)) return [];
    lastAttempt = latest;
    const entry = open().find(({ answer }) => answer.at === latest.at && answer.via === latest.via);
    if (entry === undefined) return [];
    return [settle(entry, { kind: 'leftOpen', how: latest.how, latencyMs: latest.latencyMs })];
  }

  /** Decided or left open in the very moment in which the command was cancelled: no view shows it any more. */
  function atClose({ receipt, answer }: Entry): SettledAnswer['fate'] {
    if (receipt?.taken !== true) return { kind: 'notCounted' };
    if (receipt.standing !== 'open') return { kind: 'decided', latencyMs: null };
    const how =
      answer.decision === 'dismissed' || answer.decision === 'mistyped' || answer.decision === 'opened'
        ? answer.decision
        : 'tooFast';
    return { kind: 'leftOpen', how, latencyMs: null };
  }

  return {
    received(eventId, receivedAt, answer, way) {
      const identity = identityOf(answer) ?? `event ${eventId}`;
      let entry = entries.get(identity);
      if (entry === undefined) {
        entry = { eventId, receivedAt, answer, bySignal: false, sealed: null, receipt: null, settled: false };
        entries.set(identity, entry);
      }
      if (way === 'signal') entry.bySignal = true;
      else updates.set(eventId, entry);
    },
    sealCheckBegan(eventId, answer) {
      const identity = identityOf(answer);
      const entry =
        identity === null
          ? open().find((candidate) => JSON.stringify(candidate.answer) === JSON.stringify(answer))
          : entries.get(identity);
      if (entry !== undefined) sealChecks.set(eventId, entry);
    },
    sealChecked(beganEventId, sealed) {
      const entry = sealChecks.get(beganEventId);
      if (entry !== undefined) entry.sealed = sealed && entry.answer.seal !== null;
    },
    receipted(acceptedEventId, receipt) {
      const entry = updates.get(acceptedEventId);
      if (entry === undefined || entry.settled) return [];
      entry.receipt = receipt ?? entry.receipt;
      // As a signal it may have counted before; then the view tells.
      if (receipt?.taken === true || entry.bySignal) return [];
      return [settle(entry, { kind: 'notCounted' })];
    },
    told: ({ decidedBy, approval }) => [...attempt(approval?.attempts?.at(-1)), ...decision(decidedBy)],
    closed: () => open().map((entry) => settle(entry, atClose(entry))),
  };
}

/** All of it and its seal: one that only borrows another's seal is another answer. null: without a seal each is its own. */
const identityOf = (answer: ReceivedAnswer): string | null =>
  typeof answer.seal === 'object' && answer.seal !== null ? JSON.stringify(answer) : null;

/** What was written by hand is recorded without what could do harm, and never as authenticated. */
function isSame(answer: ReceivedAnswer, record: DecisionRecord): boolean {
  if (answer.decision !== record.decision) return false;
  if (answer.seal === null) return !record.authenticated;
  return answer.by === record.by && answer.via === record.via && (answer.comment ?? null) === record.comment;
}
