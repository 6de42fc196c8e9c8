/** Was this answer sealed by a part of Readback that authenticated the person, for this very question? */

import { sealMatches } from '../domain/approval/seal.ts';
import type { Activities } from '../workflows/activity-types.ts';
import type { ActivityDependencies } from './dependencies.ts';

type Input = Parameters<Activities['checkSeal']>[0];

export function checkSeal(
  { sealKey, catalogue }: ActivityDependencies,
  { commandId, digest, answer }: Input,
): boolean {
  // By hand in the Temporal UI nobody can seal; only where the operator allows that, and it is recorded as such.
  if (answer.seal === null) return catalogue().settings.decideInTemporalUi;
  const { seal, ...said } = answer;
  return sealMatches(sealKey, { commandId, digest, ...said }, seal);
}
