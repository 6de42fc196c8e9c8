import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import { type House, openHouse, setting } from './serving.ts';
import { callTool } from './wire.ts';

describe('the other tools', () => {
  let house: House;
  let url: string;
  before(async () => {
    house = await openHouse();
    url = (await house.serve()).url;
  });
  after(() => house.close());

  const call = async (name: string, args: Readonly<Record<string, unknown>> = {}) => {
    const { result, error } = await callTool(url, name, args);
    assert.ok(result, JSON.stringify(error));
    assert.equal(result['structuredContent'].message, result['content'][0].text);
    return result;
  };
  const content = async (name: string, args = {}) => (await call(name, args))['structuredContent'];
  const ids = (devices: readonly { device: string }[]) => devices.map(({ device }) => device);

  it('list_devices pages through all devices, in order, each once', async () => {
    const all = await content('list_devices', { limit: 100 });
    const seen: string[] = [];
    let cursor: string | undefined;
    do {
      const page = await content('list_devices', { limit: '2', ...(cursor && { cursor }) });
      assert.ok(page.devices.length <= 2);
      seen.push(...ids(page.devices));
      cursor = page.nextCursor;
    } while (cursor !== undefined);
    assert.deepEqual(seen, ids(all.devices));
    assert.deepEqual(seen, Object.keys(house.harness.catalogue.devices));
    assert.equal(all.total, seen.length);
  });

  it('list_devices finds by query, tells what a field takes, and says when nothing matches', async () => {
    const { message } = await content('list_devices', { query: 'BEDROOM' });
    assert.match(
      message,
      /^1 of 1 devices:\n- bedroom-ac: "Bedroom air conditioner" in "Bedroom": temperature \(.*5–35 °C.*\)$/,
    );
    assert.match((await content('list_devices', { query: 'zzzzzz' })).message, /No device matches "zzzzzz"/);
  });

  it('list_devices refuses a limit out of range and a cursor that it never gave', async () => {
    const cases = [
      [{ limit: 0 }, /limit is not valid. It must be a whole number from 1 to 100/],
      [{ limit: 'many' }, /limit is not valid/],
      [{ cursor: 'zzz' }, /cursor is not one/],
    ] as const;
    for (const [args, expected] of cases) {
      const result = await call('list_devices', args);
      assert.equal(result['isError'], true);
      assert.match(result['structuredContent'].message, expected);
    }
  });

  it('get_device_state says what a device shows and how old that is', async () => {
    const { message, fields, at } = await content('get_device_state', { device: 'bedroom-ac' });
    assert.match(message, /^"Bedroom air conditioner" shows temperature [\d.]+ °C \(read \d+ m?s ago\)\.$/);
    assert.deepEqual([typeof fields.temperature.value, fields.temperature.unit], ['number', '°C']);
    assert.ok(Math.abs(Date.now() - Date.parse(at)) < 10_000);
  });

  it('get_device_state says that a device cannot be read, as an error', async () => {
    await house.harness.admin('PATCH', '/devices/dead-lamp/behaviour', { onRead: { status: 503 } });
    const result = await call('get_device_state', { device: 'dead-lamp' });
    await house.harness.admin('PATCH', '/devices/dead-lamp/behaviour', { onRead: null });
    assert.equal(result['isError'], true);
    assert.match(result['structuredContent'].message, /"dead-lamp" can't be read: .*503.*unknown/);
  });

  it('get_device_state names an unknown device, and what was meant', async () => {
    const result = await call('get_device_state', { device: 'bedroom' });
    assert.equal(result['isError'], true);
    assert.match(result['structuredContent'].message, /"bedroom".*bedroom-ac/);
  });

  it('get_command and cancel_command say the same of every id that is not the caller’s', async () => {
    await content('set_device_state', setting('bedroom-ac'));
    const texts = new Set<string>();
    for (const tool of ['get_command', 'cancel_command'])
      for (const commandId of [
        'nothing',
        'lane/bedroom-ac',
        'x'.repeat(900),
        '5d6f7a1e-0000-4000-8000-000000000000',
      ]) {
        const result = await call(tool, { commandId });
        assert.equal(result['isError'], true);
        texts.add(result['structuredContent'].message);
      }
    assert.equal(texts.size, 1, [...texts].join('\n'));
  });

  it('get_command without an id lists the caller’s own, newest first', async () => {
    const first = await content('set_device_state', setting('bedroom-ac'));
    const second = await content('set_device_state', setting('bedroom-ac'));
    const { commands, message } = await content('get_command');
    const [newest, next] = commands;
    assert.deepEqual(
      [newest.commandId, newest.outcome, next.commandId],
      [second.commandId, 'verified', first.commandId],
    );
    assert.match(
      message,
      new RegExp(`- ${second.commandId}: "Bedroom air conditioner" temperature .* °C: verified`),
    );
  });

  it('cancel_command stops a command and says what had been sent; later it changes nothing', async () => {
    const waiting = await content('set_device_state', setting('boiler'));
    const cancelled = await call('cancel_command', { commandId: waiting.commandId });
    assert.equal(cancelled['isError'], false);
    const { outcome, sent, done } = cancelled['structuredContent'];
    assert.deepEqual([outcome, sent.count, done], ['cancelled', 0, true]);
    const again = await content('cancel_command', { commandId: waiting.commandId });
    assert.match(again.message, /^It had ended already/);
    assert.equal(again.outcome, 'cancelled');
  });

  it('names the tools there are when asked for another', async () => {
    const { error } = await callTool(url, 'open_door', {});
    assert.equal(error?.code, -32602);
    assert.match(
      error?.message ?? '',
      /list_devices, get_device_state, set_device_state, get_command, cancel_command/,
    );
  });
});
