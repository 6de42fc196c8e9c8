import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { DeviceAdapter } from '../../activities/adapter.ts';
import { type InForce, putInForce } from '../../activities/in-force.ts';
import type { Catalogue } from '../../domain/catalogue/definition.ts';
import { loadCatalogue } from '../../domain/catalogue/load.ts';

/** Nobody listens at either broker: whether an adapter is closed shows in why it can't be read. */
async function catalogueWith({ attic = '1883', hall = '1884', hint = '' } = {}): Promise<Catalogue> {
  const device = (broker: string) =>
    `{ connection: ${broker}, send: { topic: lamp/set }, read: { topic: lamp }, fields: { power: onoff }, hint: "A lamp${hint}" }`;
  const yaml = `
version: 1
connections:
  attic: { kind: mqtt, url: "mqtt://127.0.0.1:${attic}", timeout: 1s }
  hall: { kind: mqtt, url: "mqtt://127.0.0.1:${hall}", timeout: 1s }
devices: { attic-lamp: ${device('attic')}, hall-lamp: ${device('hall')} }
`;
  const loaded = await loadCatalogue({ file: 'test.yaml', readFile: () => yaml, environment: {} });
  assert.ok(loaded.ok, JSON.stringify(loaded));
  return loaded.catalogue;
}

const adapterOf = (inForce: InForce, id: string): Promise<DeviceAdapter> =>
  inForce.use(async ({ catalogue, adapters }) => adapters(catalogue().devices[id]!));

async function isClosed(adapter: DeviceAdapter): Promise<boolean> {
  const { devices } = await catalogueWith();
  const context = { desired: null, before: null, kept: {}, baselineDeviceAt: null };
  const { sample } = await adapter.read(devices['attic-lamp']!, context, new AbortController().signal);
  return /Readback is stopping/.test(sample.trouble ?? '');
}

test('a connection that is as it was is kept, and a changed one is closed', async () => {
  const inForce = putInForce(await catalogueWith({ attic: '1', hall: '2' }));
  const [attic, hall] = [await adapterOf(inForce, 'attic-lamp'), await adapterOf(inForce, 'hall-lamp')];
  inForce.replace(await catalogueWith({ attic: '1', hall: '3', hint: ' on the table' }));
  assert.equal(await adapterOf(inForce, 'attic-lamp'), attic);
  assert.notEqual(await adapterOf(inForce, 'hall-lamp'), hall);
  assert.deepEqual([await isClosed(attic), await isClosed(hall)], [false, true]);
  await inForce.close();
  assert.ok(await isClosed(attic));
});

test('whoever is at work keeps the catalogue and the connections with which they began', async () => {
  const first = await catalogueWith({ attic: '1', hall: '2' });
  const second = await catalogueWith({ attic: '1', hall: '3' });
  const inForce = putInForce(first);
  const hall = await inForce.use(async ({ catalogue, adapters, isOutdated }) => {
    const mine = adapters(catalogue().devices['hall-lamp']!);
    assert.equal(isOutdated(), false);
    inForce.replace(second);
    assert.equal(isOutdated(), true);
    assert.equal(catalogue(), first);
    await inForce.use(async (later) => assert.equal(later.catalogue(), second));
    assert.equal(await isClosed(mine), false);
    return mine;
  });
  assert.ok(await isClosed(hall));
  await inForce.close();
});

test('a catalogue whose connections can not be opened changes nothing', async () => {
  const first = await catalogueWith();
  const inForce = putInForce(first);
  const attic = await adapterOf(inForce, 'attic-lamp');
  const broken = {
    ...first,
    connections: { ...first.connections, hall: { ...first.connections['hall']!, baseUrl: 'http://x' } },
  };
  assert.throws(() => inForce.replace(broken), /connection "hall".*needed by hall-lamp/);
  assert.equal(await adapterOf(inForce, 'attic-lamp'), attic);
  await inForce.use(async ({ catalogue }) => assert.equal(catalogue(), first));
  await inForce.close();
});
