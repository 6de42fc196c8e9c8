import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { createSessions, IDLE_SESSION_LASTS_MS, SESSION_LASTS_MS } from '../../console/session.ts';

describe('sessions of who signed in at an issuer', () => {
  const key = new Uint8Array(32).fill(7);
  const sessions = createSessions(key, 'https://issuer.example');
  const known = { subject: 'https://issuer.example#ann', shownAs: 'Ann', mayDecide: true };
  const now = Date.parse('2026-01-01T08:00:00Z');

  it('end after an hour without a page, and after twelve in any case', () => {
    let token = sessions.openFor(known, now);
    assert.equal(sessions.read(token, [], now + IDLE_SESSION_LASTS_MS - 1)?.person.isApprover, true);
    assert.equal(sessions.read(token, [], now + IDLE_SESSION_LASTS_MS), null);
    const csrf = sessions.read(token, [], now)?.csrf;
    for (let at = now; at < now + SESSION_LASTS_MS; at += 30 * 60_000) {
      const session = sessions.read(token, [], at);
      assert.equal(session?.csrf, csrf, 'forms of pages that are open stay good');
      token = session?.renewed ?? token;
    }
    assert.equal(sessions.read(token, [], now + SESSION_LASTS_MS), null);
  });

  it('are not made anew for every page', () => {
    const token = sessions.openFor(known, now);
    assert.equal(sessions.read(token, [], now + 59_000)?.renewed, null);
    assert.notEqual(sessions.read(token, [], now + 60_000)?.renewed, null);
  });

  it('count at their issuer alone, unchanged, and with the key of these servers', () => {
    const token = sessions.openFor(known, now);
    const [payload = '', seal = ''] = token.split('.');
    const content = JSON.parse(Buffer.from(payload, 'base64url').toString());
    const changed = Buffer.from(
      JSON.stringify({ ...content, subject: 'https://issuer.example#bob' }),
    ).toString('base64url');
    assert.equal(sessions.read(`${changed}.${seal}`, [], now), null);
    assert.equal(createSessions(key, 'https://other.example').read(token, [], now), null);
    assert.equal(createSessions(key).read(token, [], now), null);
    assert.equal(createSessions(new Uint8Array(32), 'https://issuer.example').read(token, [], now), null);
    const approver = { name: 'Ann', addedAt: '', fingerprint: '', subject: null };
    const bySecret = sessions.open(approver, now).split('.')[1];
    assert.equal(sessions.read(`${payload}.${bySecret}`, [approver], now), null);
  });
});
