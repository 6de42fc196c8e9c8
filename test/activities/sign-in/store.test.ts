import assert from 'node:assert/strict';
import { mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, utimesSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { test } from 'node:test';
import { fileSignIns } from '../../../activities/sign-in/store.ts';
import { REFRESHED, startGate } from './account.ts';

test('a rotated token survives restarts in a sealed file, and is shared by workers', async (t) => {
  const folder = mkdtempSync(join(tmpdir(), 'sign-ins-'));
  t.after(() => rmSync(folder, { recursive: true }));
  const key = Buffer.alloc(32, 7);
  const gate = await startGate(t, REFRESHED);
  // One store a worker, as in two processes.
  const [one, two] = await Promise.all([1, 2].map(() => gate.worker({ store: fileSignIns(folder, key) })));
  assert.ok(one && two);
  const both = await Promise.all([one.send('on'), two.send('off')]);
  assert.deepEqual(
    both.map((result) => result.class),
    ['accepted', 'accepted'],
  );
  assert.equal((await gate.counts()).granted, 1);
  await gate.admin('POST', '/accounts/gate/sign-out', {});
  assert.equal((await one.send('on')).class, 'accepted');
  assert.equal((await two.send('on')).class, 'accepted');
  const third = await gate.worker({ store: fileSignIns(folder, key) });
  assert.equal((await third.send('off')).class, 'accepted');
  assert.deepEqual(await gate.counts(), { sends: 5, turnedAway: 2, granted: 2, refused: 0 });

  assert.deepEqual(readdirSync(folder), ['cloud']);
  const kept = readFileSync(join(folder, 'cloud'), 'latin1');
  for (const secret of ['token-', 'refresh-', 'client-secret-1', 'first-refresh-token'])
    assert.ok(!kept.includes(secret));
  // With another key it is of no use: the first refresh token was good once, so now somebody has to sign in.
  const stranger = await gate.worker({ store: fileSignIns(folder, Buffer.alloc(32, 8)) });
  assert.match((await stranger.send('on')).detail, /invalid_grant/);
});

test('what a worker that was killed in the middle of a sign-in held is free again soon', async (t) => {
  const folder = mkdtempSync(join(tmpdir(), 'sign-ins-'));
  t.after(() => rmSync(folder, { recursive: true }));
  const lock = join(folder, 'cloud.lock');
  mkdirSync(lock);
  const tenSecondsAgo = new Date(Date.now() - 10_500);
  utimesSync(lock, tenSecondsAgo, tenSecondsAgo);
  const gate = await startGate(t, REFRESHED);
  const worker = await gate.worker({ store: fileSignIns(folder, Buffer.alloc(32, 7)) });
  const since = Date.now();
  assert.equal((await worker.send('on')).class, 'accepted');
  assert.ok(Date.now() - since < 5_000);
});

test('a data folder that can keep nothing is told at the start, where something has to be kept', async (t) => {
  const gate = await startGate(t, REFRESHED);
  await assert.rejects(
    gate.worker({ store: fileSignIns('/dev/null/sign-ins', Buffer.alloc(32, 7)) }),
    /connection "cloud": its sign-in can't be kept in \/dev\/null\/sign-ins \(ENOTDIR\): .*\(needed by gate\)/,
  );
});
