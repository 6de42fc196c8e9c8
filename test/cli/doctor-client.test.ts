import assert from 'node:assert/strict';
import { once } from 'node:events';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { describe, it } from 'node:test';
import { Client, StreamableHTTPClientTransport } from '@modelcontextprotocol/client';
import { StdioClientTransport } from '@modelcontextprotocol/client/stdio';
import { endOf, start } from './readback.ts';

const INFO = { name: 'some-host', version: '7' };
const CHECK = ['doctor', '--client', '--wait', '500ms'];
const reading = { name: 'check_client', arguments: { words: 'maple' } };

describe('readback doctor --client', { concurrency: true }, () => {
  it('says where to connect a host, serves the check there, and prints what it saw when it is stopped', async () => {
    const doctor = start([...CHECK, '--json']);
    const ended = endOf(doctor);
    assert.ok(doctor.stdout);
    const [line] = (await once(createInterface({ input: doctor.stdout }), 'line')) as [string];
    const client = new Client(INFO, { versionNegotiation: { mode: 'auto' } });
    await client.connect(new StreamableHTTPClientTransport(new URL(JSON.parse(line).mcp)));
    await client.callTool(reading);
    await client.close();
    doctor.kill('SIGINT');
    const { code, stdout } = await ended;
    assert.equal(code, 0);
    const { clients } = JSON.parse(stdout.trim().split('\n').at(-1) ?? '');
    assert.equal(clients.length, 1);
    const [{ client: name, protocol, transport, reads, headers, gets }] = clients;
    assert.deepEqual([name, protocol, transport, reads], ['some-host 7', '2026-07-28', 'http', 'text']);
    assert.equal(headers['mcp-name'], 'check_client');
    assert.deepEqual([gets.slow, gets.requester], ['handle', 'queue']);
  });

  it('serves the check over stdio to a host that starts it, opens pages all the same, and reports there', async () => {
    const opened: string[] = [];
    const client = new Client(INFO, {
      capabilities: { elicitation: { url: {} } },
      versionNegotiation: { mode: 'auto' },
    });
    client.setRequestHandler('elicitation/create', async ({ params }: any) => {
      opened.push(await (await fetch(params.url)).text());
      return { action: 'accept' };
    });
    const transport = new StdioClientTransport({
      command: process.execPath,
      args: [join(import.meta.dirname, '../../bin/readback.mjs'), ...CHECK, '--stdio'],
      stderr: 'pipe',
    });
    let told = '';
    transport.stderr?.on('data', (chunk) => (told += String(chunk)));
    await client.connect(transport);
    const { content }: any = await client.callTool(reading);
    assert.match(content[0].text, /some-host 7, protocol 2026-07-28, over stdio[^]*pages +opened after/);
    assert.match(opened[0] ?? '', /seen that this page was opened/);
    assert.ok(transport.stderr);
    const over = once(transport.stderr, 'end');
    await client.close();
    await over;
    assert.match(told, /some-host 7, protocol 2026-07-28, over stdio/);
  });
});
