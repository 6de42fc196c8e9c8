/** How commands end, and what may be claimed. The table of the design, as types. */
import type { ReplyEvidence } from './exchange.ts';
import type { Value } from './values.ts';

const OUTCOMES = [
  'verified',
  'already',
  'unverifiable',
  'unchanged',
  'different',
  'unsettled',
  'unreadable',
  'superseded',
  'refused',
  'unknown',
  'partial',
  'declined',
  'expired',
  'undelivered',
  'cancelled',
] as const;
export type Outcome = (typeof OUTCOMES)[number];

/** What one field ended as. `fault`: the value may be right, a declared fault vetoes. `notSent`: an earlier step stopped the command. */
export type Verdict =
  | 'verified'
  | 'already'
  | 'unverifiable'
  | 'unchanged'
  | 'different'
  | 'unsettled'
  | 'unreadable'
  | 'superseded'
  | 'refused'
  | 'unknown'
  | 'notApplicable'
  | 'fault'
  | 'notSent';

/** One value shown by a device over some time: consecutive equal readings are one run. */
export interface SampleRun {
  readonly field: string;
  /** null: unreadable; `note` says why. */
  readonly value: Value | null;
  readonly note: string | null;
  readonly firstAt: number;
  readonly lastAt: number;
  readonly reads: number;
}

export interface FieldResult {
  readonly requested: Value;
  readonly previous: Value | null;
  readonly observed: { readonly value: Value; readonly unit: string | null; readonly at: number } | null;
  readonly verdict: Verdict;
  /** The device stored its nearest step. */
  readonly adjusted: boolean;
  /** One sentence for people: `asked 80 %, got 50 %`. */
  readonly detail: string;
}

export interface SentEvidence {
  /** Logical sends that reached or may have reached the device; reads, refreshes and wakes don't count. */
  readonly count: number;
  /** false: at least one of them may or may not have arrived. */
  readonly certain: boolean;
  readonly reply: ReplyEvidence | null;
}

/** None of several fields verified: the outcome is the worst of theirs, in this order. */
const WORST_FIRST = [
  'unknown',
  'different',
  'superseded',
  'unsettled',
  'unreadable',
  'unchanged',
  'refused',
] as const;

/** How a field's verdict counts for the command as a whole. */
function outcomeOfVerdict(verdict: Verdict): Outcome | 'notSent' {
  switch (verdict) {
    case 'fault':
      // The value may be right, but a declared fault vetoes it: a person has to look.
      return 'different';
    case 'notApplicable':
      return 'refused';
    default:
      return verdict;
  }
}

/**
 * The outcome of a command from its fields' verdicts. All good: the weakest claim among them (`unverifiable` before
 * `verified` before `already`). Some good: `partial`. None: the worst. There must be at least one verdict.
 */
export function outcomeOf(verdicts: readonly Verdict[]): Outcome {
  const outcomes = verdicts.map(outcomeOfVerdict);
  if (outcomes.every((outcome) => outcome !== 'notSent' && endedWell(outcome))) {
    if (outcomes.includes('unverifiable')) return 'unverifiable';
    return outcomes.includes('verified') ? 'verified' : 'already';
  }
  if (outcomes.some((outcome) => outcome !== 'notSent' && endedWell(outcome))) return 'partial';
  return WORST_FIRST.find((outcome) => outcomes.includes(outcome)) ?? 'undelivered';
}

/**
 * May the same command be sent again without looking first? `repeatable`: the catalogue says that sending twice does
 * no more than sending once.
 */
export function safeToSendAgain(outcome: Outcome, repeatable: boolean): boolean {
  switch (outcome) {
    case 'verified':
    case 'already':
    case 'refused':
    case 'declined':
    case 'expired':
    case 'undelivered':
      return true;
    case 'unverifiable':
    case 'unchanged':
    case 'unreadable':
      return repeatable;
    case 'different':
    case 'partial':
    case 'cancelled':
    case 'unsettled':
    case 'superseded':
    case 'unknown':
      return false;
  }
}

/** May the one who asked be told that it is done? Everything else is shown as an error: the device must be looked at. */
export function endedWell(outcome: Outcome): boolean {
  switch (outcome) {
    case 'verified':
    case 'already':
    case 'unverifiable':
      return true;
    case 'unchanged':
    case 'different':
    case 'unsettled':
    case 'unreadable':
    case 'superseded':
    case 'refused':
    case 'unknown':
    case 'partial':
    case 'declined':
    case 'expired':
    case 'undelivered':
    case 'cancelled':
      return false;
  }
}
