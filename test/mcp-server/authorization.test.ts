/** The door of an MCP server where people sign in: who is let in, and for what. */
import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import { type Commands, EngineUnreachable } from '../../commands/commands.ts';
import { openIssuer } from '../../identity/issuer.ts';
import { type AuthOptions, untilTokenExpires } from '../../mcp-server/authorization.ts';
import { createHttpApp, serveHttp } from '../../mcp-server/http.ts';
import { DEFAULT_OPTIONS } from '../../mcp-server/options.ts';
import { listen } from './listening.ts';
import { bearer, by, type SigningIn, startSigningIn } from './signing-in.ts';
import { ask, TASKS } from './wire.ts';

/** Whatever gets through the door finds that Temporal doesn't answer. */
const NOTHING_BEHIND = new Proxy({} as Commands, {
  get: (_target, name) =>
    name === 'devices' ? () => [] : () => Promise.reject(new EngineUnreachable('Temporal does not answer')),
});

describe('the door of an MCP server', () => {
  const closing: (() => Promise<void>)[] = [];
  let signing: SigningIn;
  let url: string;
  let anna: string;
  let bea: string;

  before(async () => {
    signing = await startSigningIn();
    url = (await serve(signing.auth)).url;
    signing.isAt(url);
    anna = await signing.tokenOf('anna');
    bea = await signing.tokenOf('bea');
  });
  after(async () => {
    for (const close of closing) await close();
    await signing.close();
  });

  async function serve(auth: AuthOptions) {
    const errors: Error[] = [];
    const onError = (error: Error) => void errors.push(error);
    const app = createHttpApp({ commands: NOTHING_BEHIND, options: DEFAULT_OPTIONS, onError, auth });
    const { url: at, close } = await serveHttp(app, { host: '127.0.0.1', port: 0 });
    closing.push(close);
    return { url: at, errors };
  }
  const post = (body: unknown, headers: Record<string, string> = {}) =>
    fetch(`${url}/mcp`, {
      method: 'POST',
      headers: {
        'content-type': 'application/json',
        accept: 'application/json, text/event-stream',
        ...headers,
      },
      body: JSON.stringify(body),
    });
  const get = async (path: string) => {
    const response = await fetch(url + path);
    return { status: response.status, body: (await response.json()) as any };
  };

  describe('tells where to sign in', () => {
    it('at both well-known places', async () => {
      const [atTheRoot, inserted] = [
        await get('/.well-known/oauth-protected-resource'),
        await get('/.well-known/oauth-protected-resource/mcp'),
      ];
      assert.deepEqual(atTheRoot, inserted);
      assert.equal(inserted.status, 200);
      assert.equal(inserted.body.resource, `${url}/mcp`);
      assert.deepEqual(inserted.body.authorization_servers, [signing.server.issuer]);
      assert.deepEqual(inserted.body.scopes_supported, ['devices:read', 'devices:command']);
    });

    it('and passes on what the issuer says of itself, for clients that look for it here', async () => {
      const { body } = await get('/.well-known/oauth-authorization-server');
      assert.equal(body.issuer, signing.server.issuer);
      assert.equal(body.token_endpoint, `${signing.server.issuer}/token`);
    });

    it('at nothing else below /.well-known', async () => {
      for (const path of ['oauth-protected-resource/other', 'security.txt'])
        assert.equal((await fetch(`${url}/.well-known/${path}`)).status, 404);
    });

    it('to whoever comes without a token', async () => {
      for (const request of [post({}), fetch(`${url}/mcp`), fetch(`${url}/mcp`, { method: 'DELETE' })]) {
        const response = await request;
        assert.equal(response.status, 401);
        const challenge = response.headers.get('www-authenticate') ?? '';
        assert.match(challenge, /^Bearer .*scope="devices:read devices:command"/);
        assert.ok(
          challenge.includes(`resource_metadata="${url}/.well-known/oauth-protected-resource/mcp"`),
          challenge,
        );
        await response.body?.cancel();
      }
    });
  });

  it('tells with a bad token what is wrong with it, and nothing of it', async () => {
    const expired = await signing.sign({ exp: 1 });
    for (const [authorization, why] of [
      [`Bearer ${expired}`, /has expired/],
      ['Bearer not.a.token', /no valid JWT/],
      ['Basic YW5uYTpzZWNyZXQ=', /Authorization header/],
    ] as const) {
      const response = await post({}, { authorization });
      const text = await response.text();
      assert.equal(response.status, 401);
      assert.match(text, why);
      assert.match(response.headers.get('www-authenticate') ?? '', /error="invalid_token"/);
      const secret = authorization.split(' ')[1] as string;
      assert.ok(!text.includes(secret) && !response.headers.get('www-authenticate')?.includes(secret));
    }
  });

  it('looks at Host and Origin before tokens, and at tokens before everything else', async () => {
    const wrong = { 'mcp-method': 'tools/list' };
    const statusOf = async (headers: Record<string, string>) => {
      const { status, error } = await ask(url, 'tasks/cancel', { taskId: 'x' }, { headers });
      return [status, error?.code];
    };
    assert.equal((await post({}, { ...bearer(anna), origin: 'https://evil.example' })).status, 403);
    assert.equal((await statusOf(wrong))[0], 401);
    const reading = await signing.tokenOf('anna', 'devices:read');
    assert.deepEqual(await statusOf({ ...wrong, ...bearer(reading) }), [403, undefined]);
    assert.deepEqual(await statusOf({ ...wrong, ...bearer(anna) }), [400, -32020]);
  });

  it('asks of every method and tool the scope that it needs, and of none more', async () => {
    const [reading, commanding, nothing] = await Promise.all([
      signing.tokenOf('anna', 'devices:read'),
      signing.tokenOf('anna', 'devices:command'),
      signing.sign({}),
    ]);
    const tool = (name: string) => ['tools/call', { name, arguments: {} }] as const;
    const needs: readonly (readonly [string, Record<string, unknown>, string | null])[] = [
      ['server/discover', {}, null],
      ['tools/list', {}, null],
      ['resources/list', {}, 'devices:read'],
      ['resources/read', { uri: 'readback://devices/boiler' }, 'devices:read'],
      ['tasks/get', { taskId: 'x' }, 'devices:read'],
      ['tasks/update', { taskId: 'x', inputResponses: {} }, 'devices:command'],
      ['tasks/cancel', { taskId: 'x' }, 'devices:command'],
      [...tool('list_devices'), 'devices:read'],
      [...tool('get_device_state'), 'devices:read'],
      [...tool('get_command'), 'devices:read'],
      [...tool('set_device_state'), 'devices:command'],
      [...tool('cancel_command'), 'devices:command'],
      [...tool('something_new'), 'devices:command'],
    ];
    for (const [method, params, scope] of needs)
      for (const [token, has] of [
        [reading, 'devices:read'],
        [commanding, 'devices:command'],
        [nothing, ''],
      ] as const) {
        const { status, error } = await ask(url, method, params, by(token, TASKS));
        const where = `${method} ${JSON.stringify(params)} with "${has}": ${JSON.stringify(error)}`;
        if (scope === null || scope === has) assert.notEqual(status, 403, where);
        else assert.deepEqual([status, error], [403, 'insufficient_scope'], where);
      }
    const listening = await listen(url, { taskIds: ['x'] }, by(commanding, TASKS));
    assert.equal(listening.status, 403);
    const inSession = async (method: string, token: string) => {
      const headers = { accept: 'text/event-stream', 'mcp-session-id': 'x', ...bearer(token) };
      return (await fetch(`${url}/mcp`, { method, headers })).status;
    };
    assert.deepEqual([await inSession('GET', commanding), await inSession('GET', reading)], [403, 404]);
    assert.equal(await inSession('DELETE', nothing), 404, 'who leaves needs no scope');
  });

  it('takes the messages of a batch each for what it is, and what is nested deeper for none', async () => {
    const reading = bearer(await signing.tokenOf('anna', 'devices:read'));
    const [read, command] = ['tasks/get', 'tasks/cancel'].map((method) => ({
      ...{ jsonrpc: '2.0', id: 1, method },
      params: { taskId: 'x' },
    }));
    assert.notEqual((await post([read, read], reading)).status, 403);
    assert.equal((await post([read, command], reading)).status, 403);
    const deep = `${'['.repeat(100_000)}${']'.repeat(100_000)}`;
    for (const body of [JSON.stringify([[command]]), deep]) {
      const headers = { 'content-type': 'application/json', accept: 'application/json', ...reading };
      const response = await fetch(`${url}/mcp`, { method: 'POST', headers, body });
      assert.equal(response.status, 400, await response.text());
    }
  });

  it('names the scope that is missing beside those that the token has', async () => {
    const response = await post(
      { jsonrpc: '2.0', id: 1, method: 'tasks/cancel', params: {} },
      bearer(await signing.tokenOf('anna', 'devices:read')),
    );
    const challenge = response.headers.get('www-authenticate') ?? '';
    assert.match(challenge, /error="insufficient_scope".*scope="devices:read devices:command"/);
    assert.ok(challenge.includes('resource_metadata='), challenge);
    assert.match(await response.text(), /the scope devices:command/);
  });

  it('gives the same list of tools to everybody', async () => {
    const [all, few] = await Promise.all([
      ask(url, 'tools/list', {}, by(anna)),
      ask(url, 'tools/list', {}, by(await signing.tokenOf('bea', 'devices:read'))),
    ]);
    assert.deepEqual(all.result, few.result);
    const mayCommand = all.result?.['tools'].filter((tool: any) => tool.annotations?.readOnlyHint !== true);
    assert.deepEqual(mayCommand.map((tool: any) => tool.name).sort(), ['cancel_command', 'set_device_state']);
  });

  it('lets an answer in an older session through only with the scope that the call needed', async () => {
    const answer = { jsonrpc: '2.0', id: 1, result: { action: 'accept', content: { approve: true } } };
    const reading = await signing.tokenOf('anna', 'devices:read');
    assert.equal((await post(answer, bearer(reading))).status, 403);
    assert.equal((await post([answer, answer], bearer(reading))).status, 403);
  });

  it('says while the issuer is down that it is, and not that a token is bad', async () => {
    const fresh = await serve({ ...signing.auth, issuer: openIssuer(signing.server.issuer) });
    signing.server.setAnswering(false);
    const headers = { 'content-type': 'application/json', ...bearer(anna) };
    const [response, another] = [
      await fetch(`${fresh.url}/mcp`, { method: 'POST', headers, body: '{}' }),
      await fetch(`${fresh.url}/mcp`, { method: 'POST', headers, body: '{}' }),
    ];
    assert.deepEqual([response.status, another.status], [503, 503]);
    assert.equal(response.headers.get('retry-after'), '5');
    assert.match(await response.text(), /issuer of sign-ins does not answer/);
    const metadata = await fetch(`${fresh.url}/.well-known/oauth-protected-resource`);
    assert.deepEqual(((await metadata.json()) as any).authorization_servers, [signing.server.issuer]);
    assert.equal((await fetch(`${fresh.url}/.well-known/security.txt`)).status, 404);
    signing.server.setAnswering(true);
    assert.deepEqual(
      fresh.errors.map(({ message }) => /answers 503 at/.test(message)),
      [true],
    );
  });

  it('keeps nothing of a stream that its client has left', async (t) => {
    const cleared = t.mock.method(globalThis, 'clearTimeout').mock;
    const [left, ended] = [new TransformStream(), new TransformStream()].map(({ readable, writable }) => {
      const auth = { token: '', clientId: '', scopes: [], expiresAt: Date.now() / 1000 + 3600 };
      return { response: untilTokenExpires(new Response(readable), auth), writable };
    });
    await left?.response.body?.cancel();
    assert.equal(cleared.callCount(), 1);
    await Promise.all([ended?.writable.close(), ended?.response.text()]);
    assert.equal(cleared.callCount(), 2);
  });

  it('slows down whoever asks too often, and nobody else', async () => {
    const limited = await serve({ ...signing.auth, rate: { perSecond: 1, burst: 3 } });
    const statuses = (count: number, headers: Record<string, string>) =>
      Promise.all(
        Array.from({ length: count }, async () => {
          const response = await fetch(`${limited.url}/mcp`, { method: 'POST', headers, body: '{}' });
          if (response.status !== 429) return response.status;
          assert.ok(Number(response.headers.get('retry-after')) >= 1);
          assert.match(await response.text(), /Ask again in \d+ s/);
          return 429;
        }),
      );
    const tooMany = (all: readonly number[]) => all.filter((status) => status === 429).length;
    assert.ok(tooMany(await statuses(40, bearer(anna))) >= 30);
    assert.equal(tooMany(await statuses(1, bearer(bea))), 0);
    const strangers = await statuses(200, {});
    assert.ok(
      strangers.every((status) => status === 401),
      'nobody can keep their neighbours from being told where to sign in',
    );
  });
});
