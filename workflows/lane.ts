/**
 * The lane of one device: a register that hands out places and nothing else. It never grants, leases or waits, so no
 * dead command can block it: a command goes on once those ahead of it are closed, which Temporal itself knows.
 */
import { condition, makeContinueAsNewFunc, setHandler, workflowInfo } from '@temporalio/workflow';
import { enterUpdate, type LaneAnswer, type LaneEntry } from './messages.ts';

export interface LaneRegister {
  /** In order of entry; only those not yet known to be closed. */
  readonly entries: readonly LaneEntry[];
  /** Per field, the latest accepted command that entered: whoever was accepted before it has been overtaken. */
  readonly latest: Readonly<Record<string, { readonly commandId: string; readonly acceptedAt: number }>>;
}

/** About 5 events an entry: far below Temporal's own limits, and a replay stays short. */
const ENTRIES_PER_RUN = 400;

export async function lane(register: LaneRegister = { entries: [], latest: {} }): Promise<void> {
  let state = register;
  let entered = 0;

  // Synchronous on purpose: a handler that awaits can interleave with another and hand out one place twice.
  setHandler(enterUpdate, (entry, closed) => {
    entered += 1;
    const open = state.entries.filter((other) => !closed.includes(other.commandId));
    const answer = answerTo(entry, { ...state, entries: open });
    state =
      answer.kind === 'entered' ? withEntry({ ...state, entries: open }, entry) : { ...state, entries: open };
    return answer;
  });

  await condition(() => entered >= ENTRIES_PER_RUN || workflowInfo().continueAsNewSuggested);
  await makeContinueAsNewFunc<typeof lane>({ memo: workflowInfo().memo ?? {} })(state);
}

function answerTo(entry: LaneEntry, { entries, latest }: LaneRegister): LaneAnswer {
  const place = entries.findIndex((other) => other.commandId === entry.commandId);
  if (place >= 0) return { kind: 'entered', ahead: entries.slice(0, place).map((other) => other.commandId) };
  const twin = entries.find((other) => other.contentKey === entry.contentKey);
  if (twin !== undefined) return { kind: 'duplicate', of: twin.commandId };
  const overtaker = entry.fields
    .map((field) => latest[field])
    .find((last) => last !== undefined && last.acceptedAt > entry.acceptedAt);
  if (overtaker !== undefined) return { kind: 'overtaken', by: overtaker.commandId };
  return { kind: 'entered', ahead: entries.map((other) => other.commandId) };
}

function withEntry({ entries, latest }: LaneRegister, entry: LaneEntry): LaneRegister {
  const { commandId, acceptedAt } = entry;
  const overwritten = Object.fromEntries(entry.fields.map((field) => [field, { commandId, acceptedAt }]));
  return { entries: [...entries, entry], latest: { ...latest, ...overwritten } };
}
