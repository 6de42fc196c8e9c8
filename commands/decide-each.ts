/** One decision on several commands, with one result for each. */
import {
  type Commands,
  type Decided,
  type Decision,
  EngineUnreachable,
  InputError,
  type Viewer,
} from './commands.ts';

export type DecisionResult =
  | Decided
  /** This person may not decide it, or a decline lacks its reason. */
  | { readonly kind: 'refused'; readonly why: string }
  | { readonly kind: 'unreachable'; readonly why: string };

export interface ItemDecision {
  readonly commandId: string;
  readonly result: DecisionResult;
  /** The decision that was asked for is the one that stands, or will as soon as a worker runs. */
  readonly asAsked: boolean;
  /** What became of it, as one sentence's end: `approved`, `bob declined it before`. */
  readonly words: string;
}

/** As programs get it, from the console's API and from the command line. */
export const decisionAsJson = ({ commandId, result, asAsked, words }: ItemDecision) => ({
  commandId,
  ...result,
  asAsked,
  words,
});

/** So many at a time: more would only wait inside Temporal. */
const AT_ONCE = 8;
export const MOST_DECISIONS = 200;

/** In the order of the ids, each id once. Throws `InputError` for more than `MOST_DECISIONS`. */
export async function decideEach(
  commands: Pick<Commands, 'decide'>,
  commandIds: readonly string[],
  decision: Decision,
  as?: Viewer,
): Promise<ItemDecision[]> {
  const ids = [...new Set(commandIds)];
  if (ids.length > MOST_DECISIONS)
    throw new InputError(`At most ${MOST_DECISIONS} approvals can be decided at once. Nothing was decided.`);
  const results: ItemDecision[] = [];
  let next = 0;
  const decideNext = async (): Promise<void> => {
    for (let index = next++; index < ids.length; index = next++) {
      results[index] = await decideOne(commands, ids[index] ?? '', decision, as);
    }
  };
  await Promise.all(Array.from({ length: AT_ONCE }, decideNext));
  return results;
}

async function decideOne(
  commands: Pick<Commands, 'decide'>,
  commandId: string,
  decision: Decision,
  as: Viewer | undefined,
): Promise<ItemDecision> {
  const result = await resultOf(commands, commandId, decision, as);
  const asAsked =
    result.kind === 'taken' ||
    result.kind === 'queued' ||
    (result.kind === 'decidedBefore' && result.decision === decision.decision);
  return { commandId, result, asAsked, words: inWords(result, decision) };
}

async function resultOf(
  commands: Pick<Commands, 'decide'>,
  commandId: string,
  decision: Decision,
  as: Viewer | undefined,
): Promise<DecisionResult> {
  try {
    return await commands.decide(commandId, decision, as);
  } catch (error) {
    if (error instanceof InputError) return { kind: 'refused', why: error.message };
    if (error instanceof EngineUnreachable) return { kind: 'unreachable', why: error.message };
    throw error;
  }
}

function inWords(result: DecisionResult, { decision, by }: Decision): string {
  switch (result.kind) {
    case 'taken':
      return decision;
    case 'queued':
      return `recorded as ${decision}; it counts as soon as a worker runs, unless something else was decided before`;
    case 'decidedBefore':
      return `${result.by === by ? 'you' : result.by} ${result.decision} it before; that stands`;
    case 'notPending':
      return `not ${decision}: ${result.why}`;
    case 'unknown':
      return `not ${decision}: there is no such command`;
    case 'refused':
    case 'unreachable':
      return `not ${decision}: ${result.why}`;
  }
}
