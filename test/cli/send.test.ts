import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { after, before, describe, it } from 'node:test';
import { endOf, eventually, readback, start, startUp, temporaryFolder, type Up } from './readback.ts';

const folder = temporaryFolder();
const dataDir = join(folder.path, 'data');
const beside = { env: { READBACK_DATA_DIR: dataDir } };

/** What agents get, as far as it is looked at here. */
interface Shown {
  readonly commandId: string;
  readonly state: string;
  readonly outcome?: string;
  readonly done: boolean;
  readonly sent: { readonly count: number };
  readonly observed: Readonly<Record<string, { readonly value: unknown }>>;
}

describe('beside a running `up`, on the demo devices', { timeout: 240_000 }, () => {
  let up: Up;
  before(async () => {
    up = await startUp(dataDir);
  });
  after(async () => {
    up.process.kill('SIGTERM');
    await up.ended;
    folder.remove();
  });

  it('`devices list` shows what each field may be set to', async () => {
    const { code, stdout } = await readback(['devices', 'list', 'bedroom'], beside);
    assert.equal(code, 0);
    assert.match(stdout, /^bedroom-ac/);
    assert.match(stdout, /temperature: 16–30 °C, step 0\.5/);
  });

  it('`devices read` shows what the device says now', async () => {
    const { code, stdout } = await readback(['devices', 'read', 'bedroom-ac'], beside);
    assert.equal(code, 0);
    assert.match(stdout, /temperature: \d+(\.\d)? °C/);
  });

  it('`devices probe` shows what reads back, and with --measure how long that takes; the device is as before', async () => {
    const { code, stdout } = await readback(['devices', 'probe', 'bedroom-ac'], beside);
    assert.equal(code, 0, stdout);
    assert.match(stdout, /temperature: reads back, \d/);
    const before = await readback(['devices', 'read', 'desk-lamp', '--json'], beside);
    const measured = await readback(
      ['devices', 'probe', 'desk-lamp', '--measure', 'brightness=80', '--json'],
      beside,
    );
    assert.equal(measured.code, 0, measured.stderr);
    const { movements, suggested } = (
      JSON.parse(measured.stdout) as {
        measured: { movements: { field: string; to: number; arrivedMs: number }[]; suggested: object };
      }
    ).measured;
    assert.deepEqual(
      movements.map(({ field }) => field),
      ['brightness', 'brightness'],
    );
    assert.ok(movements.every(({ arrivedMs }) => arrivedMs < 30_000));
    assert.deepEqual(Object.keys(suggested), ['firstMs', 'everyMs', 'withinMs', 'stableMs', 'lagMs']);
    const after = await readback(['devices', 'read', 'desk-lamp', '--json'], beside);
    const fieldsIn = (text: string): unknown => (JSON.parse(text) as { fields: unknown }).fields;
    assert.deepEqual(fieldsIn(after.stdout), fieldsIn(before.stdout));
  });

  it('`devices probe --measure` sends nothing where there is no reading to go back to', async () => {
    const { code, stderr } = await readback(
      ['devices', 'probe', 'living-room-tv', '--measure', 'power=on'],
      beside,
    );
    assert.equal(code, 2);
    assert.match(stderr, /power of living-room-tv can't be measured: .*Nothing was sent/);
  });

  it('`devices probe --measure` sends nothing where what there is could not be sent back', async () => {
    const { simulatorUrl } = JSON.parse(readFileSync(join(dataDir, 'up.json'), 'utf8')) as {
      simulatorUrl: string;
    };
    const boiler = `${simulatorUrl}/admin/devices/boiler`;
    await fetch(`${boiler}/state`, { method: 'PATCH', body: JSON.stringify({ target: 99 }) });
    const { code, stderr } = await readback(['devices', 'probe', 'boiler', '--measure', 'target=40'], beside);
    assert.equal(code, 2);
    assert.match(
      stderr,
      /boiler can't be measured: what it has now could not be sent back\. target 99 is outside/,
    );
    const { counters } = (await (await fetch(boiler)).json()) as { counters: { sends: { arrived: number } } };
    assert.equal(counters.sends.arrived, 0);
  });

  it('Ctrl-C in the middle of a measurement says what goes on, and what the device had before', async () => {
    const measuring = start(['devices', 'probe', 'blind', '--measure', 'position=90'], beside);
    const end = endOf(measuring);
    let shown = '';
    measuring.stderr?.on('data', (chunk: string) => (shown += chunk));
    assert.ok(await eventually(() => shown.includes('sent once'), 30_000), shown);
    measuring.kill('SIGINT');
    const { code, stderr } = await end;
    assert.equal(code, 130);
    assert.match(
      stderr,
      /blind is not brought back: before, it had position=\d+\.\nStopped\. [0-9a-f]{32} goes on by itself/,
    );
  });

  it('`send --dry-run` shows the exact request and sends nothing', async () => {
    const { code, stdout } = await readback(
      ['send', 'bedroom-ac', 'temperature=18.5', '--dry-run', '--json'],
      beside,
    );
    assert.equal(code, 0);
    const dryRun = JSON.parse(stdout) as { requests: { body: unknown }[]; already: boolean };
    assert.equal(dryRun.requests.length, 1);
    assert.deepEqual(dryRun.requests[0]?.body, { temperature: 18.5 });
    const { stdout: state } = await readback(['devices', 'read', 'bedroom-ac', '--json'], beside);
    assert.notEqual(
      (JSON.parse(state) as { fields: { temperature: { value: unknown } } }).fields.temperature.value,
      18.5,
    );
  });

  it('`send --wait` shows the readings and ends with 0 once the device has verifiably followed', async () => {
    const { code, stdout, stderr } = await readback(
      ['send', 'bedroom-ac', 'temperature=26', '--wait'],
      beside,
    );
    assert.equal(code, 0, stderr);
    assert.match(stdout, /^ +\d+\.\d s {2}.*sent once/m);
    assert.match(stdout, /^VERIFIED {2}.*26 °C/m);
  });

  it('`send` returns once the command is accepted, and `commands get` tells how it ended', async () => {
    const sent = await readback(['send', 'bedroom-ac', 'temperature=21', '--json'], beside);
    assert.equal(sent.code, 0, sent.stderr);
    const { commandId, done } = JSON.parse(sent.stdout) as Shown;
    assert.equal(done, false);
    const watched = await readback(['commands', 'watch', commandId, '--json'], beside);
    const shown = JSON.parse(watched.stdout) as Shown;
    assert.equal(shown.outcome, 'verified');
    assert.equal(shown.sent.count, 1);
    assert.equal(shown.observed.temperature?.value, 21);
    const got = await readback(['commands', 'get', commandId, '--json'], beside);
    assert.equal(got.code, 0);
    assert.deepEqual((JSON.parse(got.stdout) as Shown).observed, shown.observed);
    const { stdout } = await readback(['commands', 'list', '--json', '--device', 'bedroom-ac'], beside);
    const { commands } = JSON.parse(stdout) as { commands: Shown[] };
    assert.equal(commands.find((command) => command.commandId === commandId)?.outcome, 'verified');
  });

  it('Ctrl-C stops watching and says how to go on, and the command is cancelled only when asked', async () => {
    const sending = start(['send', 'bedroom-ac', 'temperature=29', '--wait'], beside);
    const end = endOf(sending);
    let shown = '';
    sending.stdout?.on('data', (chunk: string) => (shown += chunk));
    assert.ok(await eventually(() => shown.includes('sent once'), 30_000), shown);
    sending.kill('SIGINT');
    const { code, stderr } = await end;
    assert.equal(code, 130);
    const [, commandId = ''] = /readback commands cancel (\S+)/.exec(stderr) ?? [];
    const still = JSON.parse(
      (await readback(['commands', 'get', commandId, '--json'], beside)).stdout,
    ) as Shown;
    assert.notEqual(still.outcome, 'cancelled');
    const cancelled = await readback(['commands', 'cancel', commandId, '--json'], beside);
    const { outcome } = JSON.parse(cancelled.stdout) as Shown;
    assert.ok(outcome === 'cancelled' || outcome === 'verified', outcome);
  });

  it('a value out of range ends with 2 and says what is allowed; nothing is sent', async () => {
    const { code, stderr } = await readback(['send', 'bedroom-ac', 'temperature=82'], beside);
    assert.equal(code, 2);
    assert.match(stderr, /82.*16–30 °C/);
    assert.match(stderr, /Nothing was sent/);
  });

  it('an unknown id ends with 2', async () => {
    const { code, stderr } = await readback(['commands', 'get', 'no-such-command'], beside);
    assert.equal(code, 2);
    assert.match(stderr, /There is no command "no-such-command"/);
  });

  it('`stdio` serves MCP through it, and writes nothing else to stdout', async () => {
    const { Client } = await import('@modelcontextprotocol/client');
    const { StdioClientTransport } = await import('@modelcontextprotocol/client/stdio');
    const client = new Client({ name: 'test', version: '1' });
    const bin = join(import.meta.dirname, '..', '..', 'bin', 'readback.mjs');
    await client.connect(
      new StdioClientTransport({ command: process.execPath, args: [bin, 'stdio', '--data-dir', dataDir] }),
    );
    const { tools } = await client.listTools();
    assert.equal(tools.length, 5);
    await client.close();
  });
});
