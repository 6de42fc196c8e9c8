/** What is known of each field while a command is delivered, and how the command ends because of it. */
import type { SendResult } from '../domain/exchange.ts';
import { endedWell, type FieldResult, outcomeOf, type SampleRun, type Verdict } from '../domain/outcome.ts';
import type { Value } from '../domain/values.ts';
import type { Settled, StepPlan } from './activity-types.ts';
import { type Ending, type Story, unsentField } from './story.ts';

export interface Evidence {
  readonly story: Story;
  readonly results: Record<string, FieldResult>;
  /** How the latest send of each field ended. */
  readonly sends: Record<string, SendResult>;
  /** Sent, and not read back yet: a later step's readback shows them as well. */
  unread: readonly string[];
  lastSent: SendResult | null;
  samples: readonly SampleRun[];
}

export const noEvidence = (story: Story): Evidence => ({
  story,
  results: {},
  sends: {},
  unread: [],
  lastSent: null,
  samples: [],
});

export const isGood = (verdict: Verdict | undefined): boolean =>
  verdict !== undefined && endedWell(outcomeOf([verdict]));

/** Nothing reached the device this time. What an earlier send of this step has shown still stands. */
export function recordUnreached(evidence: Evidence, step: StepPlan, verdict: Verdict, why: string): boolean {
  for (const field of step.fields) {
    const before = evidence.results[field];
    if (before === undefined) record(evidence, [field], verdict, why);
    else evidence.results[field] = { ...before, detail: `${before.detail}; not sent again: ${why}` };
  }
  return false;
}

/** The fields have been sent; those without a readback are judged by that alone. */
export function recordSent(evidence: Evidence, step: StepPlan, sent: SendResult): void {
  const said = sent.acknowledged ? 'acknowledged' : sent.detail;
  for (const field of step.fields) {
    evidence.sends[field] = sent;
    if (!step.verifiable.includes(field))
      record(
        evidence,
        [field],
        sent.acknowledged ? 'unverifiable' : 'unknown',
        `${said}; this field has no readback`,
      );
  }
  evidence.unread = [...new Set([...evidence.unread, ...step.verifiable])];
  evidence.lastSent = sent;
}

/** What a readback has shown. */
export function recordSettled(evidence: Evidence, settled: Settled): void {
  evidence.samples = [...evidence.samples, ...settled.samples];
  for (const [field, found] of Object.entries(settled.fields)) {
    const unit = evidence.story.request.units[field] ?? null;
    const sent = evidence.sends[field];
    const verdict = honest(found.verdict, sent, evidence.results[field]?.verdict);
    const observed = found.observed === null ? null : { ...found.observed, unit };
    const detail = said(verdict, sent, found.detail);
    evidence.results[field] = {
      ...blank(evidence, field),
      verdict,
      observed,
      adjusted: found.adjusted,
      detail,
    };
  }
}

/**
 * What a verdict is worth after this send. Without an acknowledgement a device that doesn't move says nothing: the
 * request may still be on its way. And what the API called "already so" was not our doing.
 */
function honest(verdict: Verdict, sent: SendResult | undefined, earlier: Verdict | undefined): Verdict {
  const wasSo = sent?.class === 'already' || sent?.class === 'notNeeded' || earlier === 'already';
  if (verdict === 'verified' && wasSo) return 'already';
  // It read as desired a moment ago, and nothing was sent: whatever it shows now is another value.
  if (sent?.class === 'notNeeded') return verdict === 'unchanged' ? 'different' : verdict;
  if (sent === undefined || sent.acknowledged) return verdict;
  return verdict === 'unchanged' || verdict === 'unreadable' ? 'unknown' : verdict;
}

/** What the API said of it goes before what the device shows, where the two have to be told apart. */
function said(verdict: Verdict, sent: SendResult | undefined, shown: string): string {
  if (sent === undefined || sent.class === 'notNeeded') return shown;
  if (verdict === 'unknown') return `${sent.detail}; ${shown}`;
  if (verdict === 'unchanged' || verdict === 'unreadable') return `acknowledged, but ${shown}`;
  return shown;
}

/** A value that was seen outside a readback. */
export function observe(evidence: Evidence, field: string, value: Value | null, at: number): void {
  const result = evidence.results[field];
  if (result === undefined || value === null) return;
  const unit = evidence.story.request.units[field] ?? null;
  evidence.results[field] = { ...result, observed: { value, unit, at } };
}

/** Returns whether the next step may follow. */
export function record(
  evidence: Evidence,
  fields: readonly string[],
  verdict: Verdict,
  detail: string,
): boolean {
  for (const field of fields) evidence.results[field] = { ...blank(evidence, field), verdict, detail };
  return isGood(verdict);
}

const blank = ({ story }: Evidence, field: string): FieldResult =>
  unsentField(story, field, 'notSent', 'not sent');

/** Every asked field with what is known of it, and the outcome of them all. */
export function conclude(evidence: Evidence): Ending {
  const fields: Record<string, FieldResult> = {};
  for (const field of Object.keys(evidence.story.request.desired)) {
    fields[field] = evidence.results[field] ?? {
      ...blank(evidence, field),
      detail: 'not sent: an earlier step did not succeed',
    };
  }
  const outcome = outcomeOf(Object.values(fields).map((field) => field.verdict));
  const detail = Object.entries(fields)
    .map(([name, field]) => `${name}: ${field.detail}`)
    .join('; ');
  return { outcome, detail, fields, samples: evidence.samples };
}
