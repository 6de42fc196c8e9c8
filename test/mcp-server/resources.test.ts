import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import { ResourceListChangedNotificationSchema } from '@modelcontextprotocol/sdk/types.js';
import { createTemporalCommands } from '../../commands/temporal-commands.ts';
import type { Catalogue } from '../../domain/catalogue/definition.ts';
import { LOCAL } from '../harness/readback.ts';
import { legacyClient, modernClient } from './clients.ts';
import { listen } from './listening.ts';
import { type House, openHouse, setting } from './serving.ts';
import { stdioHost } from './stdio-host.ts';
import { ask, callTool, TASKS } from './wire.ts';

let house: House;
let url: string;
before(async () => {
  house = await openHouse();
  url = (await house.serve()).url;
});
after(() => house.close());

const CHANGED = 'notifications/resources/list_changed';

/** A client of each era, over each transport. */
async function clients() {
  const host = await stdioHost(house);
  const [modern, legacy, stdio] = [await modernClient(url), await legacyClient(url), await host.connect({})];
  return {
    each: { modern, legacy, stdio },
    async close() {
      await Promise.all([modern.close(), legacy.close(), stdio.close()]);
      await host.close();
    },
  };
}

const jsonOf = ({ contents }: { contents?: any }) => {
  assert.equal(contents.length, 1);
  return JSON.parse(contents[0].text);
};

describe('devices and commands as resources', () => {
  it('are listed and read alike by clients of both eras, over HTTP and stdio', async () => {
    const listed = await callTool(url, 'list_devices', { query: 'bedroom-ac' });
    const { commandId } = await house.harness.carryOut('bedroom-ac', { temperature: 21 });
    const { each, close } = await clients();
    for (const [era, client] of Object.entries(each)) {
      const { resources } = await client.listResources();
      const device = resources.find(({ name }) => name === 'bedroom-ac');
      assert.deepEqual(
        device,
        {
          uri: 'readback://devices/bedroom-ac',
          name: 'bedroom-ac',
          title: 'Bedroom air conditioner',
          mimeType: 'application/json',
        },
        era,
      );
      assert.ok(
        resources.some(({ uri }) => uri === `readback://commands/${commandId}`),
        era,
      );
      assert.deepEqual(
        jsonOf(await client.readResource({ uri: device.uri })),
        listed.result?.['structuredContent'].devices[0],
        era,
      );
      const command = jsonOf(await client.readResource({ uri: `readback://commands/${commandId}` }));
      const { structuredContent } = await client.callTool({ name: 'get_command', arguments: { commandId } });
      assert.deepEqual({ ...command, message: '' }, { ...(structuredContent as object), message: '' }, era);
      assert.equal(command.outcome, 'verified');

      const { resourceTemplates } = await client.listResourceTemplates();
      assert.deepEqual(
        resourceTemplates.map(({ uriTemplate }) => uriTemplate),
        ['readback://devices/{id}', 'readback://commands/{commandId}'],
      );
      const complete = async (uri: string | undefined, name: string, value: string) =>
        (
          await client.complete({
            ref: { type: 'ref/resource', uri: uri ?? '' },
            argument: { name, value },
          })
        ).completion.values;
      const [ofDevices, ofCommands] = resourceTemplates.map(({ uriTemplate }) => uriTemplate);
      assert.deepEqual(await complete(ofDevices, 'id', 'B'), ['bedroom-ac', 'boiler']);
      assert.deepEqual(await complete(ofCommands, 'commandId', commandId.slice(0, 9)), [commandId]);
    }
    await close();
  });

  it('come in pages, the own recent commands with the last one', async () => {
    const many = await commandsWith((catalogue) => {
      const lamp = catalogue.devices['dead-lamp'];
      const lamps = Array.from({ length: 205 }, (_, index) => ({ ...lamp, id: `lamp-${index}` }));
      return { ...catalogue, devices: Object.fromEntries(lamps.map((one) => [one.id, one])) as never };
    });
    const serving = await house.serve({}, many.commands);
    const sizes: number[] = [];
    const seen = new Set<string>();
    let cursor: string | undefined;
    do {
      const page = await ask(serving.url, 'resources/list', { ...(cursor && { cursor }) });
      const uris = page.result?.['resources'].map(({ uri }: { uri: string }) => uri) as string[];
      const devices = uris.filter((uri) => uri.startsWith('readback://devices/'));
      sizes.push(devices.length);
      for (const uri of devices) seen.add(uri);
      cursor = page.result?.['nextCursor'];
      assert.equal(devices.length < uris.length, cursor === undefined);
    } while (cursor !== undefined);
    assert.deepEqual([sizes, seen.size], [[100, 100, 5], 205]);
    const wrong = await ask(serving.url, 'resources/list', { cursor: 'nonsense' });
    assert.equal(wrong.error?.code, -32602);
    await many.close();
  });

  it("have one and the same error for what is unknown and for somebody else's", async () => {
    const theirs = await house.harness.submit('slow-ac', setting('slow-ac').desired, {
      caller: { ...LOCAL, subject: 'somebody else' },
    });
    const errors = [];
    for (const uri of [
      `readback://commands/${theirs}`,
      `readback://commands/${theirs.replace(/./g, '0')}`,
      'readback://devices/no-such-device',
      'readback://devices/../commands',
      'file:///etc/passwd',
    ]) {
      const { error } = await ask(url, 'resources/read', { uri });
      assert.deepEqual(error?.data, { uri });
      errors.push({ code: error?.code, message: error?.message });
    }
    assert.equal(errors[0]?.code, -32602);
    for (const error of errors) assert.deepEqual(error, errors[0]);
    const { result } = await ask(url, 'resources/list', {});
    assert.doesNotMatch(JSON.stringify(result), new RegExp(theirs));
  });
});

describe('what may be kept of answers', () => {
  it('is said on each cacheable one, and publicly only where it is the same for everybody', async () => {
    const running = await house.harness.submit('attic-ac', setting('attic-ac').desired);
    const hints = async (method: string, params = {}) => {
      const { result, error } = await ask(url, method, params);
      assert.ok(result, JSON.stringify(error));
      return [result['cacheScope'], result['ttlMs']];
    };
    assert.deepEqual(
      {
        discover: await hints('server/discover'),
        tools: await hints('tools/list'),
        templates: await hints('resources/templates/list'),
        resources: await hints('resources/list'),
        device: await hints('resources/read', { uri: 'readback://devices/boiler' }),
        running: await hints('resources/read', { uri: `readback://commands/${running}` }),
      },
      {
        discover: ['public', 3_600_000],
        tools: ['public', 3_600_000],
        templates: ['public', 3_600_000],
        resources: ['private', 5_000],
        device: ['private', 60_000],
        running: ['private', 0],
      },
    );
    await house.harness.commands.cancel(running, { kind: 'operator' });
  });

  it('is not said of questions, of calls, of errors, or to older clients', async () => {
    const asked = await callTool(url, 'set_device_state', setting('night-lamp'), {
      capabilities: { elicitation: { form: {} } },
    });
    assert.equal(asked.result?.['resultType'], 'input_required');
    const called = await callTool(url, 'list_devices', {});
    for (const { result } of [asked, called])
      for (const key of ['ttlMs', 'cacheScope']) assert.ok(!Object.hasOwn(result ?? {}, key), key);
    const legacy = await legacyClient(url);
    const answers = [
      await legacy.listResources(),
      await legacy.readResource({ uri: 'readback://devices/boiler' }),
    ];
    assert.doesNotMatch(JSON.stringify(answers), /ttlMs|cacheScope/);
    await legacy.close();
  });
});

describe('a change of the list', () => {
  it('is told to those who asked, of both eras, and only when the list is another one', async () => {
    let catalogue = house.harness.catalogue;
    const changing = await commandsWith(() => catalogue, { live: true });
    const serving = await house.serve({}, changing.commands);
    const told: string[] = [];
    const legacy = await legacyClient(serving.url);
    legacy.setNotificationHandler(ResourceListChangedNotificationSchema, () => void told.push('legacy'));
    assert.equal(legacy.getServerCapabilities()?.resources?.listChanged, true);
    assert.equal(legacy.getServerCapabilities()?.tools?.listChanged, false);
    const asking = await listen(
      serving.url,
      { resourcesListChanged: true, toolsListChanged: true },
      { capabilities: {} },
    );
    const tasksOnly = await listen(
      serving.url,
      { taskIds: [], resourcesListChanged: true },
      { capabilities: TASKS },
    );
    const acknowledged = await asking.until(({ method }) => method.endsWith('acknowledged'));
    assert.deepEqual(acknowledged['params'].notifications, { resourcesListChanged: true });

    const before = JSON.stringify(await ask(serving.url, 'tools/list', {}));
    const { boiler, ...others } = catalogue.devices;
    assert.ok(boiler);
    catalogue = {
      ...catalogue,
      devices: { ...catalogue.devices, boiler: { ...boiler, hint: 'Another hint.' } },
    };
    serving.catalogueChanged();
    catalogue = { ...catalogue, devices: { ...others, kettle: { ...boiler, id: 'kettle' } } };
    serving.catalogueChanged();
    for (const stream of [asking, tasksOnly]) await stream.until(({ method }) => method === CHANGED);
    catalogue = { ...catalogue, devices: others };
    serving.catalogueChanged();
    for (const stream of [asking, tasksOnly]) {
      await stream.until(() => stream.messages.filter(({ method }) => method === CHANGED).length > 1);
      stream.hangUp();
      await stream.closed;
      assert.equal(stream.messages.filter(({ method }) => method === CHANGED).length, 2);
    }
    await legacy.ping();
    assert.deepEqual(told, ['legacy', 'legacy']);
    assert.equal(JSON.stringify(await ask(serving.url, 'tools/list', {})), before);
    await legacy.close();
    await changing.close();
  });
});

/** Commands of a server whose catalogue is another one. */
async function commandsWith(change: (catalogue: Catalogue) => Catalogue, { live = false } = {}) {
  const { harness } = house;
  const fixed = live ? null : change(harness.catalogue);
  const commands = await createTemporalCommands({
    address: harness.temporal.address,
    namespace: 'default',
    catalogue: () => fixed ?? change(harness.catalogue),
    sealKey: harness.sealKey,
  });
  return { commands, close: () => commands.close() };
}
