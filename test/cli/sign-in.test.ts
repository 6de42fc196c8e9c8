/** What a server that others reach wants to know before it starts, and that its flags lead to agents signing in. */
import assert from 'node:assert/strict';
import { randomBytes } from 'node:crypto';
import { join } from 'node:path';
import { after, before, describe, it } from 'node:test';
import { openApprovers } from '../../commands/approvers.ts';
import { bearer } from '../mcp-server/signing-in.ts';
import { callTool } from '../mcp-server/wire.ts';
import {
  APPLICATION,
  type AuthorizationServer,
  startAuthorizationServer,
} from '../oauth/authorization-server.ts';
import { cookieBrowser } from '../oauth/browser.ts';
import { readback, startUp, temporaryFolder, type Up } from './readback.ts';

const folder = temporaryFolder();
after(() => folder.remove());

/** No Temporal answers here: what can be known without it is told before. */
const env = { TEMPORAL_ADDRESS: '127.0.0.1:1', READBACK_SEAL_KEY: randomBytes(32).toString('base64') };
const refused = async (args: readonly string[], variables: Record<string, string> = {}) => {
  const { code, stderr } = await readback(args, { cwd: folder.path, env: { ...env, ...variables } });
  assert.equal(code, 2, stderr);
  return stderr;
};

describe('a server that other machines reach', () => {
  it('is not started where nobody signs in; it says what to set', async () => {
    const args = ['--host', '0.0.0.0', '--port', '0'];
    for (const stderr of await Promise.all([refused(['up', ...args]), refused(['serve', ...args])])) {
      assert.match(stderr, /0\.0\.0\.0 can be reached from other machines, and nobody signs in/);
      assert.match(stderr, /Nothing was started\. .*--auth-issuer .*127\.0\.0\.1.*--anyone-may-command/);
    }
  });

  it('is started like that by somebody who insists, with a warning', async () => {
    const args = ['serve', '--host', '0.0.0.0', '--port', '0', '--anyone-may-command'];
    const { code, stderr } = await readback(args, { cwd: folder.path, env });
    assert.match(stderr, /WARNING: 0\.0\.0\.0 can be reached .* may command every device/);
    assert.equal(code, 3, 'it got as far as to Temporal');
  });

  it('has to know which tokens are for it, an issuer that nobody can imitate, and a key that nobody guesses', async () => {
    const serve = ['serve', '--host', '0.0.0.0'];
    const https = { READBACK_AUTH_ISSUER: 'https://login.example.com' };
    const [audience, issuer, key] = await Promise.all([
      refused(serve, https),
      refused(serve, { READBACK_AUTH_ISSUER: 'http://login.example.com' }),
      refused([...serve, '--console-url', 'https://readback.example.com'], {
        ...https,
        READBACK_SEAL_KEY: 'changeme'.repeat(8),
      }),
    ]);
    assert.match(audience, /public URL.*--console-url.*--auth-audience/);
    assert.match(issuer, /An issuer is reached over https/);
    assert.match(key, /at least 32 random bytes/);
    assert.match(await refused(['up', '--console-client-id', 'console']), /there is no issuer/);
    const below = ['--console-client-id', 'console', '--console-url', 'https://example.com/readback/'];
    assert.match(await refused([...serve, ...below], https), /--console-url .* is below it/);
  });

  it('names the approvers who could be somebody else to the issuer', async () => {
    const file = join(folder.path, 'who.json');
    const approvers = openApprovers(file);
    approvers.add('Ann', 'https://login.example.com#24c1f0');
    approvers.add('Ben');
    approvers.add('Cleo', 'https://login.example.com/#9a');
    const args = ['serve', '--port', '0', '--approvers', file, '--auth-issuer', 'https://login.example.com'];
    const { code, stderr } = await readback(args, { cwd: folder.path, env });
    assert.match(stderr, /WARNING: .*https:\/\/login\.example\.com: Ben, Cleo\. .*--subject/);
    assert.equal(code, 3, 'it got as far as to Temporal');
  });
});

describe('`readback up --auth-issuer`', () => {
  let issuer: AuthorizationServer;
  let up: Up;
  before(async () => {
    issuer = await startAuthorizationServer();
    const client = ['--console-client-id', APPLICATION.clientId];
    up = await startUp(folder.path, ['--auth-issuer', issuer.issuer, ...client], {
      env: { READBACK_CONSOLE_CLIENT_SECRET: APPLICATION.clientSecret },
    });
  });
  after(async () => {
    up.process.kill('SIGTERM');
    await up.ended;
    await issuer.close();
  });

  it('lets people sign in to the console, who see nothing before', async () => {
    issuer.allowRedirectTo(new URL('/sign-in/callback', up.ready.console).href);
    issuer.signInAs('anna', { name: 'Anna' });
    const browser = cookieBrowser();
    assert.equal((await browser.open(up.ready.console)).url.pathname, '/sign-in');
    const page = await browser.open(new URL('/sign-in/issuer', up.ready.console));
    assert.equal(page.url.href, up.ready.console);
    assert.match(page.text, /class="name">Anna</);
  });

  it('lets nobody in without a token for its own URL', async () => {
    const response = await fetch(up.ready.mcp, { method: 'POST', body: '{}' });
    assert.equal(response.status, 401);
    const metadata = new URL('/.well-known/oauth-protected-resource/mcp', up.ready.mcp).href;
    assert.ok(response.headers.get('www-authenticate')?.includes(`resource_metadata="${metadata}"`));
    const { resource } = (await (await fetch(metadata)).json()) as { resource: string };
    assert.equal(resource, up.ready.mcp);
    const token = await issuer.personToken('anna', `${up.ready.mcp}/other`, 'devices:read');
    const { status } = await callTool(
      new URL(up.ready.mcp).origin,
      'list_devices',
      {},
      { headers: bearer(token) },
    );
    assert.equal(status, 401);
  });

  it('serves whoever has one, and leaves the command line to whoever owns the machine', async () => {
    const token = await issuer.personToken('anna', up.ready.mcp, 'devices:read devices:command');
    const headers = bearer(token);
    const { result } = await callTool(
      new URL(up.ready.mcp).origin,
      'get_device_state',
      { device: 'bedroom-ac' },
      { headers },
    );
    assert.match(result?.['structuredContent'].message, /bedroom/i);
    const sent = await readback(['send', 'desk-lamp', 'power=on', '--wait', '--data-dir', folder.path]);
    assert.equal(sent.code, 0, sent.stderr);
    const { result: own } = await callTool(new URL(up.ready.mcp).origin, 'get_command', {}, { headers });
    assert.deepEqual(own?.['structuredContent'].commands, []);
  });
});
