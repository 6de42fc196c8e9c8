/** When a connection signs in, and when it must not: on a clock by hand, with a sign-in that does as it is told. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { keepSession, type Obtained } from '../../../activities/sign-in/session.ts';
import { memorySignIns, type Session, type SignInStore } from '../../../activities/sign-in/store.ts';

const MINUTE = 60_000;

function clockwork(store: SignInStore = memorySignIns()) {
  const clock = { at: 1_000_000_000_000 };
  const asked: (string | null)[] = [];
  let answer: (nth: number) => Obtained = (nth) => lasting(nth, 60 * MINUTE);
  const lasting = (nth: number, ms: number | null): Obtained => ({
    kind: 'session',
    token: `token-${nth}`,
    expiresAt: ms === null ? null : clock.at + ms,
    refreshToken: `refresh-${nth}`,
  });
  const sessions = keepSession({
    connection: 'cloud',
    store,
    from: { secret: 'x' },
    cure: 'mend the secret',
    hide: () => undefined,
    obtain: async (refreshToken) => {
      asked.push(refreshToken);
      return answer(asked.length);
    },
    now: () => clock.at,
  });
  return {
    sessions,
    asked,
    lasting,
    pass: (ms: number) => void (clock.at += ms),
    answers: (with_: typeof answer) => void (answer = with_),
    token: async () => tokenOf(await sessions.current()),
  };
}

const tokenOf = (got: Awaited<ReturnType<ReturnType<typeof keepSession>['current']>>): string =>
  'token' in got ? got.token : `${got.kind}: ${got.why}`;
const REFUSED: Obtained = { kind: 'refused', why: 'no' };
const AWAY: Obtained = { kind: 'away', why: 'nobody answers', retryAfterMs: null };

async function held(sessions: ReturnType<typeof keepSession>): Promise<Session> {
  const got = await sessions.current();
  assert.ok('token' in got);
  return got;
}

test('a session is renewed shortly before it expires, with the refresh token that came last', async () => {
  const { token, asked, pass } = clockwork();
  assert.equal(await token(), 'token-1');
  pass(58 * MINUTE);
  assert.equal(await token(), 'token-1');
  pass(1.5 * MINUTE);
  assert.equal(await token(), 'token-2');
  assert.deepEqual(asked, [null, 'refresh-1']);
});

test('what is left of a session is used up while it can not be renewed, and tried again ever more seldom', async () => {
  const { token, asked, pass, answers } = clockwork();
  await token();
  answers(() => AWAY);
  pass(59.5 * MINUTE);
  assert.equal(await token(), 'token-1');
  assert.equal(await token(), 'token-1');
  assert.equal(asked.length, 2);
  pass(6_000);
  await token();
  assert.equal(asked.length, 3);
  pass(6_000);
  await token();
  assert.equal(asked.length, 3);
  pass(30_000);
  assert.match(await token(), /^unreached: connection "cloud" can't sign in now: nobody answers$/);
});

test('a pause that the sign-in asks for is kept', async () => {
  const { token, asked, pass, answers } = clockwork();
  answers(() => ({ ...AWAY, retryAfterMs: 10 * MINUTE }));
  await token();
  pass(9 * MINUTE);
  await token();
  assert.equal(asked.length, 1);
  pass(1 * MINUTE);
  await token();
  assert.equal(asked.length, 2);
});

test('a refused sign-in is tried again after a quarter of an hour, then after twice as long', async () => {
  const { token, asked, pass, answers } = clockwork();
  answers(() => REFUSED);
  assert.match(
    await token(),
    /^signedOut: connection "cloud" is signed out: no; mend the secret\. It is tried again at 2001-09-09 02:01 UTC/,
  );
  for (const [minutes, tries] of [
    [14, 1],
    [1, 2],
    [29, 2],
    [1, 3],
  ] as const) {
    pass(minutes * MINUTE);
    await token();
    assert.equal(asked.length, tries, `after ${minutes} more minutes`);
  }
});

test('a session that was turned away is given to nobody again, also where no other could be had', async () => {
  const { sessions, token, pass, answers } = clockwork();
  const first = await held(sessions);
  sessions.worked(first);
  answers(() => REFUSED);
  assert.match(tokenOf(await sessions.renew(first)), /^signedOut/);
  assert.match(await token(), /^signedOut/);
  pass(15 * MINUTE);
  answers((nth) => ({ kind: 'session', token: `token-${nth}`, expiresAt: null, refreshToken: null }));
  assert.equal(await token(), 'token-3');
});

test('a session that another worker has renewed is taken from it', async () => {
  const store = memorySignIns();
  const [one, two] = [clockwork(store), clockwork(store)];
  const first = await held(one.sessions);
  assert.equal(await two.token(), 'token-1');
  one.sessions.worked(first);
  two.sessions.worked(first);
  one.answers(() => ({ kind: 'session', token: 'fresh', expiresAt: null, refreshToken: null }));
  assert.equal(tokenOf(await one.sessions.renew(first)), 'fresh');
  assert.equal(tokenOf(await two.sessions.renew(first)), 'fresh');
  assert.deepEqual(two.asked, []);
});

test('sessions that the API never takes are asked for ever more seldom', async () => {
  const { sessions, asked, pass } = clockwork();
  for (const [minutes, tries] of [
    [0.9, 1],
    [0.2, 2],
    [1.5, 2],
    [0.6, 3],
  ] as const) {
    const session = await held(sessions);
    pass(minutes * MINUTE);
    await sessions.renew(session);
    assert.equal(asked.length, tries, `after ${minutes} more minutes`);
  }
});
