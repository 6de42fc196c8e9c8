/**
 * The lane of one device: a register that hands out places and nothing else. It never grants, leases or waits, so no
 * dead command can block it: a command goes on once those ahead of it are closed, which Temporal itself knows.
 */
import { condition, makeContinueAsNewFunc, setHandler, workflowInfo } from '@temporalio/workflow';
import { enterUpdate, type LaneAnswer, type LaneEntry, type LaneNews } from './messages.ts';

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
  setHandler(enterUpdate, (entry, news) => {
    entered += 1;
    const { register: next, answer } = enter(state, entry, news);
    state = next;
    return answer;
  });

  await condition(() => entered >= ENTRIES_PER_RUN || workflowInfo().continueAsNewSuggested);
  await makeContinueAsNewFunc<typeof lane>({ memo: workflowInfo().memo ?? {} })(state);
}

/** A command asks for its place: what it is told, and the register from then on. */
export function enter(
  register: LaneRegister,
  entry: LaneEntry,
  news: LaneNews,
): { readonly register: LaneRegister; readonly answer: LaneAnswer } {
  const now = informed(register, news);
  const answer = answerTo(entry, now);
  // A repeated attempt has its place already.
  const isNew =
    answer.kind === 'entered' && !now.entries.some(({ commandId }) => commandId === entry.commandId);
  return { register: isNew ? withEntry(now, entry) : now, answer };
}

function informed({ entries, latest }: LaneRegister, { closed, withdrawn }: LaneNews): LaneRegister {
  const standing = Object.entries(latest).filter(([, { commandId }]) => !withdrawn.includes(commandId));
  return {
    entries: entries.filter(({ commandId }) => !closed.includes(commandId)),
    latest: Object.fromEntries(standing),
  };
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
