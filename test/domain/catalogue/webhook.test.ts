import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { catalogueOf, load, problemsOf, tells } from './loading.ts';

const signed = 'auth: { sign: { preset: standard-webhooks, secret: "${PHONE}" } }';
const environment = { PHONE: 'whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw' };
const withWebhook = (connection: string, name = 'phone'): string =>
  `version: 1\nconnections: { phone: { ${connection} } }\nsettings: { webhook: "${name}" }\n`;
const phone = `kind: http, baseUrl: "https://hooks.example/readback", ${signed}`;

describe('settings.webhook', () => {
  it('names the connection that is rung, which no device needs', async () => {
    const catalogue = await catalogueOf(withWebhook(phone), { environment });
    assert.equal(catalogue.settings.webhook, 'phone');
    assert.equal(catalogue.connections['phone']?.baseUrl, 'https://hooks.example/readback');
  });

  it('warns of nothing', async () => {
    const loaded = await load(withWebhook(phone), { environment });
    assert.ok(loaded.ok);
    assert.deepEqual(loaded.warnings, []);
  });

  it('gives the same digest whatever the secret is', async () => {
    const [a, b] = await Promise.all(
      ['one', 'two'].map((PHONE) => catalogueOf(withWebhook(phone), { environment: { PHONE } })),
    );
    assert.equal(a?.digest, b?.digest);
  });

  it('needs its secret to be set, and says so by its name', async () => {
    const problems = await problemsOf(withWebhook(phone), { environment: {} });
    assert.match(
      problems.join('\n'),
      /connections\.phone\.auth\.sign\.secret: the environment variable PHONE is not set/,
    );
  });

  tells([
    [
      'a connection that is none',
      withWebhook('kind: http, baseUrl: "http://x"', 'phon'),
      'settings.webhook',
      /names no connection; connections: phone\. Did you mean "phone"\?/,
    ],
    [
      'an address',
      withWebhook('kind: http, baseUrl: "http://x"', 'https://hooks.example'),
      'settings.webhook',
      /Its address belongs there, as "baseUrl"/,
    ],
    [
      'a secret in it',
      withWebhook('kind: http, baseUrl: "http://x"', '${HOOK}'),
      'settings.webhook',
      /\$\{…\} is filled in only inside "connections"/,
    ],
    [
      'a broker',
      withWebhook('kind: mqtt, url: "mqtt://x"'),
      'settings.webhook',
      /is of kind mqtt: name one of kind http/,
    ],
    [
      'a connection that signs nothing',
      withWebhook('kind: http, baseUrl: "http://x"'),
      'settings.webhook',
      /has to sign, .* sign: \{ preset: standard-webhooks/,
    ],
    [
      'a connection that signs in otherwise',
      withWebhook('kind: http, baseUrl: "http://x", auth: { bearer: abc }'),
      'settings.webhook',
      /has to sign/,
    ],
  ]);
});
