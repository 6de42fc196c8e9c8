/** Everything that can be wrong with a catalogue is told with its place, what is wrong, and what is allowed. */
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { AC, fields, load, problemsOf, tells, withApi } from './loading.ts';

describe('connections', () => {
  const of = (content: string): string => `version: 1\nconnections: { c: { ${content} } }`;
  tells([
    ['an unknown kind', of('kind: htpp, baseUrl: "http://x"'), 'connections.c.kind', /Did you mean "http"/],
    ['no address', of('kind: http'), 'connections.c.baseUrl', /is missing/],
    [
      'an address that is none',
      of('kind: http, baseUrl: api.example'),
      'connections.c.baseUrl',
      /begins with http:\/\/ or https:\/\//,
    ],
    [
      'a file as an address',
      of('kind: http, baseUrl: "file:///etc/passwd"'),
      'connections.c.baseUrl',
      /begins with http/,
    ],
    [
      'a password in the address',
      of('kind: http, baseUrl: "http://me:hunter2@x"'),
      'connections.c.baseUrl',
      /write them under "auth"/,
    ],
    [
      'a secret in the path of an address, which dry runs and errors show',
      of('kind: http, baseUrl: "http://bridge/api/${KEY}"'),
      'connections.c.baseUrl',
      /no secret may stand in it: give it in auth/,
    ],
    [
      'a secret in an expression, which is quoted where it fails',
      of('kind: http, baseUrl: "http://x", reply: { refused: \'body.key = "${KEY}"\' }'),
      'connections.c.reply.refused',
      /secrets stand nowhere else/,
    ],
    [
      'a query in the address',
      of('kind: http, baseUrl: "http://x?key=1"'),
      'connections.c.baseUrl',
      /must not hold "\?"/,
    ],
    [
      'two ways of signing in',
      of('kind: http, baseUrl: "http://x", auth: { bearer: a, basic: { username: b, password: c } }'),
      'connections.c.auth',
      /exactly one of .*bearer and basic/,
    ],
    [
      'a limit that leaves nothing to send',
      of('kind: http, baseUrl: "http://x", limits: [{ requests: 5, per: 1m, keepForReads: 5 }]'),
      'connections.c.limits[0].keepForReads',
      /less than requests \(5\)/,
    ],
    [
      'a simulator that is not running',
      of('kind: http, baseUrl: "simulator:"'),
      'connections.c.baseUrl',
      /readback up/,
    ],
    [
      'a reply rule that looks at nothing',
      of('kind: http, baseUrl: "http://x", reply: { refused: "boddy.error = true" }'),
      'connections.c.reply.refused',
      /boddy is unknown: a path begins with status, body or headers here\. Did you mean "body"/,
    ],
    ['an mqtt connection without a broker', of('kind: mqtt'), 'connections.c.url', /mqtt:\/\//],
    [
      'a device without a connection',
      'devices: { d: { send: PUT /d, read: GET /d, fields: { p: onoff } } }',
      'devices.d.connection',
      /is missing/,
    ],
    [
      'a device on an unknown connection',
      withApi('devices: { d: { connection: apl, send: PUT /d, read: GET /d, fields: { p: onoff } } }'),
      'devices.d.connection',
      /no connection "apl".*Did you mean "api"/,
    ],
    [
      'an entity on an http connection',
      fields(AC, ', entity: light.x'),
      'devices.d.entity',
      /only devices on a home-assistant connection/,
    ],
  ]);

  const auth = (content: string): string => of(`kind: http, baseUrl: "http://x", auth: { ${content} }`);
  tells([
    [
      'a certificate without its key',
      of('kind: http, baseUrl: "https://x", tls: { cert: a.pem }'),
      'connections.c.tls.key',
      /belong together/,
    ],
    [
      'a secret so short that it could not be hidden',
      of('kind: http, baseUrl: "http://x", secrets: { pin: "123" }'),
      'connections.c.secrets.pin',
      /at least 4 characters/,
    ],
    [
      'a scheme that signs nothing',
      auth('sign: { secret: s }'),
      'connections.c.auth.sign',
      /give "over", what is signed, or a preset: switchbot, tuya/,
    ],
    [
      'a preset without what it signs with',
      auth('sign: { preset: switchbot, secret: s }'),
      'connections.c.auth.sign.token',
      /this scheme signs with a token/,
    ],
    [
      'an unknown word in what is signed',
      auth('sign: { preset: body-hmac, secret: s, over: "{bdy}" }'),
      'connections.c.auth.sign.over',
      /\{bdy\} is unknown.*Did you mean "body"/,
    ],
    [
      'a signature that is carried nowhere',
      auth('sign: { preset: body-hmac, secret: s, headers: { x: "{timestamp}" } }'),
      'connections.c.auth.sign.headers',
      /none of them holds \{signature\}/,
    ],
    [
      'a token endpoint without TLS',
      auth('oauth: { tokenUrl: "http://id.example/t", clientId: a, clientSecret: b }'),
      'connections.c.auth.oauth.tokenUrl',
      /https:\/\//,
    ],
    [
      'a client with nothing to sign in with',
      auth('oauth: { tokenUrl: "https://id.example/t", clientId: a }'),
      'connections.c.auth.oauth',
      /clientSecret, a refreshToken, or both/,
    ],
    [
      'a login that leaves its password out',
      auth('login: { request: POST /l, username: a, password: b, body: { name: "{username}" } }'),
      'connections.c.auth.login.body',
      /nothing in it is \{password\}/,
    ],
    [
      'a login whose token is carried nowhere',
      auth('login: { request: POST /l, username: a, password: b, headers: { x: y } }'),
      'connections.c.auth.login.headers',
      /none of them holds \{token\}/,
    ],
    [
      'an expression that looks at nothing of the reply',
      auth('login: { request: POST /l, username: a, password: b, pick: bdy.token }'),
      'connections.c.auth.login.pick',
      /Did you mean "body"/,
    ],
    [
      'a secret where it would be shown',
      auth('login: { request: POST /l, username: a, password: b, pick: \'body.t["${KEY}"]\' }'),
      'connections.c.auth.login.pick',
      /give it as username or password/,
    ],
  ]);

  it('never shows what stands where a secret belongs', async () => {
    const yaml = of(
      'kind: http, baseUrl: "http://me:hunter2@x", auth: { bearer: 4711, basic: hunter2 }, secrets: { pin: [hunter2] }',
    );
    const problems = await problemsOf(yaml);
    assert.ok(problems.length >= 3, problems.join('\n'));
    assert.doesNotMatch(problems.join('\n'), /hunter2|4711/);
  });
});

describe('secrets', () => {
  const yaml =
    'connections: { c: { kind: http, baseUrl: "http://x", auth: { basic: { username: "${USER_NAME}", password: "${file:secret.txt}" } } } }';

  it('come from the environment and from files beside the catalogue', async () => {
    const loaded = await load(
      { 'readback.yaml': yaml, 'secret.txt': 's3cret\n' },
      { environment: { USER_NAME: 'me' } },
    );
    assert.ok(loaded.ok);
    assert.deepEqual(loaded.catalogue.connections['c']?.auth, {
      kind: 'basic',
      username: 'me',
      password: 's3cret',
    });
  });

  it('are all named where they are missing', async () => {
    assert.deepEqual(await problemsOf(yaml, { environment: { USER_NAME: '' } }), [
      'connections.c.auth.basic.username: the environment variable USER_NAME is not set',
      "connections.c.auth.basic.password: the file secret.txt can't be read (ENOENT)",
    ]);
  });

  it('stand in connections only, so that no path, log or expression can hold one', async () => {
    const problems = await problemsOf(
      withApi(
        'defaults: { connection: "${A}" }\nprofiles: { p: { hint: "${B}" } }\ndevices: { d: { connection: api, name: "x ${C}", send: "PUT /d?k=${file:D}", read: GET /d, fields: { p: onoff } } }\napprovals: [{ by: operator, reason: "${E}" }]',
      ),
      { environment: { A: 'a', B: 'b', C: 'c', E: 'e' } },
    );
    const refused = problems.filter((problem) => problem.includes('filled in only inside "connections"'));
    assert.deepEqual(
      refused.map((problem) => problem.slice(0, problem.indexOf(':'))),
      ['defaults.connection', 'profiles.p.hint', 'devices.d.name', 'devices.d.send', 'approvals[0].reason'],
    );
  });

  it('are not looked up for those that never talk to a device; nothing else changes by that', async () => {
    const simulated = yaml.replace(
      'connections: {',
      'connections: { s: { kind: http, baseUrl: "simulator:" },',
    );
    const without = await load(simulated, { withoutSecrets: true });
    const withThem = await load(
      { 'readback.yaml': simulated, 'secret.txt': 's3cret' },
      { environment: { USER_NAME: 'me' }, simulatorUrl: 'http://127.0.0.1:4100' },
    );
    assert.ok(without.ok && withThem.ok);
    assert.equal(without.catalogue.digest, withThem.catalogue.digest);
  });

  it('change no digest', async () => {
    const digest = async (password: string) => {
      const loaded = await load(
        { 'readback.yaml': yaml, 'secret.txt': password },
        { environment: { USER_NAME: 'me' } },
      );
      return loaded.ok ? loaded.catalogue.digest : assert.fail();
    };
    assert.equal(await digest('one'), await digest('two'));
  });
});
