import assert from 'node:assert/strict';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { test } from 'node:test';
import { fingerprintOf } from '../../activities/sign-in/session.ts';
import { fileSignIns, type SignIn } from '../../activities/sign-in/store.ts';
import type { Auth } from '../../domain/catalogue/auth-definition.ts';
import { signInState } from '../../worker/sign-in-state.ts';

const KEY = Buffer.alloc(32, 7);
const OAUTH: Auth = {
  kind: 'oauth',
  tokenUrl: 'https://id.example/token',
  clientId: 'readback',
  clientSecret: 'client-secret-1',
  clientAuth: 'basic',
  refreshToken: null,
  scope: null,
  parameters: {},
};
const AT = Date.UTC(2026, 10, 30, 12);

test('how a connection stands is told from what workers keep, without a secret of it', async (t) => {
  const folder = mkdtempSync(join(tmpdir(), 'sign-ins-'));
  t.after(() => rmSync(folder, { recursive: true }));
  const store = fileSignIns(folder, KEY);
  store.check('cloud');
  const state = (auth: Auth = OAUTH, key = KEY) =>
    signInState({ name: 'cloud', auth }, folder, () => key, AT + 1000);
  const keep = (signIn: Partial<SignIn>) =>
    store.change('cloud', async () => ({
      fingerprint: fingerprintOf(OAUTH),
      lineage: null,
      session: null,
      refreshToken: null,
      failure: null,
      ...signIn,
    }));

  assert.equal(await state({ kind: 'none' }), null);
  assert.deepEqual(await state({ kind: 'bearer', token: 'x' }), {
    kind: 'fine',
    found: 'by bearer, with each request; nothing is kept of it',
  });
  assert.match((await state())?.found ?? '', /not signed in yet/);

  const session = { token: 'access-token-1', obtainedAt: AT, expiresAt: AT + 3_600_000, unhelpful: 0 };
  await keep({ session, refreshToken: 'refresh-token-1' });
  assert.deepEqual(await state(), {
    kind: 'fine',
    found: 'by oauth; signed in at 2026-11-30 12:00 UTC, until 2026-11-30 13:00 UTC',
  });
  assert.match(
    (await state({ ...OAUTH, clientSecret: 'another' }))?.found ?? '',
    /is new, the next request signs in/,
  );
  assert.match((await state(OAUTH, Buffer.alloc(32, 8)))?.found ?? '', /not signed in yet/);

  const failure = { at: AT, until: AT + 900_000, count: 1 };
  await keep({ failure: { ...failure, kind: 'refused', why: 'id.example refuses its sign-in; mend it' } });
  assert.deepEqual(await state(), {
    kind: 'signedOut',
    found:
      'by oauth; signed out at 2026-11-30 12:00 UTC: id.example refuses its sign-in; mend it (tried again at 2026-11-30 12:15 UTC)',
  });
  await keep({ failure: { ...failure, kind: 'away', why: 'nobody answers', until: AT } });
  assert.deepEqual(await state(), {
    kind: 'away',
    found:
      'by oauth; could not sign in at 2026-11-30 12:00 UTC: nobody answers (tried again by the next request)',
  });
});
