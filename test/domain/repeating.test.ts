import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { type ApprovalBrief, byRisk } from '../../domain/approval/brief.ts';
import { REPEAT_RISKS, repeatRisk, unverifiableFields } from '../../domain/repeating.ts';
import { celsius, device, onoff, percent, step } from './definitions.ts';

describe('the risk of repeating', () => {
  const fields = [celsius(), onoff(), percent('fan', { readback: false })];

  it('is that of the riskiest request that can carry an asked field', () => {
    const steps = [
      step(0, ['temperature']),
      step(1, ['power'], { kind: 'toggle', repeatable: false }),
      step(2, ['fan'], { repeatable: false }),
      step(3, ['temperature', 'fan'], { repeatable: true }),
    ];
    const risk = (desired: Record<string, number | string>) =>
      repeatRisk(device(fields, { send: steps }), desired);
    assert.equal(risk({ temperature: 20 }), 'harmless');
    assert.equal(risk({ fan: 50 }), 'notRepeatable');
    assert.equal(risk({ power: 'on' }), 'onceOnly');
    assert.equal(risk({ temperature: 20, power: 'on' }), 'onceOnly');
    assert.equal(risk({ temperature: 20, fan: 50 }), 'notRepeatable');
  });

  it('is not known for a device that is no longer in the catalogue', () => {
    assert.equal(repeatRisk(undefined, { power: 'on' }), 'unknown');
    assert.deepEqual(unverifiableFields(undefined, { power: 'on' }), []);
  });

  it('names the asked fields that nobody can read back, and no others', () => {
    assert.deepEqual(unverifiableFields(device(fields), { temperature: 20, fan: 50 }), ['fan']);
    assert.deepEqual(unverifiableFields(device(fields), { temperature: 20 }), []);
  });

  it('sorts: what repeating would harm first, then what cannot be read back, then operators, then the deadline', () => {
    const brief = (index: number, more: Partial<ApprovalBrief>) =>
      ({
        commandId: String(index),
        by: 'requester',
        unverifiable: [],
        expiresAt: 9 - index,
        ...more,
      }) as ApprovalBrief;
    const sorted = [
      ...REPEAT_RISKS.flatMap((repeating) => [
        { repeating, unverifiable: ['x'], by: 'operator' as const },
        { repeating, unverifiable: ['x'] },
        { repeating, by: 'operator' as const },
        { repeating },
      ]),
      { repeating: 'harmless' as const, expiresAt: 100 },
    ].map((more, index) => brief(index, more));
    assert.deepEqual([...sorted].reverse().sort(byRisk), sorted);
  });
});
