import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import { type Serving, serve } from './serving.ts';
import { callTool } from './wire.ts';

describe('the other tools', () => {
  let serving: Serving;
  before(async () => {
    serving = await serve({});
  });
  after(() => serving.close());

  const call = async (name: string, args: Readonly<Record<string, unknown>> = {}) => {
    const { result, error } = await callTool(serving.url, name, args);
    assert.ok(result, JSON.stringify(error));
    assert.equal(result['structuredContent'].message, result['content'][0].text);
    return result;
  };

  it('list_devices pages through all devices, in order, each once', async () => {
    const all = (await call('list_devices', { limit: 100 }))['structuredContent'];
    const seen: string[] = [];
    let cursor: string | undefined;
    do {
      const page = (await call('list_devices', { limit: '2', ...(cursor && { cursor }) }))[
        'structuredContent'
      ];
      assert.ok(page.devices.length <= 2);
      seen.push(...page.devices.map(({ device }: { device: string }) => device));
      cursor = page.nextCursor;
    } while (cursor !== undefined);
    assert.deepEqual(
      seen,
      all.devices.map(({ device }: { device: string }) => device),
    );
    assert.equal(all.total, seen.length);
  });

  it('list_devices finds by query, and says when nothing matches', async () => {
    assert.match(
      (await call('list_devices', { query: 'bedroom' }))['structuredContent'].message,
      /- bedroom-ac: .*16–30 °C/,
    );
    assert.match(
      (await call('list_devices', { query: 'spaceship' }))['structuredContent'].message,
      /No device matches "spaceship"/,
    );
  });

  it('list_devices refuses a limit out of range and a cursor that it never gave', async () => {
    for (const [args, expected] of [
      [{ limit: 0 }, /limit is not valid. It must be a whole number from 1 to 100/],
      [{ limit: 'many' }, /limit is not valid/],
      [{ cursor: 'zzz' }, /cursor is not one/],
    ] as const) {
      const result = await call('list_devices', args);
      assert.equal(result['isError'], true);
      assert.match(result['structuredContent'].message, expected);
    }
  });

  it('get_device_state says what a device shows and how old that is', async () => {
    const { message, fields, at } = (await call('get_device_state', { device: 'bedroom-ac' }))[
      'structuredContent'
    ];
    assert.match(message, /"?bedroom.*" shows .*temperature 24 °C.* \(read \d+ m?s ago\)/i);
    assert.equal(fields.temperature.value, 24);
    assert.ok(Date.now() - Date.parse(at) < 5_000);
  });

  it('get_device_state names an unknown device', async () => {
    const result = await call('get_device_state', { device: 'spaceship' });
    assert.equal(result['isError'], true);
    assert.match(result['structuredContent'].message, /"spaceship"/);
  });

  it('get_command and cancel_command say the same of every id that is not the caller’s', async () => {
    const texts = new Set<string>();
    for (const tool of ['get_command', 'cancel_command'])
      for (const commandId of ['nothing', 'lane/bedroom-ac', '5d6f7a1e-0000-4000-8000-000000000000']) {
        const result = await call(tool, { commandId });
        assert.equal(result['isError'], true);
        texts.add(result['structuredContent'].message);
      }
    assert.equal(texts.size, 1);
  });

  it('get_command without an id lists the caller’s own, newest first', async () => {
    const first = (await call('set_device_state', { device: 'bedroom-ac', desired: { temperature: 20 } }))[
      'structuredContent'
    ];
    const second = (await call('set_device_state', { device: 'bedroom-ac', desired: { temperature: 21 } }))[
      'structuredContent'
    ];
    const { commands } = (await call('get_command'))['structuredContent'];
    assert.deepEqual(
      commands.slice(0, 2).map(({ commandId }: { commandId: string }) => commandId),
      [second.commandId, first.commandId],
    );
  });

  it('cancel_command stops a command and says what had been sent; later it changes nothing', async () => {
    const waiting = (await call('set_device_state', { device: 'front-door', desired: { temperature: 26 } }))[
      'structuredContent'
    ];
    const cancelled = await call('cancel_command', { commandId: waiting.commandId });
    assert.equal(cancelled['isError'], false);
    assert.deepEqual(
      [cancelled['structuredContent'].outcome, cancelled['structuredContent'].sent.count],
      ['cancelled', 0],
    );
    const again = await call('cancel_command', { commandId: waiting.commandId });
    assert.match(again['structuredContent'].message, /^It had ended already/);
  });

  it('names the tools there are when asked for another', async () => {
    const { error } = await callTool(serving.url, 'open_door', {});
    assert.equal(error?.code, -32602);
    assert.match(
      error?.message ?? '',
      /list_devices, get_device_state, set_device_state, get_command, cancel_command/,
    );
  });
});
