/** All activities, with what they need put in. */
import type { Activities } from '../workflows/activity-types.ts';
import { checkSeal } from './check-seal.ts';
import type { ActivityDependencies } from './dependencies.ts';
import { lookAgain } from './look.ts';
import { probe, readState, rehearse } from './read-state.ts';
import { ring } from './ring.ts';
import { send } from './send.ts';
import { settle } from './settle.ts';
import { createTakeTurn } from './take-turn.ts';
import { wake } from './wake.ts';

export function createActivities(dependencies: ActivityDependencies): Activities {
  return {
    takeTurn: createTakeTurn(dependencies),
    lookAgain: (input) => lookAgain(dependencies, input),
    wake: (input) => wake(dependencies, input),
    send: (input) => send(dependencies, input),
    settle: (input) => settle(dependencies, input),
    checkSeal: async (input) => checkSeal(dependencies, input),
    readState: (input) => readState(dependencies, input),
    probe: (input) => probe(dependencies, input),
    rehearse: (input) => rehearse(dependencies, input),
    ring: (input) => ring(dependencies, input),
  };
}
