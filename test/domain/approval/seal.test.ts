/** A decision is good for the one question that it was given for, and nobody without the key can make one. */
import assert from 'node:assert/strict';
import { randomBytes } from 'node:crypto';
import { describe, it } from 'node:test';
import type { DecisionToSeal } from '../../../domain/approval/decision.ts';
import { seal, sealKeyFrom, sealMatches } from '../../../domain/approval/seal.ts';

const KEY = randomBytes(32);
const DECISION: DecisionToSeal = {
  commandId: 'c1',
  digest: 'd1',
  key: 'approve-1',
  decision: 'approved',
  by: 'ann',
  via: 'console',
  at: 1000,
  askedAt: 500,
  comment: null,
};

describe('a seal', () => {
  it('fits the decision that it was made for', () => {
    assert.equal(sealMatches(KEY, DECISION, seal(KEY, DECISION)), true);
  });

  for (const [what, changed] of Object.entries({
    command: { commandId: 'c2' },
    'definition or rule': { digest: 'd2' },
    question: { key: 'approve-2' },
    decision: { decision: 'declined' },
    person: { by: 'bob' },
    way: { via: 'cli' },
    time: { at: 1001 },
    'time of the question': { askedAt: 501 },
    comment: { comment: 'fine' },
  } satisfies Record<string, Partial<DecisionToSeal>>)) {
    it(`fits no other ${what}`, () => {
      assert.equal(sealMatches(KEY, { ...DECISION, ...changed }, seal(KEY, DECISION)), false);
    });
  }

  it('of another key, or of junk, fits nothing', () => {
    assert.equal(sealMatches(KEY, DECISION, seal(randomBytes(32), DECISION)), false);
    assert.equal(sealMatches(KEY, DECISION, { nonce: '', mac: '' }), false);
  });

  it('needs a key of 32 bytes or more, random ones, and says how to make one', () => {
    for (const text of ['c2hvcnQ', 'changeme'.repeat(8), Buffer.alloc(64).toString('base64')])
      assert.throws(() => sealKeyFrom(text), /READBACK_SEAL_KEY must be at least 32 random bytes/);
    assert.equal(sealKeyFrom(randomBytes(32).toString('base64')).length, 32);
  });
});
