import assert from 'node:assert/strict';
import { it } from 'node:test';
import type { CommandSnapshot } from '../../commands/commands.ts';
import { recentSnapshots } from '../../commands/recent-snapshots.ts';
import type { CommandView } from '../../domain/command.ts';

const mine = { kind: 'owner', subject: 'jo' } as const;
const notMine = { kind: 'owner', subject: 'mallory' } as const;
const view = { owner: 'jo' } as CommandView;

/** Answers in the order of the questions, each when it is told to. */
function openedRecent() {
  let now = 0;
  const asked: { id: string; answer(snapshot: Partial<CommandSnapshot> | undefined): void; fail(): void }[] =
    [];
  const recent = recentSnapshots(
    (id) =>
      new Promise((resolve, reject) => {
        asked.push({
          id,
          answer: (snapshot) => resolve(snapshot as CommandSnapshot | undefined),
          fail: () => reject(new Error('no answer')),
        });
      }),
    () => now,
  );
  /** Answers the latest question. */
  const answer = async (snapshot: Partial<CommandSnapshot> | undefined) => {
    await new Promise(setImmediate);
    asked.at(-1)?.answer(snapshot);
    await new Promise(setImmediate);
  };
  return { recent, asked, answer, pass: (ms: number) => void (now += ms) };
}
const running = (overdue: boolean): Partial<CommandSnapshot> => ({ status: 'running', overdue, view });

it('asks once for all who ask at the same time, and for who asks again right away', async () => {
  const { recent, asked, answer, pass } = openedRecent();
  const both = Promise.all([recent.lately('a', mine), recent.lately('a', mine)]);
  await answer(running(false));
  const [first, second] = await both;
  assert.equal(first, second);
  pass(299);
  assert.equal(await recent.lately('a', mine), first);
  assert.equal(asked.length, 1);
  pass(1);
  void recent.lately('a', mine);
  void recent.lately('b', mine);
  assert.deepEqual(
    asked.map(({ id }) => id),
    ['a', 'a', 'b'],
  );
});

it('keeps for longer what has ended, and not at all what nobody has', async () => {
  const { recent, asked, answer, pass } = openedRecent();
  void recent.lately('a', mine);
  await answer({ status: 'completed', view });
  pass(9_999);
  await recent.lately('a', mine);
  assert.equal(asked.length, 1);
  pass(1);
  void recent.lately('a', mine);
  await answer(undefined);
  void recent.lately('a', mine);
  assert.equal(asked.length, 3);
});

it('is never older than what was asked since, whichever answer comes first', async () => {
  const { recent, asked } = openedRecent();
  const slow = recent.lately('a', mine);
  const later = recent.get('a', mine);
  const polled = recent.lately('a', mine);
  asked[1]?.answer(running(true));
  asked[0]?.answer(running(false));
  assert.deepEqual(
    (await Promise.all([slow, later, polled])).map((snapshot) => snapshot?.overdue),
    [false, true, true],
  );
  assert.equal((await recent.lately('a', mine))?.overdue, true);
  assert.equal(asked.length, 2);
});

it('forgets what was asked before a change, and while it was made', async () => {
  const { recent, asked, answer } = openedRecent();
  const before = recent.lately('a', mine);
  await answer(running(false));
  await before;
  let made = (): void => undefined;
  const change = recent.changing('a', () => new Promise<void>((resolve) => (made = resolve)));
  void recent.lately('a', mine);
  assert.equal(asked.length, 2, 'not what was true before it began');
  await answer(running(false));
  made();
  await change;
  void recent.lately('a', mine);
  assert.equal(asked.length, 3, 'nor what was true before it was over');
});

it('asks anew for a stranger, who could otherwise tell by the time that the id exists', async () => {
  const { recent, asked, answer } = openedRecent();
  void recent.lately('a', mine);
  await answer(running(false));
  const strangers = recent.lately('a', notMine);
  await answer(running(false));
  assert.deepEqual([await strangers, asked.length], [undefined, 2]);
});

it('keeps no failure, and forgets the oldest when there are too many', async () => {
  const { recent, asked, answer } = openedRecent();
  const failed = recent.lately('a', mine);
  asked[0]?.fail();
  await assert.rejects(failed);
  void recent.lately('a', mine);
  await answer(running(false));
  assert.equal(asked.length, 2);
  for (let index = 0; index < 1000; index += 1) void recent.lately(`other-${index}`, mine);
  void recent.lately('a', mine);
  assert.equal(asked.length, 1003);
});
