/** How commands end, and what may be claimed. The table of the design, as types. */
import type { ReplyEvidence } from './exchange.ts';
import type { Value } from './values.ts';

export const OUTCOMES = [
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
  /** One sentence for people: `asked 80 %, stopped at 50 %`. */
  readonly detail: string;
}

export interface SentEvidence {
  /** Logical sends that reached or may have reached the device; reads, refreshes and wakes don't count. */
  readonly count: number;
  /** false: at least one of them may or may not have arrived. */
  readonly certain: boolean;
  readonly reply: ReplyEvidence | null;
}

/** `look`: safe only after looking at the device first. */
export type SafeToSendAgain = 'yes' | 'no' | 'look';
