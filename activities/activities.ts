/** All activities, with what they need put in. */
import type { Activities } from '../workflows/activity-types.ts';
import { checkSeal } from './check-seal.ts';
import type { ActivityDependencies } from './dependencies.ts';
import type { InForce } from './in-force.ts';
import { lookAgain } from './look.ts';
import { probe, readState, rehearse } from './read-state.ts';
import { ring } from './ring.ts';
import { send } from './send.ts';
import { settle } from './settle.ts';
import { createTakeTurn } from './take-turn.ts';
import { wake } from './wake.ts';

export function createActivities(
  shared: Pick<ActivityDependencies, 'client' | 'sealKey' | 'consoleUrl'>,
  inForce: InForce,
): Activities {
  /** Each attempt works by one catalogue, from its beginning to its end. */
  const working =
    <Input, Output>(work: (dependencies: ActivityDependencies, input: Input) => Promise<Output>) =>
    (input: Input): Promise<Output> =>
      inForce.use((current) => work({ ...shared, ...current }, input));
  return {
    takeTurn: working(createTakeTurn()),
    lookAgain: working(lookAgain),
    wake: working(wake),
    send: working(send),
    settle: working(settle),
    checkSeal: working(async (dependencies, input) => checkSeal(dependencies, input)),
    readState: working(readState),
    probe: working(probe),
    rehearse: working(rehearse),
    ring: working(ring),
  };
}
