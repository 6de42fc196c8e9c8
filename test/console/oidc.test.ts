import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import { openIssuer } from '../../identity/issuer.ts';
import { openIdConnect } from '../../identity/openid-connect.ts';
import { APPLICATION, HOST } from '../oauth/authorization-server.ts';
import { type CookieBrowser, cookieBrowser } from '../oauth/browser.ts';
import { type AtIssuer, CALLBACK, csrfIn, operateAtIssuer } from './at-issuer.ts';

describe('signing in to the console at an issuer', () => {
  let console: AtIssuer;
  let url: string;
  before(async () => {
    console = await operateAtIssuer();
    url = console.url;
  });
  after(() => console.close());

  /** Up to where the issuer sends the browser back, which is not opened yet. */
  async function sentBack(browser: CookieBrowser, subject = 'anna'): Promise<URL> {
    console.server.signInAs(subject);
    const { url: back } = await browser.open(
      `${url}/sign-in/issuer`,
      ({ pathname }) => pathname === CALLBACK,
    );
    return back;
  }

  it('offers it beside the secret, and shows who is in afterwards', async () => {
    const browser = cookieBrowser();
    const form = await browser.open(`${url}/commands?x=1`);
    assert.match(form.text, /href="\/sign-in\/issuer\?to=%2Fcommands%3Fx%3D1"/);
    assert.doesNotMatch(form.text, /name="secret"/, 'nobody has one');
    console.operating.approvers.add('Zoe');
    assert.match((await browser.open(`${url}/sign-in`)).text, /name="secret"/);
    const { page } = await console.signedIn('anna', { claims: { name: 'Anna <b>Berg</b>' } });
    assert.match(page.text, /class="name">Anna &lt;b&gt;Berg&lt;\/b&gt;</);
    console.operating.approvers.remove('Zoe');
  });

  it('asks with PKCE, state and nonce, new each time, and says nothing of them to scripts or logs', async () => {
    const asked = await Promise.all(
      [1, 2].map(async () => await cookieBrowser().ask(`${url}/sign-in/issuer`)),
    );
    const [first, second] = asked.map(({ headers }) => new URL(headers.get('location') ?? ''));
    assert.ok(first && second);
    const { searchParams } = first;
    assert.equal(searchParams.get('response_type'), 'code');
    assert.equal(searchParams.get('code_challenge_method'), 'S256');
    assert.equal(searchParams.get('redirect_uri'), `${url}${CALLBACK}`);
    assert.equal(searchParams.get('scope'), 'openid profile approvals:decide');
    for (const name of ['state', 'nonce', 'code_challenge']) {
      assert.ok((searchParams.get(name) ?? '').length >= 43, name);
      assert.notEqual(searchParams.get(name), second.searchParams.get(name), name);
    }
    const cookie = asked[0]?.headers.get('set-cookie') ?? '';
    for (const attribute of [/; HttpOnly/i, /; SameSite=Lax/i, /; Path=\/sign-in/i, /; Max-Age=600/i])
      assert.match(cookie, attribute);
    for (const name of ['state', 'nonce']) {
      const word = searchParams.get(name) ?? '';
      assert.ok(!cookie.split('=').slice(1).join('=').includes(word), `${name} is sealed`);
    }
  });

  it('keeps the session in a cookie that no script reads, for TLS alone where there is TLS', async () => {
    for (const [headers, isSecure] of [
      [{}, false],
      [{ 'x-forwarded-proto': 'https' }, true],
    ] as const) {
      const browser = cookieBrowser();
      const { headers: answered, status } = await browser.ask(await sentBack(browser), { headers });
      assert.equal(status, 303);
      const sets = answered.getSetCookie().filter((set) => !/Max-Age=0/i.test(set));
      assert.equal(sets.length, 2, 'session, and the hint for signing out');
      for (const set of sets) {
        assert.match(set, /; HttpOnly/i);
        assert.match(set, /; SameSite=Lax/i);
        assert.match(set, /; Max-Age=43200/i);
        assert.equal(/; Secure/i.test(set), isSecure);
      }
      const [session = ''] = sets.filter((set) => /; Path=\/;|; Path=\/$/.test(set));
      const content = Buffer.from(session.split('=')[1]?.split('.')[0] ?? '', 'base64url').toString();
      assert.deepEqual(Object.keys(JSON.parse(content)).sort(), [
        'endsAt',
        'mayDecide',
        'nonce',
        'seenAt',
        'shownAs',
        'subject',
      ]);
    }
  });

  it('comes back to where one was going, and never leads to another site', async () => {
    assert.equal((await console.signedIn('anna', { to: '/?sort=risk' })).page.url.search, '?sort=risk');
    for (const to of [
      'https://evil.example/',
      '//evil.example',
      '/\\evil.example',
      '/.//evil.example',
      'javascript:alert(1)',
    ])
      assert.equal((await console.signedIn('anna', { to })).page.url.origin, url, to);
  });

  it('finishes on any server what another one began, and knows the session on both', async () => {
    const other = await console.operating.serve({
      signIn: console.connected(),
      consoleUrl: url,
    });
    const browser = cookieBrowser();
    const back = await sentBack(browser);
    const elsewhere = await browser.ask(`${other}${back.pathname}${back.search}`);
    assert.equal(elsewhere.status, 303);
    for (const at of [url, other]) assert.equal((await browser.ask(at)).status, 200);
  });

  it('begins where the issuer sends people back to, since cookies belong to a host name', async () => {
    const { port } = new URL(url);
    const browser = cookieBrowser();
    console.server.signInAs('anna');
    const page = await browser.open(`http://localhost:${port}/sign-in/issuer?to=%2F%3Fsort%3Drisk`);
    assert.equal(page.url.href, `${url}/?sort=risk`);
    assert.match(page.text, /class="name"/);
  });

  it('signs in once for each begun sign-in: not again, not in another browser, not with a changed answer', async () => {
    const browser = cookieBrowser();
    const back = await sentBack(browser);
    const changed = (name: string, value: string): URL => {
      const copy = new URL(back);
      copy.searchParams.set(name, value);
      return copy;
    };
    const refused = async (by: CookieBrowser, answer: URL, why: RegExp) => {
      const { status, text, headers } = await by.ask(answer);
      assert.equal(status, 403);
      assert.match(text, why);
      assert.doesNotMatch(text, new RegExp(back.searchParams.get('code') ?? '?'));
      assert.ok(!headers.getSetCookie().some((set) => /; Path=\/(;|$)/.test(set)), 'no session');
    };
    await refused(cookieBrowser(), back, /not begun in this browser/);
    await refused(browser.copy(), changed('state', 'x'), /not begun in this browser/);
    await refused(browser.copy(), changed('iss', 'https://other.example'), /no valid sign-in/);
    const withoutIssuer = new URL(back);
    withoutIssuer.searchParams.delete('iss');
    await refused(browser.copy(), withoutIssuer, /no valid sign-in/);
    const stateOfAnother = await sentBack(browser);
    await refused(browser.copy(), changed('state', stateOfAnother.searchParams.get('state') ?? ''), /./);
    const kept = browser.copy();
    assert.equal((await browser.ask(stateOfAnother)).status, 303);
    await refused(browser, stateOfAnother, /not begun in this browser/);
    await refused(kept, stateOfAnother, /used already/);
  });

  it('says what the issuer says when it signs nobody in', async () => {
    const browser = cookieBrowser();
    const back = await sentBack(browser);
    back.searchParams.delete('code');
    back.searchParams.set('error', 'access_denied');
    back.searchParams.set('error_description', 'not <b>you</b>');
    const { status, text } = await browser.ask(back);
    assert.equal(status, 403);
    assert.match(text, /access_denied.*not &lt;b&gt;you/);
  });

  it('works for a public client, and tells of a secret that the issuer does not take', async () => {
    const public_ = await console.serving(console.connected(null, HOST.clientId));
    assert.match((await console.signedIn('anna', { at: public_ })).page.text, /class="name"/);
    const wrong = await console.serving(console.connected('wrong'));
    const { page } = await console.signedIn('anna', { at: wrong });
    assert.equal(page.status, 403);
    assert.match(page.text, /--console-client-id/);
    assert.doesNotMatch(page.text, /wrong/);
  });

  it('knows people by the claim that names them in every application, and nobody who has none', async () => {
    const issuer = openIssuer(console.server.issuer, { subjectClaim: 'name' });
    const at = await console.serving(openIdConnect({ issuer, ...APPLICATION }));
    const { page } = await console.signedIn('word-for-this-application', { claims: { name: '0b6c' }, at });
    assert.ok(page.text.includes(console.idOf('0b6c')));
    const { page: unnamed } = await console.signedIn('word-for-this-application', { at });
    assert.equal(unnamed.status, 403);
    assert.match(unnamed.text, /word for you \(name\) is missing/);
  });

  it('says so while the issuer is away, goes on when it is back, and knows its new keys', async () => {
    const fresh = await console.serving(console.connected());
    console.server.setAnswering(false);
    const away = await cookieBrowser().open(`${fresh}/sign-in/issuer`);
    assert.equal(away.status, 503);
    assert.match(away.text, /503|can&#39;t be reached/);
    console.server.setAnswering(true);
    assert.match((await console.signedIn('anna', { at: fresh })).page.text, /class="name"/);
    await console.server.rotateKeys();
    assert.match((await console.signedIn('anna', { at: fresh })).page.text, /class="name"/);
  });

  it('signs out here and at the issuer', async () => {
    const { browser, page } = await console.signedIn('ben');
    const out = await browser.post(page, '/sign-out', { csrf: csrfIn(page) });
    const goesOnAt =
      /http-equiv="refresh" content="0; url=([^"]+)"/.exec(out.text)?.[1]?.replaceAll('&amp;', '&') ?? '';
    assert.equal(new URL(goesOnAt).origin, console.server.issuer);
    assert.ok(new URL(goesOnAt).searchParams.has('id_token_hint'));
    assert.match((await browser.open(url)).text, /href="\/sign-in\/issuer/);
    const question = await browser.open(goesOnAt);
    const xsrf = /name="xsrf" value="([^"]+)"/.exec(question.text)?.[1] ?? '';
    const back = await browser.post(question, /action="([^"]+)"/.exec(question.text)?.[1] ?? '', {
      xsrf,
      logout: 'yes',
    });
    assert.equal(back.url.href, `${url}/sign-in`);
    console.server.signInAs('anna', { name: 'Anna' });
    assert.match(
      (await browser.open(`${url}/sign-in/issuer`)).text,
      /class="name">Anna</,
      'the issuer asked again who it is',
    );
  });
});
