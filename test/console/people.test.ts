import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import { openApprovers } from '../../commands/approvers.ts';
import { type CookieBrowser, cookieBrowser, type Page } from '../oauth/browser.ts';
import { type AtIssuer, csrfIn, operateAtIssuer } from './at-issuer.ts';

describe('people who are signed in at an issuer', () => {
  let console: AtIssuer;
  let url: string;
  before(async () => {
    console = await operateAtIssuer();
    url = console.url;
  });
  after(() => console.close());

  const decide = (browser: CookieBrowser, page: Page, id: string) =>
    browser.post(page, '/decide', { csrf: csrfIn(page), id, decision: 'approve', comment: '' });
  const viewOf = async (id: string) =>
    (await console.operating.harness.commands.get(id, { kind: 'operator' }))?.view;
  const cancel = (id: string) => console.operating.harness.commands.cancel(id, { kind: 'operator' });

  it('shows who is no approver what their own commands ask them, and nothing else', async () => {
    const [own, others, ownOfOperator] = await Promise.all([
      console.operating.ask('lamp', { subject: console.idOf('ben') }),
      console.operating.ask('boiler-1', { subject: console.idOf('anna') }),
      console.operating.ask('boiler-2', { subject: console.idOf('ben') }),
    ]);
    const plainOwn = await console.operating.harness.submit(
      'lamp',
      { brightness: 20 },
      { caller: { subject: console.idOf('ben'), client: null, transport: 'http', unattended: false } },
    );
    const { browser, page } = await console.signedIn('ben', { claims: { name: 'Ben' } });
    assert.match(page.text, new RegExp(`data-id="${own}"`));
    for (const id of [others, ownOfOperator]) assert.ok(!page.text.includes(id));
    assert.doesNotMatch(page.text, /href="\/commands"/);
    assert.match(page.text, new RegExp(console.idOf('ben')));

    const unknown = await browser.ask(`${url}/commands/${'0'.repeat(32)}`);
    assert.equal(unknown.status, 404);
    for (const id of [others, ownOfOperator, plainOwn]) {
      const { status, text } = await browser.ask(`${url}/commands/${id}`);
      assert.deepEqual([status, text], [404, unknown.text], 'as for an id that nobody has');
      assert.equal((await browser.ask(`${url}/events?command=${id}`)).status, 404);
      const decided = await decide(browser, page, id);
      assert.match(decided.text, /there is no such command/);
      assert.doesNotMatch(decided.text, /Boiler/);
    }
    assert.equal((await browser.ask(`${url}/events`)).status, 404);
    assert.equal((await browser.ask(`${url}/commands`)).headers.get('location'), '/');
    assert.equal((await browser.ask(`${url}/api/pending`)).status, 403);
    for (const id of [others, ownOfOperator]) {
      assert.equal((await viewOf(id))?.phase, 'waiting_for_approval');
      await cancel(id);
    }

    const asked = await browser.ask(`${url}/commands/${own}`);
    assert.match(
      asked.text,
      /id="consequences">Approve, and Readback sends brightness 95 % to lamp at once\. Decline, and nothing is sent\./,
    );
    assert.doesNotMatch(asked.text, /8233/, 'Temporal is none of theirs');
    const decided = await decide(browser, asked, own);
    assert.match(decided.text, /approved/);
    const ended = await console.operating.harness.ended(own);
    assert.equal(ended.view.result?.outcome, 'verified');
    const { by, subject, via, authenticated } = ended.view.decidedBy ?? {};
    assert.deepEqual(
      [by, subject, via, authenticated],
      [console.idOf('ben'), console.idOf('ben'), 'console', true],
    );
    assert.match((await browser.ask(`${url}/commands/${own}`)).text, /Ended/);
  });

  it('lets decide whom the issuer grants the scope, and records who that is to the issuer', async () => {
    const id = await console.operating.ask('boiler-3', { subject: console.idOf('ben') });
    const { browser, page } = await console.signedIn('cleo', { claims: { name: 'Cleo', mayDecide: true } });
    assert.match(page.text, /href="\/commands"/);
    await decide(browser, page, id);
    const { decidedBy } = (await console.operating.harness.ended(id)).view;
    assert.deepEqual([decidedBy?.by, decidedBy?.subject], [console.idOf('cleo'), console.idOf('cleo')]);
  });

  it('never lets anybody decide what they asked for, by whichever of their ways in', async () => {
    const secret = console.operating.approvers.add('Dora', console.idOf('dora'));
    const id = await console.operating.ask('boiler-4', { subject: console.idOf('dora') });
    const { browser, page } = await console.signedIn('dora');
    assert.match(page.text, /class="name">Dora</, 'as the list of approvers calls her');
    assert.match((await browser.ask(`${url}/commands/${id}`)).text, /You asked for this yourself/);
    assert.match((await decide(browser, page, id)).text, /somebody else has to decide/);
    const bySecret = await console.operating.signIn(secret);
    assert.match((await bySecret.decide([id], 'approve')).text, /somebody else has to decide/);
    const granted = await console.signedIn('dora', { claims: { mayDecide: true } });
    assert.match((await decide(granted.browser, granted.page, id)).text, /somebody else has to decide/);
    assert.equal((await viewOf(id))?.phase, 'waiting_for_approval');
    await cancel(id);

    const others = await console.operating.ask('boiler-5', { subject: console.idOf('ben') });
    await decide(browser, page, others);
    const { decidedBy } = (await console.operating.harness.ended(others)).view;
    assert.deepEqual([decidedBy?.by, decidedBy?.subject], ['Dora', console.idOf('dora')]);
    assert.throws(
      () => console.operating.approvers.add('Dorothea', console.idOf('dora')),
      /is the approver "Dora" already/,
    );
    console.operating.approvers.remove('Dora');
    const after = await browser.ask(url);
    assert.match(after.text, /nothing else/, 'signed in still, and no approver any more');
    assert.equal((await decide(browser, after, others)).status, 200);
  });

  it('keeps one person from taking all streams of changes from the others', async () => {
    const id = await console.operating.ask('lamp', { subject: console.idOf('ben') });
    const [ben, cleo] = [
      (await console.signedIn('ben')).browser,
      (await console.signedIn('cleo', { claims: { mayDecide: true } })).browser,
    ];
    const stop = new AbortController();
    const follow = async (browser: CookieBrowser) => {
      const headers = { cookie: browser.cookiesFor(url).join('; ') };
      return (await fetch(`${url}/events?command=${id}`, { headers, signal: stop.signal })).status;
    };
    const statuses = await Promise.all(Array.from({ length: 60 }, () => follow(ben)));
    assert.equal(statuses.filter((status) => status === 503).length, 10);
    assert.equal(await follow(cleo), 200);
    stop.abort();
    await cancel(id);
  });

  it('refuses forms without the token of the session, or from elsewhere', async () => {
    const id = await console.operating.ask('lamp', { subject: console.idOf('ben') });
    const { browser, page } = await console.signedIn('ben');
    assert.equal(
      (await browser.post(page, '/decide', { csrf: 'wrong', id, decision: 'approve' })).status,
      403,
    );
    const body = new URLSearchParams({ csrf: csrfIn(page), id, decision: 'approve' });
    const headers = { origin: 'http://127.0.0.1:9', 'sec-fetch-site': 'same-site' };
    assert.equal((await browser.ask(`${url}/decide`, { method: 'POST', body, headers })).status, 403);
    assert.equal((await browser.post(page, '/sign-out', { csrf: 'wrong' })).status, 403);
    assert.equal((await viewOf(id))?.phase, 'waiting_for_approval');
    await cancel(id);
  });

  it('shows nothing to anybody who is not signed in, on this machine neither, also without any approver', async () => {
    const nobody = openApprovers(`${console.operating.approvers.file}.none`);
    const id = await console.operating.ask('boiler-6');
    const here = await console.serving(console.connected(), { approvers: nobody });
    for (const path of ['/', '/commands', `/commands/${id}`]) {
      const { status, headers } = await cookieBrowser().ask(`${here}${path}`);
      assert.deepEqual([status, headers.get('location')], [303, `/sign-in?to=${encodeURIComponent(path)}`]);
    }
    assert.equal((await cookieBrowser().ask(`${here}/events`)).status, 401);
    await cancel(id);
  });
});
