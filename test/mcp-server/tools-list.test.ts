import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import { createTemporalCommands } from '../../commands/temporal-commands.ts';
import { loadCatalogue } from '../../domain/catalogue/load.ts';
import type { McpOptions } from '../../mcp-server/options.ts';
import { type House, openHouse } from './serving.ts';
import { ask, callTool, TASKS_AND_FORMS, type WireOptions } from './wire.ts';

let house: House;
before(async () => {
  house = await openHouse();
});
after(() => house.close());

async function toolList(
  options: Partial<McpOptions> = {},
  wire: WireOptions = {},
  commands = house.harness.commands,
) {
  const { url, close } = await house.serve(options, commands);
  const answer = await ask(url, 'tools/list', {}, wire);
  await close();
  assert.ok(answer.result);
  return answer.result;
}

async function commandsOver(devices: number) {
  const lamps = Array.from(
    { length: devices },
    (_, index) =>
      `  lamp-${index}: { connection: house, send: PUT /${index}, read: GET /${index}, fields: { power: onoff } }`,
  );
  const yaml = `connections: { house: { kind: http, baseUrl: "http://127.0.0.1:9" } }\ndevices:\n${lamps.join('\n')}\n`;
  const loaded = await loadCatalogue({ file: 'many.yaml', readFile: () => yaml, environment: {} });
  assert.ok(loaded.ok, JSON.stringify(loaded));
  return createTemporalCommands({
    address: house.harness.temporal.address,
    namespace: 'default',
    catalogue: () => loaded.catalogue,
    sealKey: null,
  });
}

/** Every object inside `value`, itself included. */
function* objectsIn(value: unknown): Generator<Record<string, unknown>> {
  if (typeof value !== 'object' || value === null) return;
  if (!Array.isArray(value)) yield value as Record<string, unknown>;
  for (const member of Object.values(value)) yield* objectsIn(member);
}

describe('the list of tools', () => {
  it('has the five tools of the contract', async () => {
    const { tools } = await toolList();
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
    const many = await commandsOver(1_000);
    const one = JSON.stringify(await toolList());
    const thousand = JSON.stringify(await toolList({}, {}, many));
    await many.close();
    assert.equal(thousand, one);
    assert.ok(Buffer.byteLength(one) < 3_474, `${Buffer.byteLength(one)} bytes`);
  });

  it('is the same for every client, and may be cached by anybody', async () => {
    const bare = await toolList();
    const able = await toolList(
      {},
      { capabilities: TASKS_AND_FORMS, headers: { 'readback-approval': 'queue' } },
    );
    assert.deepEqual(able, bare);
    assert.equal(bare['cacheScope'], 'public');
    assert.ok(bare['ttlMs'] > 0);
  });

  it('uses only what every host understands of JSON Schema', async () => {
    for (const object of objectsIn(await toolList()))
      for (const key of ['oneOf', 'anyOf', 'allOf', 'const', '$ref', 'outputSchema'])
        assert.ok(!Object.hasOwn(object, key), key);
  });

  it('has the device mirrored into a header only where that is switched on, and then insists on it', async () => {
    assert.doesNotMatch(JSON.stringify(await toolList()), /x-mcp-header/);
    const { tools } = await toolList({ deviceHeader: true });
    const mirrored = tools.filter(
      (tool: { inputSchema: { properties: { device?: Record<string, unknown> } } }) =>
        tool.inputSchema.properties.device?.['x-mcp-header'] === 'Device',
    );
    assert.deepEqual(
      mirrored.map((tool: { name: string }) => tool.name),
      ['get_device_state', 'set_device_state'],
    );

    const { url } = await house.serve({ deviceHeader: true });
    const args = { device: 'bedroom-ac' };
    const mirroring = await callTool(url, 'get_device_state', args, {
      headers: { 'mcp-param-device': 'bedroom-ac' },
    });
    assert.equal(mirroring.result?.['structuredContent'].device, 'bedroom-ac');
    for (const headers of [{}, { 'mcp-param-device': 'boiler' }]) {
      const refused = await callTool(url, 'get_device_state', args, { headers });
      assert.deepEqual([refused.status, refused.error?.code], [400, -32020]);
    }
  });
});
