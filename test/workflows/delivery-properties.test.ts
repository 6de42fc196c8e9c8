/** What holds for a command whatever its sends and readbacks are answered. */
import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import fc from 'fast-check';
import type { Verdict } from '../../domain/outcome.ts';
import {
  type Played,
  REACHING,
  type Reply,
  type Script,
  type ScriptedCommands,
  startScriptedCommands,
} from './scripted-command.ts';

describe('a command', () => {
  let commands: ScriptedCommands;
  before(async () => {
    commands = await startScriptedCommands();
  });
  after(() => commands.stop());

  it('never sends twice what may not be repeated, and never claims more than was read, whatever is answered', async () => {
    const reply = fc.constantFrom<Reply>(
      'accepted',
      'already',
      'maybe',
      'soft',
      'refused',
      'limited',
      'asleep',
      'signedOut',
      'unreached',
      'lost',
      'died',
    );
    const verdict = fc.constantFrom<Verdict>(
      'verified',
      'unchanged',
      'different',
      'unsettled',
      'unreadable',
      'superseded',
      'fault',
      'notApplicable',
    );
    const script = fc.record({
      steps: fc.array(
        fc.record({
          kind: fc.constantFrom('set', 'toggle', 'pulse'),
          repeatable: fc.boolean(),
          // biome-ignore lint/suspicious/noThenProperty: the catalogue's own word
          then: fc.constantFrom({ kind: 'verify' as const }, { kind: 'sent' as const }),
        }),
        { minLength: 1, maxLength: 2 },
      ),
      maxSends: fc.integer({ min: 1, max: 3 }),
      replies: fc.array(reply, { minLength: 1, maxLength: 6 }),
      verdicts: fc.array(verdict, { minLength: 1, maxLength: 4 }),
      soAlready: fc.boolean(),
      wake: fc.option(fc.record({ atMost: fc.integer({ min: 1, max: 2 }), withinMs: fc.constant(90_000) })),
      wakes: fc.array(fc.boolean(), { minLength: 1, maxLength: 3 }),
    });
    await fc.assert(
      fc.asyncProperty(script, async ({ steps, ...rest }) => {
        // As the catalogue is checked: only a set may be repeatable.
        const sane = steps.map((step) => ({ ...step, repeatable: step.repeatable && step.kind === 'set' }));
        assertHonest({ ...rest, steps: sane }, await commands.play({ ...rest, steps: sane }));
      }),
      { numRuns: 60, endOnFailure: true },
    );
  });
});

function assertHonest(
  script: Script,
  { result, verdicts, attempts, keys, counted, wakes, reads }: Played,
): void {
  const reached = keys.filter((_, index) => REACHING.includes(attempts[index] ?? 'unreached'));
  for (const [index, step] of (script.steps ?? []).entries()) {
    const ofStep = reached.filter((key) => key.split(':')[1] === String(index));
    assert.ok(
      ofStep.length <= (step.repeatable ? (script.maxSends ?? 1) : 1),
      `step ${index}: ${ofStep.join(' ')}`,
    );
  }
  assert.equal(counted, reached.length);
  assert.ok(wakes <= (script.wake?.atMost ?? 0));
  const { outcome, safeToSendAgain } = result;
  if (outcome === 'verified') assert.ok(reads.length > 0, 'nobody has read it');
  if (outcome === 'undelivered') assert.equal(reached.length, 0);
  if (outcome === 'unverifiable') assert.fail('every field here has a readback');
  const read = new Set(reads.flat());
  for (const [field, verdict] of Object.entries(verdicts)) {
    if (verdict === 'verified') assert.ok(read.has(field), `${field} was never read back`);
    if (verdict === 'unchanged') assert.ok(reached.length > 0);
  }
  const onceOnlyActed = keys.some((key, index) => {
    const reply = attempts[index] ?? 'unreached';
    const step = script.steps?.[Number(key.split(':')[1])];
    return REACHING.includes(reply) && reply !== 'refused' && step?.repeatable !== true;
  });
  if (safeToSendAgain && onceOnlyActed)
    assert.ok(['verified', 'already'].includes(outcome), `${outcome} is called safe to send again`);
}
