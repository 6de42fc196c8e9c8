import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import type { ReplyRules } from '../../domain/catalogue/definition.ts';
import type { DeviceReply } from '../../domain/exchange.ts';
import { classifyReply, evidenceOf } from '../../domain/interpretation.ts';
import type { Json } from '../../domain/values.ts';

const reply = (body: Json, status = 200): DeviceReply => ({ status, headers: {}, body });

describe('classifying the reply to a send', () => {
  const classify = (rules: ReplyRules, body: Json, status = 200) => classifyReply(rules, reply(body, status));

  it('goes by the status where nothing is declared', async () => {
    const table: [number, string][] = [
      [200, 'accepted'],
      [202, 'accepted'],
      [204, 'accepted'],
      [304, 'maybe'],
      [400, 'refused'],
      [401, 'signedOut'],
      [404, 'refused'],
      [408, 'refused'],
      [429, 'limited'],
      [500, 'maybe'],
      [503, 'maybe'],
      [100, 'maybe'],
    ];
    for (const [status, expected] of table)
      assert.equal(await classify({}, {}, status), expected, String(status));
  });

  it('finds a refusal inside a 200, and only on evidence', async () => {
    const rules = { refused: 'body.status != "success"' };
    assert.equal(await classify(rules, { status: 'failed' }), 'refused');
    assert.equal(await classify(rules, { status: 'success' }), 'accepted');
    assert.equal(await classify(rules, {}), 'accepted');
    assert.equal(await classify(rules, null, 204), 'accepted');
    assert.equal(await classify({ refused: '$not($exists(body.ok))' }, null, 204), 'accepted');
    assert.equal(await classify({ refused: 'body.code > 3' }, { code: 'text' }), 'accepted');
  });

  it('tries the classes in their order, and keeps the places of 429 and 401', async () => {
    const hue = {
      maybe: '$count(body.errors[$contains(description, "may not have effect")]) > 0',
      refused: '$count(body.errors) > 0',
    };
    assert.equal(await classify(hue, { errors: [{ description: 'may not have effect' }] }), 'maybe');
    assert.equal(await classify(hue, { errors: [{ description: 'invalid value' }] }), 'refused');
    assert.equal(await classify(hue, { errors: [] }), 'accepted');
    const switchbot = {
      refused: 'body.statusCode in [151, 190]',
      limited: 'status = 401 and body.message = "Unauthorized"',
    };
    assert.equal(await classify(switchbot, { message: 'Unauthorized' }, 401), 'limited');
    assert.equal(await classify(switchbot, { message: 'no' }, 401), 'signedOut');
    assert.equal(await classify(switchbot, { statusCode: 190 }), 'refused');
    assert.equal(
      await classify({ refused: 'body.status != "success"' }, { status: 'error' }, 429),
      'limited',
    );
    const cars = {
      asleep: 'status = 408',
      already: '$contains(body.response.reason, "already")',
      refused: 'body.response.result = false',
    };
    assert.equal(await classify(cars, null, 408), 'asleep');
    assert.equal(await classify(cars, { response: { result: false, reason: 'already_set' } }), 'already');
    assert.equal(await classify(cars, { response: { result: false, reason: 'could not' } }), 'refused');
  });

  it('believes a declared refusal on a 5xx, and doubts a 2xx that lacks the declared acceptance', async () => {
    assert.equal(await classify({ refused: 'status = 500' }, 'out of range', 500), 'refused');
    assert.equal(await classify({ accepted: 'body.ok = true' }, { ok: true }), 'accepted');
    assert.equal(await classify({ accepted: 'body.ok = true' }, { ok: 1 }), 'maybe');
    assert.equal(await classify({ accepted: 'body.ok = true' }, null, 204), 'maybe');
  });

  it('sees headers in lower case', async () => {
    const limited = { status: 200, headers: { 'x-limited': 'yes' }, body: null };
    assert.equal(await classifyReply({ limited: 'headers.`x-limited` = "yes"' }, limited), 'limited');
  });
});

describe('the evidence kept of a reply', () => {
  it('is at most 300 harmless characters', () => {
    assert.deepEqual(evidenceOf(reply({ ok: true }, 202)), { status: 202, body: '{"ok":true}' });
    assert.deepEqual(evidenceOf(reply(null, 204)), { status: 204, body: '' });
    const body = evidenceOf(reply(`a\u0000b\r\nc\u202ed\u2066e\u200bf${'\u{1f600}'.repeat(400)}`)).body;
    assert.ok(Array.from(body).length <= 300);
    assert.doesNotMatch(body, /[\p{Cc}\p{Cf}\p{Cs}]/u);
  });
});
