import assert from 'node:assert/strict';
import { readdirSync, readFileSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { after, before, describe, it } from 'node:test';
import { readback, startUp, temporaryFolder, type Up } from './readback.ts';

const folder = temporaryFolder();
const dataDir = join(folder.path, 'data');
const catalogue = join(folder.path, 'readback.yaml');
const beside = { env: { READBACK_DATA_DIR: dataDir } };
const as = (secret: string) => ({ env: { ...beside.env, READBACK_APPROVER_SECRET: secret } });

const demo = readFileSync(join(import.meta.dirname, '..', '..', 'examples', 'demo.yaml'), 'utf8');
writeFileSync(
  catalogue,
  `${demo}
approvals:
  - { for: { device: desk-lamp }, by: operator, expires: 10m, reason: It dazzles. }
`,
);

interface Listed {
  readonly approvals: readonly { readonly commandId: string }[];
}

describe('approvals from a terminal, beside a running `up`', { timeout: 240_000 }, () => {
  let up: Up;
  let ann: string;
  before(async () => {
    up = await startUp(dataDir, ['--catalogue', catalogue]);
  });
  after(async () => {
    up.process.kill('SIGTERM');
    await up.ended;
    folder.remove();
  });

  /** Asks for something that an operator has to approve; its id once it waits. */
  async function ask(brightness: number): Promise<string> {
    const sent = await readback(['send', 'desk-lamp', `brightness=${brightness}`, '--json'], beside);
    const { commandId } = JSON.parse(sent.stdout) as { commandId: string };
    for (let tries = 0; tries < 20; tries += 1) {
      const { stdout } = await readback(['approvals', 'list', '--json'], beside);
      if ((JSON.parse(stdout) as Listed).approvals.some((one) => one.commandId === commandId))
        return commandId;
    }
    throw new Error(`${commandId} never waits: ${sent.stdout}`);
  }

  it('`up` warns loudly where a rule needs an operator and there is nobody, and says how to add one', () => {
    assert.match(up.said().stderr, /WARNING: 1 approval rule needs an operator, and there are no approvers/);
    assert.match(up.said().stderr, /readback approvers add "Your name" --data-dir/);
  });

  it('`up` and `serve` refuse to start like that where other machines reach them', async () => {
    const elsewhere = join(folder.path, 'elsewhere');
    const { code, stderr } = await readback(
      [
        ...['up', '--data-dir', elsewhere, '--catalogue', catalogue],
        ...['--host', '0.0.0.0', '--port', '0', '--anyone-may-command'],
      ],
      { env: { PATH: process.env.PATH ?? '' } },
    );
    assert.equal(code, 2);
    assert.match(
      stderr,
      /0\.0\.0\.0 can be reached from other machines\. Nothing was started\. Add one first: readback approvers add/,
    );
    const serve = await readback(
      ['serve', '--host', '0.0.0.0', '--port', '0', '--anyone-may-command'],
      beside,
    );
    assert.equal(serve.code, 2);
    assert.match(serve.stderr, /Nothing was started/);
  });

  it('nobody decides before there is an approver', async () => {
    const { code, stderr } = await readback(['approvals', 'approve', 'some-id'], as('a-secret'));
    assert.equal(code, 2);
    assert.match(stderr, /no approvers.*readback approvers add/s);
  });

  it('`approvers add` shows the secret once: it is in no log and no file', async () => {
    const { code, stdout } = await readback(['approvers', 'add', 'Ann', '--json'], beside);
    assert.equal(code, 0);
    ann = (JSON.parse(stdout) as { secret: string }).secret;
    const files = readdirSync(dataDir, { recursive: true, encoding: 'utf8' }).map((name) =>
      join(dataDir, name),
    );
    for (const file of files.filter((name) => statSync(name).isFile()))
      assert.ok(!readFileSync(file).includes(ann), file);
    assert.ok(!JSON.stringify(up.said()).includes(ann));
    const again = await readback(['approvers', 'add', 'ann'], beside);
    assert.equal(again.code, 2);
    assert.match((await readback(['approvers', 'list'], beside)).stdout, /^Ann {2}since 20/);
  });

  it('`approvers add --subject` says who they are to an issuer, which it needs to know', async () => {
    const adding = ['approvers', 'add', 'Ben', '--subject', 'b-24'];
    const without = await readback(adding, beside);
    assert.deepEqual([without.code, /--auth-issuer/.test(without.stderr)], [2, true]);
    const issuer = { env: { ...beside.env, READBACK_AUTH_ISSUER: 'https://login.example.com' } };
    assert.match((await readback(adding, issuer)).stdout, /as https:\/\/login\.example\.com#b-24/);
    const { stdout } = await readback(['approvers', 'list'], beside);
    assert.match(stdout, /^Ben {2}since \S+ {2}signs in as https:\/\/login\.example\.com#b-24$/m);
    assert.equal((await readback(['approvers', 'remove', 'Ben'], beside)).code, 0);
  });

  it('lists, shows and approves; the command runs then', async () => {
    const id = await ask(40);
    const { stdout: shown } = await readback(['approvals', 'show', id], beside);
    for (const words of [
      /Desk lamp \(desk-lamp\) {2}brightness .* → 40 %/,
      /It dazzles\. Needs an operator/,
      /asked by {3}local/,
      id,
    ])
      assert.match(shown, words instanceof RegExp ? words : new RegExp(words));
    // As the queue looks once its device is gone.
    const without = join(folder.path, 'without.yaml');
    writeFileSync(without, 'devices: {}\n');
    const lost = await readback(['approvals', 'list', '--catalogue', without], beside);
    assert.match(lost.stdout, new RegExp(`${id}.*VOID: its device is no longer in the catalogue`));
    assert.doesNotMatch(shown, /VOID/);
    const { code, stdout } = await readback(
      ['approvals', 'approve', id, 'no-such-id', '--comment', 'fine', '--json'],
      as(ann),
    );
    assert.equal(code, 1, 'one was not decided as asked');
    const { results } = JSON.parse(stdout) as { results: { kind: string; asAsked: boolean }[] };
    assert.deepEqual(
      results.map(({ kind, asAsked }) => [kind, asAsked]),
      [
        ['taken', true],
        ['unknown', false],
      ],
    );
    const watched = await readback(['commands', 'watch', id, '--json'], beside);
    assert.deepEqual(
      [watched.code, JSON.parse(watched.stdout).outcome, JSON.parse(watched.stdout).decidedBy],
      [0, 'verified', 'Ann'],
    );
    const twice = await readback(['approvals', 'approve', id], as(ann));
    assert.deepEqual([twice.code, /you approved it before; that stands/.test(twice.stdout)], [0, true]);
    assert.equal((await readback(['approvals', 'decline', id, '--reason', 'no'], as(ann))).code, 1);
  });

  it('declines with a reason, and the secret of a file', async () => {
    const id = await ask(60);
    const without = await readback(['approvals', 'decline', id], as(ann));
    assert.deepEqual([without.code, /needs --reason/.test(without.stderr)], [2, true]);
    const file = join(folder.path, 'secret');
    writeFileSync(file, `${ann}\n`);
    const { code, stdout } = await readback(['approvals', 'decline', id, '--reason', 'not now'], {
      env: { ...beside.env, READBACK_APPROVER_SECRET_FILE: file },
    });
    assert.deepEqual([code, stdout], [0, `${id}  declined\n`]);
    const ended = await readback(['commands', 'get', id], beside);
    assert.equal(ended.code, 1);
    assert.match(ended.stdout, /DECLINED.*Declined by Ann: "not now"/);
  });

  it('carries out an approval that was asked for before everything was restarted', async () => {
    const id = await ask(70);
    up.process.kill('SIGTERM');
    await up.ended;
    up = await startUp(dataDir, ['--catalogue', catalogue]);
    const approved = await readback(['approvals', 'approve', id], as(ann));
    assert.deepEqual([approved.code, approved.stdout], [0, `${id}  approved\n`]);
    const watched = await readback(['commands', 'watch', id, '--json'], beside);
    assert.equal(JSON.parse(watched.stdout).outcome, 'verified');
  });

  it('takes no wrong secret, none from elsewhere than a terminal, and none as an argument', async () => {
    const wrong = await readback(
      ['approvals', 'approve', 'some-id'],
      as('k3vf-0m9a-7t2d-qqe4-81xw-h5rn-c6jz'),
    );
    assert.deepEqual([wrong.code, /no approver’s secret/.test(wrong.stderr)], [2, true]);
    const nowhere = await readback(['approvals', 'approve', 'some-id'], beside);
    assert.deepEqual([nowhere.code, /READBACK_APPROVER_SECRET/.test(nowhere.stderr)], [2, true]);
    assert.equal((await readback(['approvals', 'approve', 'some-id', '--secret', ann], beside)).code, 2);
  });

  it('ends with 3 where Temporal can not be reached', async () => {
    const { code } = await readback(
      ['approvals', 'approve', 'some-id', '--temporal', '127.0.0.1:1'],
      as(ann),
    );
    assert.equal(code, 3);
  });

  it('the console of the running server knows the new approver at once', async () => {
    const response = await fetch(`${up.ready.console}api/pending`, {
      headers: { authorization: `Bearer ${ann}` },
    });
    assert.equal(response.status, 200);
    await readback(['approvers', 'remove', 'Ann'], beside);
    const after = await fetch(`${up.ready.console}api/pending`, {
      headers: { authorization: `Bearer ${ann}` },
    });
    assert.equal(after.status, 401);
  });
});
