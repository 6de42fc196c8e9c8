import assert from 'node:assert/strict';
import { test } from 'node:test';
import { answerTo, challengeIn } from '../../../activities/sign-in/digest.ts';
import { serveHttp } from '../loopback-server.ts';
import { openAll } from '../opened.ts';
import { startGate } from './account.ts';

const MUFASA = { username: 'Mufasa', password: 'Circle of Life' };
const REQUEST = { method: 'GET', path: '/dir/index.html' };

test('answers as in the examples of RFC 7616 and RFC 2069', () => {
  const header =
    'Digest realm="http-auth@example.org", qop="auth, auth-int", algorithm=SHA-256, nonce="7ypf/xlj9XXwfDPEoM4URrv/xwf94BcCAzFZH4GiTo0v", opaque="FQhe/qaU925kfnzjCev0ciny7QMkPqMAFRtzCUYo5tdS", ' +
    'Digest realm="http-auth@example.org", qop="auth, auth-int", algorithm=MD5, nonce="7ypf/xlj9XXwfDPEoM4URrv/xwf94BcCAzFZH4GiTo0v", opaque="FQhe/qaU925kfnzjCev0ciny7QMkPqMAFRtzCUYo5tdS"';
  const cnonce = 'f2/wE4q74E6zIJEtWaHKaf5wv/H5QzzpXusqGemxURZJ';
  const strongest = challengeIn(header);
  assert.equal(strongest?.algorithm, 'SHA-256');
  assert.match(
    answerTo(strongest, MUFASA, REQUEST, 1, cnonce),
    /response="753927fa0e85d155564e2e272a28d1802ca10daf4496794697cf8db5856cb6c1".*qop=auth, nc=00000001/,
  );
  assert.match(
    answerTo({ ...strongest, algorithm: 'MD5' }, MUFASA, REQUEST, 1, cnonce),
    /response="8ca523f5e9506fed4657c9700eebdbec"/,
  );
  const old = challengeIn('Digest realm="testrealm@host.com", nonce="dcd98b7102dd2f0e8b11d0f600bfb0c093"');
  assert.ok(old);
  const answer = answerTo(old, MUFASA, REQUEST, 1);
  // MD5(MD5(A1):nonce:MD5(A2)), worked out by hand with md5sum.
  assert.match(answer, /response="2951cdbad33b2271fcb6b8e7b8feac23"/);
  assert.doesNotMatch(answer, /qop|nc=|cnonce/);
});

test('finds its challenge among others, and none where it can answer none', () => {
  const mixed =
    'Basic realm="a, Digest realm=\\"no\\"", Bearer, Digest realm="b\\"c", nonce="n=,1", stale=TRUE, qop=auth, Negotiate';
  assert.deepEqual(challengeIn(mixed), {
    realm: 'b"c',
    nonce: 'n=,1',
    opaque: null,
    algorithm: 'MD5',
    hasQop: true,
    stale: true,
  });
  for (const header of [
    undefined,
    '',
    'Basic realm="a"',
    'Digest realm="a"',
    'Digest realm="a", nonce="b", algorithm=SHA-512-256',
    'Digest realm="a", nonce="b", qop="auth-int"',
  ])
    assert.equal(challengeIn(header), null, header);
});

for (const algorithm of ['MD5', 'SHA-256']) {
  test(`signs in by ${algorithm}, asked once, and counts on until its nonce is stale`, async (t) => {
    const gate = await startGate(t, {
      account: { digest: { username: 'admin', password: 'swordfish-1', algorithm, nonceUses: 3 } },
      auth: 'digest: { username: admin, password: "${P}" }',
      environment: { P: 'swordfish-1' },
    });
    const worker = await gate.worker();
    assert.equal((await worker.send('on')).class, 'accepted');
    assert.deepEqual(await gate.counts(), { sends: 1, turnedAway: 1, granted: 0, refused: 0 });
    assert.equal((await worker.read()).sample.trouble, null);
    assert.equal((await worker.send('off')).class, 'accepted');
    assert.deepEqual(await gate.counts(), { sends: 2, turnedAway: 1, granted: 0, refused: 0 });
    // The fourth use: stale, so it is asked again, and done once.
    assert.equal((await worker.send('on')).class, 'accepted');
    assert.deepEqual(await gate.counts(), { sends: 3, turnedAway: 2, granted: 0, refused: 0 });
  });
}

test('several at once each get through, each once', async (t) => {
  const gate = await startGate(t, {
    account: { digest: { username: 'admin', password: 'swordfish-1' } },
    auth: 'digest: { username: admin, password: "${P}" }',
    environment: { P: 'swordfish-1' },
  });
  const worker = await gate.worker();
  await worker.read();
  const results = await Promise.all(Array.from({ length: 5 }, () => worker.send('on')));
  assert.deepEqual(new Set(results.map((result) => result.class)), new Set(['accepted']));
  assert.equal((await gate.counts()).sends, 5);
});

test('a wrong password is tried once, and ends with what to do', async (t) => {
  const gate = await startGate(t, {
    account: { digest: { username: 'admin', password: 'swordfish-1' } },
    auth: 'digest: { username: admin, password: "${P}" }',
    environment: { P: 'wrong-password' },
  });
  const worker = await gate.worker();
  const results = [await worker.send('on'), await worker.send('on'), await worker.send('off')];
  assert.deepEqual(
    results.map((result) => result.class),
    ['signedOut', 'signedOut', 'signedOut'],
  );
  assert.match(
    results[0]?.detail ?? '',
    /^HTTP 401; connection "cloud" is signed out: its username or password is wrong; mend it\. It is tried again at/,
  );
  assert.deepEqual(await gate.counts(), { sends: 0, turnedAway: 2, granted: 0, refused: 1 });
});

test('an API that wants to be signed in to otherwise is named', async (t) => {
  const server = await serveHttp(t, (_request, response) =>
    response.writeHead(401, { 'www-authenticate': 'Basic realm="cam"' }).end(),
  );
  const open = await openAll(
    `
version: 1
connections: { cam: { kind: http, baseUrl: "${server.baseUrl}", auth: { digest: { username: admin, password: "\${P}" } } } }
devices: { light: { connection: cam, send: PUT /light, read: GET /light, fields: { power: onoff } } }
`,
    { P: 'swordfish-1' },
  );
  const result = await open('light').send({ power: 'on' });
  assert.equal(result.class, 'signedOut');
  assert.match(result.detail, /the API asks for Basic, and for no digest that can be answered/);
});
