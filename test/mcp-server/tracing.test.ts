import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import { type House, openHouse, type Serving, setting } from './serving.ts';
import { startTask, TASKS } from './wire.ts';

const TRACE = '4bf92f3577b34da6a3ce929d0e0e4736';

describe('the trace of a request', { timeout: 60_000 }, () => {
  let house: House;
  let serving: Serving;
  before(async () => {
    house = await openHouse();
    serving = await house.serve({ taskGraceMs: 0 });
  });
  after(() => house?.close());

  const traceOf = async (traceparent: unknown): Promise<unknown> => {
    const { taskId } = await startTask(serving.url, setting('slow-ac'), {
      capabilities: TASKS,
      meta: { traceparent },
    });
    const snapshot = await house.harness.commands.get(String(taskId), { kind: 'operator' });
    await house.harness.commands.cancel(String(taskId), { kind: 'operator' });
    return snapshot?.view.caller.traceId;
  };

  it('is kept with the command that it started', async () => {
    assert.equal(await traceOf(`00-${TRACE}-00f067aa0ba902b7-01`), TRACE);
  });

  it('is none where it is not what the standard has it be', async () => {
    for (const odd of [
      undefined,
      7,
      '',
      TRACE,
      `00-${TRACE.toUpperCase()}-00f067aa0ba902b7-01`,
      `ff-${TRACE}-00f067aa0ba902b7-01`,
      `00-${'0'.repeat(32)}-00f067aa0ba902b7-01`,
      `00-${TRACE}-00f067aa0ba902b7-01\u202e`,
    ])
      assert.equal(await traceOf(odd), undefined, String(odd));
  });
});
