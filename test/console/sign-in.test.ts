import assert from 'node:assert/strict';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, before, describe, it } from 'node:test';
import { openApprovers } from '../../commands/approvers.ts';
import { createSessions, SESSION_LASTS_MS } from '../../console/session.ts';
import { createWrongSecrets } from '../../console/wrong-secrets.ts';
import { type Operating, operate } from './operating.ts';

describe('signing in to the console', () => {
  let operating: Operating;
  let ann: string;
  before(async () => {
    operating = await operate();
    ann = operating.approvers.add('Ann');
  });
  after(() => operating.close());

  const signIn = (
    secret: string,
    { to = '/', headers = {} }: { to?: string; headers?: Record<string, string> } = {},
    url = operating.url,
  ) =>
    fetch(`${url}/sign-in`, {
      method: 'POST',
      body: new URLSearchParams({ secret, to }),
      headers,
      redirect: 'manual',
    });
  const get = (path: string, cookie = '', url = operating.url) =>
    fetch(`${url}${path}`, { headers: { cookie }, redirect: 'manual' });

  it('opens a session that scripts and other sites cannot use, for a bounded time', async () => {
    const response = await signIn(ann);
    const cookie = response.headers.get('set-cookie') ?? '';
    assert.equal(response.status, 303);
    for (const attribute of [/; HttpOnly/i, /; SameSite=Strict/i, /; Path=\//i, /; Max-Age=43200/i])
      assert.match(cookie, attribute);
    assert.ok(!cookie.includes(ann.replaceAll('-', '')) && !cookie.includes(ann));
    assert.match(await (await get('/', cookie.split(';')[0])).text(), /Ann/);
  });

  it('marks the cookie for TLS alone where a proxy, or the address of the console, says that there is TLS', async () => {
    const throughProxy = { headers: { 'x-forwarded-proto': 'https' } };
    const published = await operating.serve({ consoleUrl: 'https://readback.example.com/' });
    const answers = [await signIn(ann, throughProxy), await signIn(ann, {}, published), await signIn(ann)];
    const isSecure = answers.map(({ headers }) => /; Secure/i.test(headers.get('set-cookie') ?? ''));
    assert.deepEqual(isSecure, [true, true, false]);
  });

  it('shows nothing without a session, and comes back to where one was going', async () => {
    for (const path of ['/', '/commands', '/commands/some-id', '/?sort=risk']) {
      const response = await get(path);
      assert.equal(response.status, 303, path);
      assert.equal(response.headers.get('location'), `/sign-in?to=${encodeURIComponent(path)}`);
    }
    assert.equal((await get('/events')).status, 401);
    assert.equal((await signIn(ann, { to: '/commands' })).headers.get('location'), '/commands');
  });

  it('never leads to another site', async () => {
    for (const to of [
      'https://evil.example/',
      '//evil.example',
      '/\\evil.example',
      '/.//evil.example',
      'javascript:alert(1)',
    ]) {
      const location = (await signIn(ann, { to })).headers.get('location') ?? '';
      assert.equal(new URL(location, operating.url).origin, operating.url, to);
    }
  });

  it('refuses a sign-in that another page has sent, so that nobody signs others in as themselves', async () => {
    for (const headers of [
      { origin: 'http://127.0.0.1:9' },
      { 'sec-fetch-site': 'same-site' },
      { 'sec-fetch-site': 'cross-site' },
    ] as Record<string, string>[])
      assert.equal((await signIn(ann, { headers })).status, 403, JSON.stringify(headers));
  });

  it('makes an address wait after ten wrong secrets, and says for how long', async () => {
    const url = await operating.serve();
    for (let tries = 0; tries < 10; tries += 1) assert.equal((await signIn('wrong', {}, url)).status, 401);
    const response = await signIn('wrong', {}, url);
    assert.equal(response.status, 429);
    assert.ok(Number(response.headers.get('retry-after')) > 0);
    assert.equal(response.headers.get('set-cookie'), null);
    const api = (secret: string) =>
      fetch(`${url}/api/pending`, { headers: { authorization: `Bearer ${secret}` } });
    assert.equal((await api('wrong')).status, 429);
    // Behind a proxy, others have the same address.
    const right = await signIn(ann, {}, url);
    assert.equal(right.status, 303);
    assert.match(right.headers.get('set-cookie') ?? '', /HttpOnly/);
    assert.equal((await api(ann)).status, 200);
    assert.equal((await signIn('wrong', {}, url)).status, 429, 'which forgives nothing');
  });

  it('knows sessions of other servers, and none of a removed approver', async () => {
    const { cookie } = await operating.signIn(operating.approvers.add('Bob'));
    const other = await operating.serve();
    assert.equal((await get('/', cookie, other)).status, 200);
    operating.approvers.remove('Bob');
    assert.equal((await get('/', cookie, other)).status, 303);
    operating.approvers.add('Bob');
    assert.equal((await get('/', cookie, other)).status, 303, 'a new Bob is another person');
  });

  it('takes no forged session: changed, signed with another key, over, or junk', async () => {
    const { cookie } = await operating.signIn(ann);
    const [name = '', token = ''] = cookie.split('=');
    const [payload = '', seal = ''] = token.split('.');
    const content = JSON.parse(Buffer.from(payload, 'base64url').toString());
    const changed = (change: object) =>
      Buffer.from(JSON.stringify({ ...content, ...change })).toString('base64url');
    const annHerself = operating.approvers.list()[0];
    assert.ok(annHerself);
    const now = Date.now();
    const ours = createSessions(operating.harness.sealKey);
    const forged = [
      `${changed({ name: 'Bob' })}.${seal}`,
      `${changed({ endsAt: now * 2 })}.${seal}`,
      `${payload}.${seal.slice(0, -1)}${seal.endsWith('A') ? 'B' : 'A'}`,
      payload,
      `${payload}.`,
      '.',
      'x'.repeat(5000),
      Buffer.from('null').toString('base64url'),
      createSessions(new Uint8Array(32)).open(annHerself, now),
      ours.open(annHerself, now - SESSION_LASTS_MS),
      ours.open({ ...annHerself, name: 'Mallory' }, now),
    ];
    for (const one of forged) assert.equal((await get('/', `${name}=${one}`)).status, 303, one.slice(0, 60));
    assert.equal((await get('/', cookie)).status, 200);
  });

  it('signs out', async () => {
    const browser = await operating.signIn(ann);
    assert.equal((await browser.post('/sign-out', [['csrf', 'wrong']])).status, 403);
    const { status, headers } = await browser.post('/sign-out', [['csrf', browser.csrf]]);
    assert.equal(status, 303);
    assert.match(headers.get('set-cookie') ?? '', /Max-Age=0/);
  });

  it('protects every page against frames, foreign scripts and caches', async () => {
    const browser = await operating.signIn(ann);
    for (const path of ['/', '/commands', '/sign-in', '/commands/none', '/nothing-here']) {
      const { headers, text } = await browser.get(path);
      const policy = headers.get('content-security-policy') ?? '';
      for (const part of [
        "default-src 'none'",
        "script-src 'self'",
        "frame-ancestors 'none'",
        "form-action 'self'",
      ])
        assert.ok(policy.includes(part), `${path}: ${policy}`);
      assert.doesNotMatch(policy, /unsafe/);
      assert.equal(headers.get('cache-control'), 'no-store', path);
      assert.equal(headers.get('x-content-type-options'), 'nosniff');
      assert.doesNotMatch(text, /<script(?! src="\/console\.js)|<style|\son\w+=|style="/i, path);
      assert.ok(!text.includes(browser.cookie.split('=')[1] ?? '?'), 'no session in a page');
    }
  });

  it('answers only to its own name', async () => {
    const response = await fetch(operating.url, { headers: { origin: 'https://evil.example' } });
    assert.equal(response.status, 403);
  });

  it('where there are no approvers, shows this machine everything and decides nothing; others see nothing', async () => {
    const folder = mkdtempSync(join(tmpdir(), 'readback-none-'));
    const nobody = openApprovers(join(folder, 'approvers.json'));
    const id = await operating.ask('boiler-0');
    const here = await operating.serve({ approvers: nobody });
    const page = await (await get('/', '', here)).text();
    assert.match(page, /approvers add/);
    assert.match(page, /Boiler 0/);
    assert.doesNotMatch(page, /action="\/decide"/);
    assert.equal((await get(`/commands/${id}`, '', here)).status, 200);
    const decided = await fetch(`${here}/decide`, {
      method: 'POST',
      body: new URLSearchParams({ id, decision: 'approve' }),
    });
    assert.equal(decided.status, 403);
    assert.equal((await fetch(`${here}/api/pending`)).status, 401);

    const beyond = await operating.serve({ approvers: nobody, loopback: false });
    const outside = await (await get('/', '', beyond)).text();
    assert.match(outside, /approvers add/);
    assert.doesNotMatch(outside, /Boiler/);
    assert.equal((await get('/events', '', beyond)).status, 401);

    writeFileSync(nobody.file, 'damaged');
    assert.equal((await get('/', '', here)).status, 500, 'a damaged file lets nobody look');
    rmSync(folder, { recursive: true });
    await operating.harness.commands.cancel(id, { kind: 'operator' });
  });
});

describe('wrong secrets', () => {
  it('are forgiven after a minute, counted by address, and remembered for ten thousand addresses', () => {
    const wrong = createWrongSecrets();
    for (let tries = 0; tries < 10; tries += 1) wrong.count('a', 1000 + tries);
    assert.equal(wrong.waitMs('a', 2000), 59_000);
    assert.equal(wrong.waitMs('b', 2000), 0);
    assert.equal(wrong.waitMs('a', 61_000), 0);
    for (let index = 0; index < 10_000; index += 1) wrong.count(`address ${index}`, 2000);
    assert.equal(wrong.waitMs('a', 2000), 0);
  });
});
