import assert from 'node:assert/strict';
import { request } from 'node:http';
import { after, before, describe, it } from 'node:test';
import { type Commands, EngineUnreachable } from '../../commands/commands.ts';
import { createHttpApp, MAX_BODY_BYTES } from '../../mcp-server/http.ts';
import { DEFAULT_OPTIONS } from '../../mcp-server/options.ts';
import { type House, openHouse, type Serving } from './serving.ts';
import { callTool } from './wire.ts';

describe('MCP over HTTP', () => {
  let house: House;
  let serving: Serving;
  let url: string;
  before(async () => {
    house = await openHouse();
    serving = await house.serve();
    url = serving.url;
  });
  after(() => house.close());

  const post = (body: string | Buffer, headers: Record<string, string> = {}) =>
    fetch(`${url}/mcp`, {
      method: 'POST',
      headers: {
        'content-type': 'application/json',
        accept: 'application/json, text/event-stream',
        ...headers,
      },
      body,
    });

  /** `fetch` sets Host by itself, so this one goes over `node:http`. */
  const statusWith = (path: string, headers: Record<string, string>) =>
    new Promise<number>((resolve, reject) => {
      request({ host: '127.0.0.1', port: serving.port, path, method: 'POST', headers }, (response) => {
        response.resume();
        resolve(response.statusCode ?? 0);
      })
        .on('error', reject)
        .end('{}');
    });

  it('sends clients of the old SSE transport to /mcp', async () => {
    const response = await fetch(`${url}/sse`);
    assert.equal(response.status, 410);
    assert.match(await response.text(), new RegExp(`Streamable HTTP to ${url}/mcp`));
  });

  it('answers 413 to a body over the limit, and starts no command', async () => {
    const call = {
      jsonrpc: '2.0',
      id: 1,
      method: 'tools/call',
      params: {
        name: 'set_device_state',
        arguments: { device: 'bedroom-ac', desired: { temperature: 26 }, reason: 'x'.repeat(MAX_BODY_BYTES) },
      },
    };
    const response = await post(JSON.stringify(call));
    assert.equal(response.status, 413);
    assert.match(await response.text(), /1048576 bytes/);
    const { result } = await callTool(url, 'get_command', {});
    assert.deepEqual(result?.['structuredContent'].commands, []);
  });

  it('answers 413 to a body over the limit that comes in chunks of unknown length', async () => {
    const chunk = new Uint8Array(65_536).fill(32);
    let left = 10 * 16;
    const body = new ReadableStream({
      pull: (controller) => (left-- > 0 ? controller.enqueue(chunk) : controller.close()),
    });
    const response = await fetch(`${url}/mcp`, {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body,
      duplex: 'half',
    });
    assert.equal(response.status, 413);
  });

  it('refuses requests addressed to another host name, on every route', async () => {
    for (const path of ['/mcp', '/healthz', '/sse', '/nothing'])
      assert.equal(await statusWith(path, { host: 'evil.example:8484' }), 403, path);
  });

  it('refuses requests from the pages of other origins, on every route', async () => {
    for (const path of ['/mcp', '/healthz', '/sse', '/nothing'])
      for (const origin of ['https://evil.example', 'null'])
        assert.equal(await statusWith(path, { origin }), 403, `${path} from ${origin}`);
  });

  it('serves requests from a page on this machine', async () => {
    const response = await fetch(`${url}/healthz`, { headers: { origin: 'http://localhost:3000' } });
    assert.deepEqual([response.status, await response.json()], [200, { ok: true }]);
  });

  it('says of itself that it serves nothing where Temporal does not answer', async () => {
    const get = () => Promise.reject(new EngineUnreachable('Temporal does not answer'));
    const commands: Commands = { ...house.harness.commands, get };
    const { app, close } = createHttpApp({ commands, options: DEFAULT_OPTIONS, onError: assert.ifError });
    const response = await app.request('/healthz', { headers: { host: 'localhost' } });
    assert.deepEqual(
      [response.status, await response.json()],
      [503, { ok: false, why: 'Temporal does not answer' }],
    );
    await close();
  });

  it('answers what is not JSON with a parse error', async () => {
    for (const body of ['{"jsonrpc":', '', '\u0000', 'null,']) {
      const response = await post(body);
      assert.equal(response.status, 400);
      assert.equal(((await response.json()) as { error: { code: number } }).error.code, -32700);
    }
  });

  it('answers JSON that is no JSON-RPC request with an error of the protocol', async () => {
    for (const body of [
      'null',
      '42',
      '"x"',
      '[]',
      '{}',
      '[{}]',
      '{"jsonrpc":"2.0","id":1}',
      '{"jsonrpc":"1.0","id":1,"method":"tools/list"}',
    ]) {
      const response = await post(body);
      assert.ok(response.status >= 400 && response.status < 500, `${body}: ${response.status}`);
      const { error } = (await response.json()) as { error: { code: number; message: string } };
      assert.ok(Number.isInteger(error.code), body);
      assert.doesNotMatch(error.message, /\bat .+:\d+:\d+|node_modules/);
    }
  });

  it('refuses a body that is not declared as JSON', async () => {
    const response = await post('{}', { 'content-type': 'text/plain' });
    assert.equal(response.status, 415);
  });

  it('says at an unknown path where MCP is', async () => {
    const response = await fetch(`${url}/nothing-here`);
    assert.equal(response.status, 404);
    assert.match(await response.text(), /MCP is served at \/mcp/);
  });

  it('answers a GET without a session with 405, and one with an unknown session with 404', async () => {
    assert.equal((await fetch(`${url}/mcp`)).status, 405);
    assert.equal((await fetch(`${url}/mcp`, { headers: { 'mcp-session-id': 'gone' } })).status, 404);
  });

  it('refuses a request whose headers name another method than its body', async () => {
    const answer = await callTool(url, 'list_devices', {}, { headers: { 'mcp-method': 'tools/list' } });
    assert.deepEqual([answer.status, answer.error?.code], [400, -32020]);
  });
});
