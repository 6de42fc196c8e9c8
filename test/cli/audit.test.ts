import assert from 'node:assert/strict';
import { existsSync, readFileSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { after, before, describe, it } from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';
import { type Harness, LOCAL, startReadback } from '../harness/readback.ts';
import { readback, temporaryFolder } from './readback.ts';

const HOSTILE = '\u001b[2Jred\u202e\u2028{"kind":"decision"}';
/** As odd as a value may be: what nobody would see is refused before. */
const ODD = 'red\u2028{"kind":"decision"}\n\ttwo lines';
const folder = temporaryFolder();

interface Line {
  readonly id: string;
  readonly kind: string;
  readonly client: string;
  readonly requested: { readonly label: { readonly value: string } };
}

describe('`audit export`', { timeout: 120_000 }, () => {
  let harness: Harness;
  before(async () => {
    harness = await startReadback({
      devices: { sign: { state: { label: 'closed' } } },
      catalogue: `
version: 1
connections: { sim: { kind: http, baseUrl: "simulator:" } }
defaults: { settle: { first: 100ms, every: 200ms, within: 5s, stable: 300ms } }
devices:
  sign: { connection: sim, send: { request: PUT /devices/sign, repeatable: true }, read: GET /devices/sign, fields: { label: { type: text } } }
`,
    });
    await harness.carryOut('sign', { label: ODD }, { caller: { ...LOCAL, client: HOSTILE } });
    // What is newer than that is left to a later export.
    await sleep(10_500);
  });
  after(async () => {
    await harness?.close();
    folder.remove();
  });

  const exported = (...args: readonly string[]) =>
    readback(['audit', 'export', '--temporal', harness.temporal.address, ...args], {
      cwd: folder.path,
      env: { READBACK_DATA_DIR: folder.path },
    });
  const linesOf = (text: string): Line[] =>
    text
      .trimEnd()
      .split('\n')
      .map((line) => JSON.parse(line) as Line);

  it('writes one record a line to stdout, and to stderr where to go on and how long histories are kept', async () => {
    const { code, stdout, stderr } = await exported();
    assert.equal(code, 0, stderr);
    assert.deepEqual(
      linesOf(stdout).map(({ kind }) => kind),
      ['accepted', 'send', 'ended'],
    );
    assert.match(stderr, /^3 records of 1 command, all that is kept to /);
    assert.match(stderr, /it is kept until \d{4}-/);
    assert.match(stderr, /Go on with --since \d{4}-.*Z, before \d{4}-/);
  });

  it('keeps what strangers wrote exact, and harmless to the terminal that shows it', async () => {
    const { stdout } = await exported();
    assert.match(stdout, /^[\x20-\x7e\n\u00a0-\u2027\u2030-\u205f]*$/u);
    for (const { requested } of linesOf(stdout)) assert.equal(requested.label.value, ODD);
  });

  it('writes a file that only its owner reads, replaces none, and leaves no draft', async () => {
    const file = join(folder.path, 'audit.jsonl');
    const { code, stdout } = await exported('--output', file, '--json');
    assert.equal(code, 0);
    const summary = JSON.parse(stdout) as Record<string, unknown>;
    assert.deepEqual([summary['records'], summary['commands'], summary['since']], [3, 1, null]);
    assert.equal(readFileSync(file, 'utf8'), (await exported()).stdout);
    assert.equal(statSync(file).mode & 0o777, 0o600);
    const again = await exported('--output', file);
    assert.equal(again.code, 2);
    assert.match(again.stderr, /is there already/);
    assert.ok(!existsSync(`${file}.part`));
    writeFileSync(join(folder.path, 'taken.part'), '');
    const meanwhile = await exported('--output', join(folder.path, 'taken'));
    assert.deepEqual([meanwhile.code, existsSync(join(folder.path, 'taken'))], [2, false]);
    assert.match(meanwhile.stderr, /another export writes it, or was broken off/);
  });

  it('goes on exactly where the last export said', async () => {
    const first = await exported('--json', '--output', join(folder.path, 'first.jsonl'));
    const { until } = JSON.parse(first.stdout) as { until: string };
    const next = await exported('--since', until, '--json');
    assert.equal(next.code, 0);
    assert.equal(next.stdout, '');
    assert.equal((JSON.parse(next.stderr) as { since: string }).since, until);
    const other = await exported('--device', 'somebody-else');
    assert.deepEqual([other.code, other.stdout], [0, '']);
  });

  it('ends with 2 for a time that is none or a range that is empty, and with 3 without Temporal', async () => {
    for (const time of ['yesterday', '2026-11-30T08:00', '2026-13-01']) {
      const { code, stderr } = await exported('--since', time);
      assert.equal(code, 2);
      assert.match(stderr, /A time looks like/);
    }
    const { code, stdout, stderr } = await exported('--since', '2099-01-01', '--json');
    assert.equal(code, 2);
    assert.match(stderr, /range is empty/);
    assert.equal((JSON.parse(stdout) as { exitCode: number }).exitCode, 2);
    const nowhere = await readback([
      'audit',
      'export',
      '--temporal',
      '127.0.0.1:1',
      '--data-dir',
      folder.path,
    ]);
    assert.equal(nowhere.code, 3);
  });
});
