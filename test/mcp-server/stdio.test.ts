import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { EventEmitter, once } from 'node:events';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, before, describe, it } from 'node:test';
import { Client } from '@modelcontextprotocol/client';
import { StdioClientTransport } from '@modelcontextprotocol/client/stdio';
import { Client as LegacyClient } from '@modelcontextprotocol/sdk/client/index.js';
import { StdioClientTransport as LegacyStdioTransport } from '@modelcontextprotocol/sdk/client/stdio.js';
import { ResourceListChangedNotificationSchema } from '@modelcontextprotocol/sdk/types.js';
import { CATALOGUE, type House, openHouse, setting } from './serving.ts';
import { TASKS } from './wire.ts';

const INFO = { name: 'test-host', version: '1.0.0' };

describe('MCP over stdio', () => {
  let house: House;
  let folder: string;
  let catalogue: string;
  let program: { command: string; args: string[]; env: Record<string, string> };
  before(async () => {
    house = await openHouse();
    folder = await mkdtemp(join(tmpdir(), 'readback-stdio-'));
    catalogue = join(folder, 'readback.yaml');
    await writeFile(catalogue, CATALOGUE);
    const { temporal, simulatorUrl, sealKey } = house.harness;
    program = {
      command: process.execPath,
      args: [
        join(import.meta.dirname, '../../bin/readback.mjs'),
        'stdio',
        '--temporal',
        temporal.address,
        '--catalogue',
        catalogue,
        '--data-dir',
        folder,
        '--simulator-url',
        simulatorUrl,
      ],
      env: {
        PATH: process.env['PATH'] ?? '',
        HOME: folder,
        READBACK_SEAL_KEY: Buffer.from(sealKey).toString('base64'),
      },
    };
  });
  after(async () => {
    await house.close();
    await rm(folder, { recursive: true });
  });

  const assertCaller = async (commandId: string) => {
    const snapshot = await house.harness.commands.get(commandId, { kind: 'operator' });
    const caller = { subject: 'local', client: 'test-host', transport: 'stdio', unattended: false };
    assert.deepEqual(snapshot?.view.caller, caller);
  };

  it('serves a client of 2026-07-28', async () => {
    const client = new Client(INFO, { versionNegotiation: { mode: 'auto' } });
    await client.connect(new StdioClientTransport(program));
    try {
      assert.equal(client.getNegotiatedProtocolVersion(), '2026-07-28');
      assert.deepEqual(client.getServerCapabilities()?.extensions, TASKS.extensions);
      const result: any = await client.callTool({
        name: 'set_device_state',
        arguments: setting('bedroom-ac'),
      });
      assert.equal(result.structuredContent.outcome, 'verified');
      await assertCaller(result.structuredContent.commandId);
    } finally {
      await client.close();
    }
  });

  it('serves a client of 2025-11-25', async () => {
    const client = new LegacyClient(INFO);
    await client.connect(new LegacyStdioTransport(program));
    try {
      assert.deepEqual(client.getServerCapabilities(), {
        tools: { listChanged: false },
        resources: { listChanged: true },
        completions: {},
      });
      const result: any = await client.callTool({
        name: 'set_device_state',
        arguments: setting('bedroom-ac'),
      });
      assert.equal(result.structuredContent.outcome, 'verified');
      await assertCaller(result.structuredContent.commandId);
    } finally {
      await client.close();
    }
  });

  it('tells clients of both eras that their list has changed, of 2026-07-28 those that asked', async () => {
    const told: Client[] = [];
    const arrival = new EventEmitter();
    const modern = async () => {
      const client = new Client(INFO, { versionNegotiation: { mode: 'auto' } });
      client.setNotificationHandler('notifications/resources/list_changed', () => {
        told.push(client);
        arrival.emit('told');
      });
      await client.connect(new StdioClientTransport(program));
      return client;
    };
    const legacy = new LegacyClient(INFO);
    const legacyTold = new Promise<void>((resolve) =>
      legacy.setNotificationHandler(ResourceListChangedNotificationSchema, () => resolve()),
    );
    const [silent, asking] = await Promise.all([modern(), modern()]);
    await legacy.connect(new LegacyStdioTransport(program));
    const subscription = await asking.listen({ resourcesListChanged: true });
    const changed = once(arrival, 'told');
    await writeFile(
      catalogue,
      CATALOGUE.replace('  boiler: {', '  kettle: {').replace('device: boiler', 'device: kettle'),
    );
    await Promise.all([legacyTold, changed]);
    for (const client of [asking, legacy]) {
      const { resources } = await client.listResources();
      assert.ok(resources.some(({ name }) => name === 'kettle'));
      assert.ok(!resources.some(({ name }) => name === 'boiler'));
    }
    // Its process reads the file for itself.
    const listed = async () => JSON.stringify(await silent.callTool({ name: 'list_devices', arguments: {} }));
    while (!(await listed()).includes('kettle'));
    assert.deepEqual(told, [asking]);
    await subscription.close();
    await Promise.all([silent, asking, legacy].map((client) => client.close()));
    await writeFile(catalogue, CATALOGUE);
  });

  it('writes nothing but protocol messages to stdout, survives junk, and ends when stdin does', async () => {
    const child = spawn(program.command, program.args, {
      env: program.env,
      stdio: ['pipe', 'pipe', 'ignore'],
    });
    let output = '';
    child.stdout.on('data', (chunk) => {
      output += chunk;
    });
    const lines = [
      'not json',
      '{"jsonrpc":"2.0"}',
      '[]',
      '{"jsonrpc":"2.0","id":7,"method":"server/discover","params":{}}',
    ];
    const opening = { protocolVersion: '2025-11-25', capabilities: {}, clientInfo: INFO };
    lines.push(JSON.stringify({ jsonrpc: '2.0', id: 1, method: 'initialize', params: opening }));
    lines.push(JSON.stringify({ jsonrpc: '2.0', id: 2, method: 'tools/list' }));
    child.stdin.write(`${lines.join('\n')}\n`);
    while (!/"id":2\b/.test(output)) await once(child.stdout, 'data');
    child.stdin.end();
    const [code] = await once(child, 'exit');
    assert.equal(code, 0);
    for (const line of output.trim().split('\n')) assert.equal(JSON.parse(line).jsonrpc, '2.0');
  });
});
