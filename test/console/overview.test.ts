import assert from 'node:assert/strict';
import { mock, test } from 'node:test';
import type { Commands } from '../../commands/commands.ts';
import { createOverview, READ_EVERY_MS } from '../../console/overview.ts';

/** Lets everything happen that needs no time. */
const settled = () => new Promise((resolve) => setImmediate(resolve));

test('the lists are read once a round however many look at them, and not at all once nobody does', async () => {
  mock.timers.enable({ apis: ['setTimeout', 'Date'] });
  try {
    let reads = 0;
    const commands: Pick<Commands, 'pendingApprovals' | 'list'> = {
      pendingApprovals: async () => {
        reads += 1;
        return { items: [], cursor: null, total: 0 };
      },
      list: async () => [],
    };
    const rounds = async (count: number): Promise<void> => {
      for (let round = 0; round < count; round += 1) {
        mock.timers.tick(READ_EVERY_MS);
        await settled();
      }
    };
    const overview = createOverview(commands, assert.ifError);
    const stops = Array.from({ length: 30 }, () => overview.watch(() => {}));
    await rounds(5);
    assert.equal(reads, 5);
    for (const stop of stops.slice(1)) stop();
    await rounds(5);
    assert.equal(reads, 10, 'one viewer is as many');
    stops[0]?.();
    await rounds(5);
    assert.equal(reads, 10);
    overview.watch(() => {});
    await rounds(1);
    assert.equal(reads, 11, 'and again for the next one');
    overview.close();
  } finally {
    mock.timers.reset();
  }
});
