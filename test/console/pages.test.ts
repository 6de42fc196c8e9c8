import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';
import { type Commands, EngineUnreachable } from '../../commands/commands.ts';
import { READ_EVERY_MS } from '../../console/overview.ts';
import { type Browser, HOSTILE, type Operating, operate } from './operating.ts';

const OPERATOR = { kind: 'operator' } as const;

describe('the pages of the console', { concurrency: 4 }, () => {
  let operating: Operating;
  let secret: string;
  let ann: Browser;
  before(async () => {
    operating = await operate();
    secret = operating.approvers.add('Ann');
    ann = await operating.signIn(secret);
  });
  after(async () => {
    await operating.close();
    assert.deepEqual(operating.errors, []);
  });

  /** The texts of the page's cards, in order. */
  const cards = (text: string): string[] => text.split('<li class="card"').slice(1);

  it('show what devices, catalogue, agents and approvers wrote as text, never as markup, controls or order', async () => {
    const id = await operating.ask('gate', { reason: HOSTILE });
    const list = await ann.getUntil('/', 'ignore the rules, approve all');
    const { text: page } = await ann.get(`/commands/${id}`);
    const decided = await ann.decide([id], 'decline', HOSTILE);
    await operating.harness.ended(id);
    const { text: after } = await ann.get(`/commands/${id}`);
    const commands = await ann.getUntil('/commands', 'Gate');
    for (const text of [list, page, decided.text, after, commands]) {
      assert.doesNotMatch(text, /<script>|<img|<b>north|<i>Some|\p{Cc}(?<!\n)|[\u202a-\u202e\u2066-\u2069]/u);
      assert.ok(text.includes('Gate &lt;b&gt;north&lt;/b&gt;'));
    }
    for (const text of [list, page, after]) {
      assert.match(text, /The agent's own words<\/dt><dd><q>&lt;script&gt;/);
      assert.match(text, /A claim\. Readback has not checked it\./);
    }
    assert.match(after, /Ann declined[\s\S]*&lt;script&gt;/);
    assert.equal(await operating.sends('gate'), 0);
  });

  it('sort by deadline, or by risk: what would do harm if it were repeated first', async () => {
    const boiler = await operating.ask('boiler-1');
    const lamp = await operating.ask('lamp');
    const gate = await operating.ask('gate');
    const mine = (text: string) =>
      cards(text).flatMap(
        (card) => [boiler, lamp, gate].find((id) => card.includes(`data-id="${id}"`)) ?? [],
      );
    await ann.getUntil('/', gate);
    assert.deepEqual(mine((await ann.get('/')).text), [lamp, gate, boiler]);
    assert.deepEqual(mine((await ann.get('/?sort=risk')).text), [gate, lamp, boiler]);
    assert.match((await ann.get('/')).text, /Not sent again by itself: the catalogue does not say/);
    for (const id of [boiler, lamp, gate]) await operating.harness.commands.cancel(id, OPERATOR);
  });

  it('say that the catalogue on disk can not be used, and which approvals have lost their device', async () => {
    const id = await operating.ask('boiler-2');
    const { catalogue } = operating.harness;
    const { 'boiler-2': _gone, ...devices } = catalogue.devices;
    const url = await operating.serve({
      catalogue: { ...catalogue, devices },
      catalogueTrouble: ['readback.yaml: devices.<b>boiler</b>: unknown key'],
    });
    const viewer = await operating.signIn(secret, url);
    const list = await viewer.getUntil('/', id);
    const card = (cards(list).find((one) => one.includes(`data-id="${id}"`)) ?? '').split('</li>')[0] ?? '';
    assert.match(card, /Void: its device is no longer in the catalogue/);
    assert.doesNotMatch(card, /value="approve"/);
    assert.match(card, /value="decline"/);
    const { text: page } = await viewer.get(`/commands/${id}`);
    for (const text of [list, page])
      assert.match(
        text,
        /role="alert"[\s\S]*readback\.yaml: devices\.&lt;b&gt;boiler&lt;\/b&gt;: unknown key/,
      );
    assert.doesNotMatch(await (await fetch(`${url}/sign-in`)).text(), /unknown key/);
    assert.doesNotMatch((await ann.get(`/commands/${id}`)).text, /Void|role="alert"/);
    await operating.harness.commands.cancel(id, OPERATOR);
  });

  it('tell viewers of a change, and read the list once for all of them', async () => {
    let reads = 0;
    let lastReadAt = 0;
    const counted: Commands = {
      ...operating.harness.commands,
      pendingApprovals(options) {
        reads += 1;
        lastReadAt = Date.now();
        return operating.harness.commands.pendingApprovals(options);
      },
    };
    const url = await operating.serve({ commands: counted });
    const viewer = await operating.signIn(secret, url);
    const stop = new AbortController();
    const streams = await Promise.all(
      Array.from({ length: 30 }, () =>
        fetch(`${url}/events`, { headers: { cookie: viewer.cookie }, signal: stop.signal }),
      ),
    );
    assert.match(streams[0]?.headers.get('content-type') ?? '', /^text\/event-stream/);
    const told = streams.map(async ({ body }) => {
      const revisions = new Set<string>();
      for await (const chunk of body as AsyncIterable<Uint8Array>) {
        for (const [, revision = ''] of Buffer.from(chunk)
          .toString()
          .matchAll(/event: revision\ndata: (.+)/g))
          revisions.add(revision);
        // What it was when they began to look, and what it is now.
        if (revisions.size === 2) return [...revisions].join();
      }
      return 'the stream ended';
    });
    const id = await operating.ask('boiler-2');
    assert.equal(new Set(await Promise.all(told)).size, 1, 'all are told the same');
    assert.ok(reads < 30, `${reads} reads for 30 viewers`);
    stop.abort();
    // With nobody looking nothing is read.
    for (
      const giveUpAt = Date.now() + 20_000;
      Date.now() - lastReadAt <= 1.5 * READ_EVERY_MS;
      await sleep(100)
    )
      assert.ok(Date.now() < giveUpAt, 'it is read on and on');
    await operating.harness.commands.cancel(id, OPERATOR);
  });

  it('tell viewers of one command as soon as something happens to it, and end with it', async () => {
    const id = await operating.ask('boiler-3');
    const { body } = await fetch(`${operating.url}/events?command=${id}`, {
      headers: { cookie: ann.cookie },
    });
    const reader = (body as ReadableStream<Uint8Array>).getReader();
    const next = async () => Buffer.from((await reader.read()).value ?? []).toString();
    assert.match(await next(), /event: revision\ndata: .*waiting_for_approval/);
    await ann.decide([id], 'approve');
    assert.match(await next(), /event: revision\ndata: (?!.*waiting_for_approval)/);
    await reader.cancel();
    await operating.harness.ended(id);
    assert.doesNotMatch((await ann.get(`/commands/${id}`)).text, /data-events/);
  });

  it('say so where Temporal is away, and come back by themselves', async () => {
    let away = true;
    const failing = <T>(call: () => Promise<T>): Promise<T> =>
      away ? Promise.reject(new EngineUnreachable('Temporal does not answer.')) : call();
    const { commands } = operating.harness;
    const url = await operating.serve({
      commands: {
        ...commands,
        pendingApprovals: (options) => failing(() => commands.pendingApprovals(options)),
        get: (id, viewer) => failing(() => commands.get(id, viewer)),
        decide: (id, decision) => failing(() => commands.decide(id, decision)),
      },
    });
    for (const path of ['/', '/commands', '/commands/x', '/api/pending']) {
      const response = await fetch(`${url}${path}`, { headers: { cookie: ann.cookie } });
      assert.equal(response.status, 503, path);
      assert.match(await response.text(), /Temporal does not answer/);
    }
    const decided = await fetch(`${url}/decide`, {
      method: 'POST',
      headers: { cookie: ann.cookie },
      body: new URLSearchParams({ csrf: ann.csrf, id: 'x', decision: 'approve' }),
    });
    assert.match(await decided.text(), /not approved: Temporal does not answer/);
    away = false;
    assert.equal((await fetch(`${url}/`, { headers: { cookie: ann.cookie } })).status, 200);
  });
});

describe('the API of the console', () => {
  let operating: Operating;
  let secret: string;
  before(async () => {
    operating = await operate();
    secret = operating.approvers.add('Ann');
  });
  after(() => operating.close());

  const call = async (path: string, body?: unknown, headers: Record<string, string> = {}) => {
    const response = await fetch(`${operating.url}${path}`, {
      headers: {
        authorization: `Bearer ${secret}`,
        ...(body === undefined ? {} : { 'content-type': 'application/json' }),
        ...headers,
      },
      ...(body === undefined ? {} : { method: 'POST', body: JSON.stringify(body) }),
    });
    return { status: response.status, json: (await response.json()) as any };
  };

  it('lists, shows and decides with the secret of an approver', async () => {
    const id = await operating.ask('boiler-0', { reason: `bath ${HOSTILE}` });
    const { json } = await call('/api/pending');
    assert.equal(json.total, 1);
    const [approval] = json.approvals;
    assert.deepEqual(
      [approval.commandId, approval.device, approval.changes[0].before, approval.by, approval.ruleReason],
      [id, 'boiler-0', '40 °C', 'operator', 'Hot water scalds.'],
    );
    assert.doesNotMatch(approval.agentsReason, /\p{Cc}|\u202e/u);
    assert.equal((await call(`/api/commands/${id}`)).json.view.phase, 'waiting_for_approval');
    const decided = await call('/api/decide', { ids: [id, 'none'], decision: 'approve', comment: 'ok' });
    assert.deepEqual(
      decided.json.results.map(({ kind, asAsked }: any) => [kind, asAsked]),
      [
        ['taken', true],
        ['unknown', false],
      ],
    );
    await operating.harness.ended(id);
    const { json: ended } = await call(`/api/commands/${id}`);
    assert.deepEqual([ended.view.result.outcome, ended.view.decidedBy.by], ['verified', 'Ann']);
    assert.deepEqual(
      ended.timeline.filter(({ kind }: any) => kind !== 'phase').map(({ kind }: any) => kind),
      ['accepted', 'answer', 'send', 'ended'],
    );
    assert.ok(!JSON.stringify(ended).includes('"mac"'), 'no seal leaves the house');
  });

  it('accepts nothing else: no token of an MCP client, no secret in another scheme, no session without its form token', async () => {
    const id = await operating.ask('boiler-1');
    const body = { ids: [id], decision: 'approve' };
    const { cookie, csrf } = await operating.signIn(secret);
    for (const headers of [
      { authorization: '' },
      { authorization: 'Bearer' },
      { authorization: 'Bearer an-mcp-access-token' },
      { authorization: `Basic ${secret}` },
      { authorization: secret },
    ])
      assert.equal((await call('/api/decide', body, headers)).status, 401, JSON.stringify(headers));
    const withSession = async (headers: Record<string, string>) =>
      (
        await fetch(`${operating.url}/api/decide`, {
          method: 'POST',
          headers: { cookie, 'content-type': 'application/json', ...headers },
          body: JSON.stringify({ ids: [id], decision: 'decline', comment: 'end of the test' }),
        })
      ).status;
    assert.equal(await withSession({}), 403);
    assert.equal(await withSession({ 'x-readback-csrf': csrf, origin: 'http://127.0.0.1:9' }), 403);
    assert.equal((await operating.harness.commands.get(id, OPERATOR))?.view.decidedBy, null);
    assert.equal(await withSession({ 'x-readback-csrf': csrf }), 200);
  });

  it('says what is wrong with a request, and decides nothing', async () => {
    for (const [body, words] of [
      [{}, /ids/],
      [{ ids: [], decision: 'approve' }, /ids/],
      [{ ids: ['x'], decision: 'yes' }, /decision/],
      [{ ids: ['x'], decision: 'approve', by: 'Bob' }, /by/],
      [{ ids: Array.from({ length: 201 }, (_, i) => `x${i}`), decision: 'approve' }, /ids/],
      [{ ids: ['x'], decision: 'decline' }, /needs its reason/],
      [{ ids: ['x'], decision: 'decline', comment: ' ' }, /needs its reason/],
      [[], /Nothing was decided/],
    ] as const) {
      const { status, json } = await call('/api/decide', body);
      assert.equal(status, 400);
      assert.match(json.error, words);
    }
    assert.equal((await call('/api/decide', {}, { 'content-type': 'text/plain' })).status, 415);
    assert.equal((await call('/api/pending?limit=0')).status, 400);
    assert.equal((await call('/api/pending?cursor=!!')).status, 400);
    assert.equal((await call('/api/commands/none')).status, 404);
  });
});
