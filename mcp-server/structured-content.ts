/** A command as agents read it: one flat object. */
import type { CommandSnapshot } from '../commands/commands.ts';
import type { Phase } from '../domain/command.ts';
import { commandMessage, LONGEST_WAIT_SECONDS } from '../domain/message.ts';
import type { FieldResult, Outcome, SentEvidence, Verdict } from '../domain/outcome.ts';
import type { Desired, Value } from '../domain/values.ts';
import type { McpOptions } from './options.ts';

export interface ToolCall {
  readonly tool: string;
  readonly arguments: Readonly<Record<string, unknown>>;
}

interface Observed {
  readonly value: Value;
  readonly unit: string | null;
  /** ISO 8601 */
  readonly at: string;
}

/** Keys that say nothing yet are absent. Times are ISO 8601. */
export interface StructuredContent {
  readonly message: string;
  readonly state: Phase;
  /** Ended, whatever the outcome. */
  readonly done: boolean;
  readonly commandId: string;
  readonly device: string;
  readonly outcome?: Outcome;
  readonly requested: Desired;
  readonly previous: Readonly<Record<string, Value | null>>;
  readonly sent: SentEvidence;
  readonly observed: Readonly<Record<string, Observed>>;
  readonly fields?: Readonly<Record<string, { requested: Value; observed: Value | null; verdict: Verdict }>>;
  readonly safeToSendAgain?: boolean;
  readonly adjusted?: boolean;
  readonly undo?: ToolCall;
  readonly next?: ToolCall;
  readonly retryAfterSeconds?: number;
  readonly decidedBy?: string;
  readonly decidedAt?: string;
  readonly createdAt: string;
  readonly endedAt?: string;
}

const RETRY_AFTER_SECONDS = 5;

export function structuredContent(
  snapshot: CommandSnapshot,
  now: number,
  options: McpOptions,
  remark = '',
): StructuredContent {
  const { view } = snapshot;
  const ended = snapshot.status !== 'running';
  const outcome = view.result?.outcome ?? (snapshot.status === 'cancelled' ? 'cancelled' : undefined);
  const endedAt = view.result?.endedAt ?? snapshot.closedAt;
  return {
    message: remark + commandMessage(snapshot, now, options.consoleUrl),
    state: ended ? 'ended' : view.phase,
    done: ended,
    commandId: snapshot.commandId,
    device: view.device,
    ...(outcome !== undefined && { outcome }),
    requested: view.desired,
    previous: view.previous,
    sent: view.sent,
    observed: observedIn(snapshot),
    ...(view.result !== null && {
      fields: mapValues(view.result.fields, ({ requested, observed, verdict }) => ({
        requested,
        observed: observed?.value ?? null,
        verdict,
      })),
      safeToSendAgain: view.result.safeToSendAgain,
      adjusted: view.result.adjusted,
    }),
    ...undoOf(snapshot),
    ...nextOf(snapshot),
    ...(view.decidedBy !== null && { decidedBy: view.decidedBy.by, decidedAt: isoTime(view.decidedBy.at) }),
    createdAt: isoTime(snapshot.createdAt),
    ...(ended && endedAt !== null && { endedAt: isoTime(endedAt) }),
  };
}

/** The readback where the command has ended, else the latest reading. */
function observedIn({ view, live }: CommandSnapshot): Readonly<Record<string, Observed>> {
  const observed: Record<string, Observed> = {};
  if (view.result !== null) {
    for (const [field, result] of Object.entries(view.result.fields))
      if (result.observed !== null) observed[field] = { ...result.observed, at: isoTime(result.observed.at) };
    return observed;
  }
  for (const [field, reading] of Object.entries(live?.fields ?? {}))
    if (live !== null && reading.kind === 'value' && Object.hasOwn(view.desired, field))
      observed[field] = { value: reading.value, unit: view.units[field] ?? null, at: isoTime(live.at) };
  return observed;
}

/** Only what was really changed, and can be put back by the same kind of command. */
function undoOf({ view }: CommandSnapshot): { undo?: ToolCall } {
  if (view.result?.outcome !== 'verified' || !view.result.repeatable) return {};
  const before = Object.entries(view.result.fields).map(([field, result]: [string, FieldResult]) => [
    field,
    result.previous,
  ]);
  if (before.some(([, value]) => value === null)) return {};
  return {
    undo: {
      tool: 'set_device_state',
      arguments: { device: view.device, desired: Object.fromEntries(before) },
    },
  };
}

/** What to call next; nothing while a person is waited for, since polling doesn't bring the answer. */
function nextOf(snapshot: CommandSnapshot): { next?: ToolCall; retryAfterSeconds?: number } {
  const { view, commandId } = snapshot;
  if (snapshot.status === 'running') {
    if (view.approval !== null) return {};
    const next = { tool: 'get_command', arguments: { commandId, waitSeconds: LONGEST_WAIT_SECONDS } };
    return { next, retryAfterSeconds: RETRY_AFTER_SECONDS };
  }
  if (view.result?.safeToSendAgain === true) return {};
  return { next: { tool: 'get_device_state', arguments: { device: view.device } } };
}

export function isoTime(epochMs: number): string {
  return new Date(epochMs).toISOString();
}

function mapValues<T, U>(record: Readonly<Record<string, T>>, map: (value: T) => U): Record<string, U> {
  return Object.fromEntries(Object.entries(record).map(([key, value]) => [key, map(value)]));
}
