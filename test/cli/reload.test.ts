import assert from 'node:assert/strict';
import { existsSync, readFileSync, renameSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { after, before, describe, it } from 'node:test';
import { Client, StreamableHTTPClientTransport } from '@modelcontextprotocol/client';
import { readback, eventually as soon, startUp, temporaryFolder, type Up } from './readback.ts';

/** Two seconds on a machine that has nothing else to do. */
const eventually = (condition: () => boolean): Promise<boolean> => soon(condition, 30_000);

const folder = temporaryFolder();
after(() => folder.remove());

/** The demo's simulated devices under names of our own. */
const lamp = (id: string): string =>
  `{ connection: house, with: { id: ${id} }, send: { request: "PUT /devices/{id}", repeatable: true }, read: "GET /devices/{id}", fields: { power: { type: onoff, key: onoff, values: { "on": [ON], "off": [OFF] } } }, settle: { first: 100ms, every: 200ms, stable: 300ms } }`;
const catalogueOf = (devices: Readonly<Record<string, string>>, more = ''): string =>
  [
    'version: 1',
    'connections: { house: { kind: http, baseUrl: "simulator:", auth: { bearer: "${file:token}" } } }',
    more,
    'devices:',
    ...Object.entries(devices).map(([id, device]) => `  ${id}: ${device}`),
    '',
  ].join('\n');

describe('a catalogue that changes while `readback up` runs', { timeout: 240_000 }, () => {
  const file = join(folder.path, 'readback.yaml');
  const included = join(folder.path, 'more.yaml');
  const dataDir = join(folder.path, 'data');
  let up: Up;
  let client: Client;
  const lists: unknown[] = [];

  /** As editors do it: written beside, then renamed over it. */
  const replace = (path: string, text: string): void => {
    writeFileSync(`${path}.new`, text);
    renameSync(`${path}.new`, path);
  };
  const devices = async (): Promise<string[]> => {
    const { structuredContent } = await client.callTool({ name: 'list_devices', arguments: {} });
    return (structuredContent as { devices: { device: string }[] }).devices.map(({ device }) => device);
  };
  const logOf = (role: string): string => {
    const log = join(dataDir, 'logs', `${role}.log`);
    return existsSync(log) ? readFileSync(log, 'utf8') : '';
  };
  const reloads = (role: string): number => logOf(role).split('catalogue reloaded').length - 1;
  const health = async () =>
    (await (await fetch(new URL('/healthz', up.ready.mcp))).json()) as {
      catalogue: { digest: string; asInFile: boolean };
    };

  before(async () => {
    writeFileSync(join(folder.path, 'token'), 'first-token-of-all');
    writeFileSync(file, catalogueOf({ 'desk-lamp': lamp('desk-lamp') }, 'include: more.yaml'));
    writeFileSync(included, 'devices: {}\n');
    up = await startUp(dataDir, ['--catalogue', file]);
    client = new Client({ name: 'test-host', version: '1' }, { versionNegotiation: { mode: 'auto' } });
    await client.connect(new StreamableHTTPClientTransport(new URL(up.ready.mcp)));
    client.setNotificationHandler('notifications/resources/list_changed', () => void lists.push('changed'));
    await client.listen({ resourcesListChanged: true });
  });
  after(async () => {
    await client?.close();
    up?.process.kill('SIGINT');
    await up?.ended;
  });

  it('has its new devices at once, tells clients, and verifies a command on one', async () => {
    replace(included, `devices:\n  attic-lamp: ${lamp('desk-lamp')}\n  reading-lamp: ${lamp('desk-lamp')}\n`);
    assert.ok(await eventually(() => reloads('serve') === 1 && reloads('worker') === 1), logOf('worker'));
    assert.deepEqual(await devices(), ['desk-lamp', 'attic-lamp', 'reading-lamp']);
    assert.ok(await eventually(() => lists.length === 1));
    for (const role of ['serve', 'worker'])
      assert.match(logOf(role), /catalogue reloaded: devices added: attic-lamp, reading-lamp"/);
    const sent = await readback(['send', 'reading-lamp', 'power=on', '--wait', '--data-dir', dataDir]);
    assert.equal(sent.code, 0, sent.stderr);
    assert.match(sent.stdout, /VERIFIED/);
  });

  it('stays as it was while the file is broken, and every part says what is wrong with it', async () => {
    const { digest } = (await health()).catalogue;
    replace(
      file,
      catalogueOf({ 'desk-lamp': lamp('desk-lamp').replace('onoff', 'onof'), other: '{ connection: hose }' }),
    );
    assert.ok(await eventually(() => /worker: .*stays in force/s.test(up.said().stderr)), up.said().stderr);
    assert.ok(await eventually(() => /serve: .*stays in force/s.test(up.said().stderr)), up.said().stderr);
    for (const place of [/devices\.desk-lamp\.fields\.power\.type/, /devices\.other\.connection/])
      assert.match(up.said().stderr, place);
    assert.deepEqual((await health()).catalogue, { digest, asInFile: false });
    const page = await (await fetch(up.ready.console)).text();
    assert.match(page, /devices\.desk-lamp\.fields\.power\.type/);
    assert.deepEqual(await devices(), ['desk-lamp', 'attic-lamp', 'reading-lamp']);
    const sent = await readback(['doctor', '--data-dir', dataDir]);
    assert.match(sent.stdout, /devices\.other\.connection/);
  });

  it('comes into force once it is mended, with several writes counted as one', async () => {
    const before = reloads('worker');
    for (const name of ['draft', 'better', 'kitchen-lamp'])
      writeFileSync(file, catalogueOf({ [name]: lamp('desk-lamp') }));
    assert.ok(await eventually(() => reloads('serve') > 1 && reloads('worker') > before), logOf('worker'));
    assert.deepEqual(await devices(), ['kitchen-lamp']);
    assert.equal(reloads('worker'), before + 1);
    assert.equal((await health()).catalogue.asInFile, true);
    assert.doesNotMatch(logOf('worker'), /draft|better/);
  });

  it('takes a changed secret file over, and SIGHUP has everything read anew', async () => {
    const before = reloads('worker');
    replace(join(folder.path, 'token'), 'second-token-of-all');
    assert.ok(await eventually(() => reloads('worker') === before + 1), logOf('worker'));
    assert.match(logOf('worker'), /catalogue reloaded: connections changed: house"/);
    const [ofServe, ofWorker] = [reloads('serve'), reloads('worker')];
    up.process.kill('SIGHUP');
    assert.ok(await eventually(() => reloads('serve') > ofServe && reloads('worker') > ofWorker));
    assert.match(logOf('serve'), /catalogue reloaded: nothing has changed"/);
    assert.doesNotMatch(logOf('worker') + logOf('serve'), /(first|second)-token/);
    assert.equal(up.process.exitCode, null);
  });
});
