import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import { type Browser, type Operating, operate } from './operating.ts';

const OPERATOR = { kind: 'operator' } as const;

describe('deciding in the console', { concurrency: 4 }, () => {
  let operating: Operating;
  let ann: Browser;
  let bob: Browser;
  let annsSecret: string;
  before(async () => {
    operating = await operate();
    annsSecret = operating.approvers.add('Ann');
    ann = await operating.signIn(annsSecret);
    bob = await operating.signIn(operating.approvers.add('Bob'));
  });
  after(async () => {
    await operating.close();
    assert.deepEqual(operating.errors, []);
  });

  const decidedBy = async (id: string) =>
    (await operating.harness.commands.get(id, OPERATOR))?.view.decidedBy;

  it('approves by a plain form: it is sent then and not before, and the record says who, how and why', async () => {
    const id = await operating.ask('boiler-0', { reason: 'a hot bath' });
    const text = await ann.getUntil('/', 'Boiler 0');
    for (const words of [
      'Boiler 0',
      '40 °C',
      'Hot water scalds.',
      'local',
      'a hot bath',
      'A claim.',
      'Repeating it is harmless',
    ])
      assert.ok(text.includes(words), words);
    assert.equal(await operating.sends('boiler-0'), 0);
    const answer = await ann.decide([id], 'approve', 'checked by phone');
    assert.match(answer.text, /<h1>Decided<\/h1>[\s\S]*Boiler 0<\/a>: approved/);
    const { view } = await operating.harness.ended(id);
    assert.equal(view.result?.outcome, 'verified');
    const { by, via, comment, authenticated } = view.decidedBy ?? {};
    assert.deepEqual([by, via, comment, authenticated], ['Ann', 'console', 'checked by phone', true]);
    assert.equal(await operating.sends('boiler-0'), 1);
    const story = (await ann.get(`/commands/${id}`)).text;
    for (const words of [
      'Accepted',
      'Ann approved',
      'checked by phone',
      'Sent; HTTP 200',
      'Ended <b>verified</b>',
      '<svg',
      'class="desired"',
    ])
      assert.ok(story.includes(words), words);
    assert.ok(story.includes(`http://127.0.0.1:8233/namespaces/default/workflows/${id}`));
  });

  it('declines only with a reason, which whoever asked is told', async () => {
    const id = await operating.ask('boiler-1');
    assert.equal((await ann.decide([id], 'decline', ' ')).status, 400);
    assert.equal(await decidedBy(id), null);
    await ann.decide([id], 'decline', 'not <b>tonight</b>');
    const { view } = await operating.harness.ended(id);
    assert.equal(view.result?.outcome, 'declined');
    assert.match(view.result?.detail ?? '', /Declined by Ann: "not <b>tonight<\/b>"/);
    assert.equal(await operating.sends('boiler-1'), 0);
  });

  it('A5: of two who decide at once the first one counts, and the other is told what and by whom', async () => {
    const id = await operating.ask('boiler-2');
    const answers = await Promise.all([ann.decide([id], 'approve'), bob.decide([id], 'decline', 'no')]);
    await operating.harness.ended(id);
    const stands = await decidedBy(id);
    assert.ok(stands);
    const [winner, loser] = stands.by === 'Ann' ? answers : [answers[1], answers[0]];
    assert.match(winner?.text ?? '', new RegExp(`: ${stands.decision}`));
    assert.match(loser?.text ?? '', new RegExp(`${stands.by} ${stands.decision} it before; that stands`));
    assert.equal(await operating.sends('boiler-2'), stands.decision === 'approved' ? 1 : 0);
  });

  it('A6: refuses the requester, though they hold the role, and lets somebody else decide', async () => {
    const id = await operating.ask('boiler-3', { subject: 'ann' });
    const list = await ann.getUntil('/', `card-${id}`);
    assert.match(list, /You asked for this yourself, so somebody else has to decide it/);
    const { text } = await ann.decide([id], 'approve');
    assert.match(
      text,
      /0 of 1 decided as asked[\s\S]*Ann asked for this command, so somebody else has to decide it/,
    );
    const overApi = await fetch(`${operating.url}/api/decide`, {
      method: 'POST',
      headers: { authorization: `Bearer ${annsSecret}`, 'content-type': 'application/json' },
      body: JSON.stringify({ ids: [id], decision: 'approve' }),
    });
    assert.equal(((await overApi.json()) as any).results[0].kind, 'refused');
    assert.equal(await decidedBy(id), null);
    assert.equal(await operating.sends('boiler-3'), 0);
    await bob.decide([id], 'decline', 'no');
    await operating.harness.ended(id);
  });

  it('decides several at once with one result for each, also where some can no longer be decided', async () => {
    const ids = await Promise.all(
      ['boiler-4', 'boiler-5', 'boiler-6'].map((device) => operating.ask(device)),
    );
    const [first = ''] = ids;
    await bob.decide([first], 'decline', 'no');
    const { text } = await ann.decide([...ids, 'no-such-command', ...ids], 'approve');
    assert.match(text, /2 of 4 decided as asked/);
    assert.match(text, /Bob declined it before; that stands/);
    assert.match(text, /there is no such command/);
    assert.equal(text.match(/<li class/g)?.length, 4);
    for (const id of ids) await operating.harness.ended(id);
    assert.deepEqual(await Promise.all(['boiler-4', 'boiler-5', 'boiler-6'].map(operating.sends)), [0, 1, 1]);
  });

  it('takes exactly one decision for each of 50 approvals that two people race for', async () => {
    const ids: string[] = [];
    for (let round = 0; round < 5; round += 1)
      ids.push(
        ...(await Promise.all(
          Array.from({ length: 10 }, (_, index) =>
            operating.ask(`boiler-${7 + index}`, { temperature: 20 + round * 10 + index }),
          ),
        )),
      );
    const [annsAnswer, bobsAnswer] = await Promise.all([
      ann.decide(ids, 'decline', 'by Ann'),
      bob.decide([...ids].reverse(), 'decline', 'by Bob'),
    ]);
    const wins = (text: string) => text.match(/: declined<\/li>/g)?.length ?? 0;
    const losses = (text: string) => text.match(/declined it before; that stands<\/li>/g)?.length ?? 0;
    assert.equal(wins(annsAnswer.text) + wins(bobsAnswer.text), 50);
    assert.equal(losses(annsAnswer.text) + losses(bobsAnswer.text), 50);
    const ended = await Promise.all(ids.map((id) => operating.harness.ended(id)));
    for (const { view } of ended) {
      assert.equal(view.result?.outcome, 'declined');
      assert.ok(
        view.result.detail.includes(`by ${view.decidedBy?.by}"`),
        'name and words are of one decision',
      );
    }
    assert.equal(await operating.sends('boiler-7'), 0);
  });

  it('ends in one way where it is approved and cancelled in the same moment, and says truly what was sent', async () => {
    for (let round = 0; round < 5; round += 1) {
      const device = `boiler-${17 + round}`;
      const id = await operating.ask(device);
      const [{ text }] = await Promise.all([
        ann.decide([id], 'approve'),
        operating.harness.commands.cancel(id, OPERATOR),
      ]);
      assert.match(text, /: (approved|not approved: it (has ended|is cancelled))/);
      const { view, status } = await operating.harness.ended(id);
      assert.ok(
        ['cancelled', 'verified', 'already'].includes(view.result?.outcome ?? ''),
        JSON.stringify(view.result),
      );
      assert.equal(status === 'cancelled', view.result?.outcome === 'cancelled');
      assert.equal(await operating.sends(device), view.sent.count);
    }
  });

  it('carries no decision without the token of its own form, from another page, or without a session', async () => {
    const id = await operating.ask('boiler-22');
    const fields = (csrf: string) =>
      [
        ['csrf', csrf],
        ['id', id],
        ['decision', 'approve'],
      ] as const;
    const refused = [
      await ann.post('/decide', fields('')),
      await ann.post('/decide', fields('x'.repeat(43))),
      await ann.post('/decide', fields(bob.csrf)),
      await ann.post('/decide', fields(ann.csrf).slice(1)),
      await ann.post('/decide', fields(ann.csrf), { origin: 'http://127.0.0.1:9' }),
      await ann.post('/decide', fields(ann.csrf), { 'sec-fetch-site': 'same-site' }),
      await ann.post('/decide', fields(ann.csrf), { origin: 'null' }),
    ];
    assert.deepEqual(
      refused.map(({ status }) => status),
      Array.from({ length: refused.length }, () => 403),
    );
    const stranger = await fetch(`${operating.url}/decide`, {
      method: 'POST',
      body: new URLSearchParams({ id, decision: 'approve', csrf: ann.csrf }),
      redirect: 'manual',
    });
    assert.equal(stranger.status, 303);
    const overApi = await fetch(`${operating.url}/api/decide`, {
      method: 'POST',
      headers: { cookie: ann.cookie, 'content-type': 'application/json' },
      body: JSON.stringify({ ids: [id], decision: 'approve' }),
    });
    assert.equal(overApi.status, 403);
    assert.equal(await decidedBy(id), null);
    assert.equal(await operating.sends('boiler-22'), 0);
    await ann.decide([id], 'decline', 'end of the test');
  });

  it('answers junk with what is wrong, and decides nothing', async () => {
    const id = await operating.ask('boiler-23');
    const csrf = ['csrf', ann.csrf] as const;
    for (const [fields, status] of [
      [[csrf], 400],
      [[csrf, ['decision', 'approve']], 400],
      [[csrf, ['id', id]], 400],
      [[csrf, ['id', id], ['decision', 'approved']], 400],
      [[csrf, ['id', id], ['decision', 'constructor']], 400],
      [
        [csrf, ['decision', 'approve'], ...Array.from({ length: 201 }, (_, i) => ['id', `x${i}`] as const)],
        400,
      ],
    ] as const)
      assert.equal((await ann.post('/decide', fields)).status, status, JSON.stringify(fields).slice(0, 100));
    // The server hangs up while it is still being told: the answer may not arrive.
    const tooMuch = await ann.decide([id], 'approve', 'x'.repeat(200_000)).catch(() => ({ status: 413 }));
    assert.equal(tooMuch.status, 413);
    const odd = await ann.decide(['', ' ', '../..', '\u0000', 'x'.repeat(5000), `lane/boiler-23`], 'approve');
    assert.match(odd.text, /0 of 5 decided as asked/);
    for (const path of [`/?page=-1&sort=x`, '/?page=1e9', '/?page=NaN', '/commands?x=%00'])
      assert.equal((await ann.get(path)).status, 200, path);
    for (const path of [
      '/commands/lane%2Fboiler-23',
      '/commands/%00',
      `/commands/${'x'.repeat(4000)}`,
      '/commands/..%2f',
    ])
      assert.equal((await ann.get(path)).status, 404, path);
    assert.equal(await decidedBy(id), null);
    await ann.decide([id], 'decline', 'end of the test');
  });
});
