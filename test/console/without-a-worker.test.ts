import assert from 'node:assert/strict';
import { it } from 'node:test';
import { operate } from './operating.ts';

const OPERATOR = { kind: 'operator' } as const;

it('an approval given while no worker runs is recorded, said to be no more than that, and carried out once one runs', async () => {
  const operating = await operate();
  try {
    const { harness } = operating;
    const ann = await operating.signIn(operating.approvers.add('Ann'));
    const bob = await operating.signIn(operating.approvers.add('Bob'));
    const id = await operating.ask('boiler-0');
    await harness.stopWorker();
    const { text } = await ann.decide([id], 'approve', 'go on');
    assert.match(text, /recorded as approved; it counts as soon as a worker runs/);
    await bob.decide([id], 'decline', 'too late');
    assert.equal((await harness.commands.get(id, OPERATOR))?.view.decidedBy, null);
    assert.equal(await operating.sends('boiler-0'), 0);
    await harness.startWorker();
    const { view } = await harness.ended(id);
    assert.deepEqual([view.result?.outcome, view.decidedBy?.by], ['verified', 'Ann']);
    assert.equal(await operating.sends('boiler-0'), 1);
    const { text: page } = await bob.get(`/commands/${id}`);
    assert.match(page, /Ann approved/);
    assert.match(page, /Bob declined/);
    assert.deepEqual(operating.errors, []);
  } finally {
    await operating.close();
  }
});
