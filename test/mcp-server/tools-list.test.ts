import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { createHttpApp, serveHttp } from '../../mcp-server/http.ts';
import type { McpOptions } from '../../mcp-server/options.ts';
import { inMemoryCommands } from './in-memory-commands.ts';
import { ask, optionsWith, TASKS_AND_FORMS, type WireOptions } from './wire.ts';

async function toolList(devices: number, options: Partial<McpOptions> = {}, wire: WireOptions = {}) {
  const app = createHttpApp({
    commands: inMemoryCommands(devices),
    options: optionsWith(options),
    onError: () => {},
  });
  const { url, close } = await serveHttp(app, { host: '127.0.0.1', port: 0 });
  try {
    const answer = await ask(url, 'tools/list', {}, wire);
    assert.ok(answer.result);
    return answer.result;
  } finally {
    await close();
  }
}

/** Every object inside `value`, itself included. */
function* objectsIn(value: unknown): Generator<Record<string, unknown>> {
  if (typeof value !== 'object' || value === null) return;
  if (!Array.isArray(value)) yield value as Record<string, unknown>;
  for (const member of Object.values(value)) yield* objectsIn(member);
}

describe('the list of tools', () => {
  it('has the five tools of the contract', async () => {
    const { tools } = await toolList(1);
    assert.deepEqual(
      tools.map((tool: { name: string; inputSchema: { properties: object } }) => [
        tool.name,
        Object.keys(tool.inputSchema.properties),
      ]),
      [
        ['list_devices', ['query', 'limit', 'cursor']],
        ['get_device_state', ['device']],
        ['set_device_state', ['device', 'desired', 'requestId', 'reason', 'dryRun', 'resendOf']],
        ['get_command', ['commandId', 'waitSeconds']],
        ['cancel_command', ['commandId']],
      ],
    );
  });

  it('stays under 3,474 bytes, with one device or a thousand', async () => {
    const one = JSON.stringify(await toolList(1));
    const thousand = JSON.stringify(await toolList(1000));
    assert.equal(thousand, one);
    assert.ok(Buffer.byteLength(one) < 3_474, `${Buffer.byteLength(one)} bytes`);
  });

  it('is the same for every client, and may be cached by anybody', async () => {
    const bare = await toolList(1);
    const able = await toolList(
      1,
      {},
      { capabilities: TASKS_AND_FORMS, headers: { 'readback-approval': 'queue' } },
    );
    assert.deepEqual(able, bare);
    assert.equal(bare['cacheScope'], 'public');
    assert.ok(bare['ttlMs'] > 0);
  });

  it('uses only what every host understands of JSON Schema', async () => {
    for (const object of objectsIn(await toolList(1)))
      for (const key of ['oneOf', 'anyOf', 'allOf', 'const', '$ref', 'outputSchema'])
        assert.ok(!Object.hasOwn(object, key), key);
  });

  it('mirrors the device into a header only where that is switched on', async () => {
    assert.doesNotMatch(JSON.stringify(await toolList(1)), /x-mcp-header/);
    const { tools } = await toolList(1, { deviceHeader: true });
    const mirrored = tools.filter(
      (tool: { inputSchema: { properties: { device?: Record<string, unknown> } } }) =>
        tool.inputSchema.properties.device?.['x-mcp-header'] === 'Device',
    );
    assert.deepEqual(
      mirrored.map((tool: { name: string }) => tool.name),
      ['get_device_state', 'set_device_state'],
    );
  });
});
