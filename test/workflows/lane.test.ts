/** What the lane answers to those who enter, whatever order they come in. */
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { enter, type LaneRegister } from '../../workflows/lane.ts';
import type { LaneAnswer, LaneEntry, LaneNews } from '../../workflows/messages.ts';

const NO_NEWS: LaneNews = { closed: [], withdrawn: [] };
const command = (commandId: string, acceptedAt: number, fields = ['temperature']): LaneEntry => ({
  commandId,
  acceptedAt,
  fields,
  contentKey: `content of ${commandId}`,
});

/** The answers to all who enter, one after the other. */
function answers(...entries: readonly (LaneEntry | readonly [LaneEntry, Partial<LaneNews>])[]): LaneAnswer[] {
  let register: LaneRegister = { entries: [], latest: {} };
  return entries.map((one) => {
    const [entry, news] = 'commandId' in one ? [one, {}] : one;
    const entered = enter(register, entry, { ...NO_NEWS, ...news });
    register = entered.register;
    return entered.answer;
  });
}

const entered = (...ahead: string[]): LaneAnswer => ({ kind: 'entered', ahead });

describe('the lane', () => {
  it('puts each behind all who came before', () => {
    assert.deepEqual(answers(command('a', 1), command('b', 2), command('c', 3)), [
      entered(),
      entered('a'),
      entered('a', 'b'),
    ]);
  });

  it('gives a repeated attempt the place that it has', () => {
    assert.deepEqual(
      answers(command('a', 1), command('b', 2), command('c', 3), command('b', 2)).at(-1),
      entered('a'),
    );
    assert.deepEqual(
      answers(command('a', 1), command('b', 2), command('b', 2), command('c', 3)).at(-1),
      entered('a', 'b'),
    );
  });

  it('tells one that comes after another that was accepted later on the same field that it is overtaken', () => {
    assert.deepEqual(answers(command('b', 2), command('a', 1)), [entered(), { kind: 'overtaken', by: 'b' }]);
    const overlapping = command('a', 1, ['power', 'temperature']);
    assert.deepEqual(answers(command('b', 2), overlapping).at(-1), { kind: 'overtaken', by: 'b' });
    assert.deepEqual(answers(command('b', 2), command('a', 1, ['power'])).at(-1), entered('b'));
    assert.deepEqual(
      answers(command('b', 2), command('a', 2)).at(-1),
      entered('b'),
      'not by one of the same moment',
    );
  });

  it('counts a later word also once it is over, but not where it was never given to the device', () => {
    const late = command('a', 1);
    const over = { closed: ['b'] };
    assert.deepEqual(answers(command('b', 2), [late, over]).at(-1), { kind: 'overtaken', by: 'b' });
    assert.deepEqual(answers(command('b', 2), [late, { ...over, withdrawn: ['b'] }]).at(-1), entered());
  });

  it('puts nobody behind one that is over', () => {
    assert.deepEqual(
      answers(command('a', 1), command('b', 2), [command('c', 3), { closed: ['a'] }]).at(-1),
      entered('b'),
    );
  });

  it('takes the same call of the same caller for one, until it is over', () => {
    const same = { ...command('b', 2), contentKey: 'content of a' };
    assert.deepEqual(answers(command('a', 1), same).at(-1), { kind: 'duplicate', of: 'a' });
    assert.deepEqual(answers(command('a', 1), [same, { closed: ['a'] }]).at(-1), entered());
  });
});
