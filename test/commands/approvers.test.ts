import assert from 'node:assert/strict';
import { mkdtempSync, readdirSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, it } from 'node:test';
import { type Approvers, openApprovers } from '../../commands/approvers.ts';
import { InputError } from '../../commands/commands.ts';

describe('the registry of approvers', () => {
  let folder: string;
  let approvers: Approvers;
  beforeEach(() => {
    folder = mkdtempSync(join(tmpdir(), 'readback-approvers-'));
    approvers = openApprovers(join(folder, 'approvers.json'));
  });
  afterEach(() => rmSync(folder, { recursive: true }));

  it('knows a person by a secret of 140 bits that it keeps nowhere', () => {
    const secret = approvers.add('Ann');
    assert.match(secret, /^([0-9a-hjkmnp-tv-z]{4}-){6}[0-9a-hjkmnp-tv-z]{4}$/);
    assert.equal(approvers.identify(secret)?.name, 'Ann');
    const kept = readFileSync(approvers.file, 'utf8');
    for (const spelling of [secret, secret.replaceAll('-', '')]) assert.ok(!kept.includes(spelling));
  });

  it('gives nobody the same secret', () => {
    const secrets = ['Ann', 'Bob', 'Cleo'].map((name) => approvers.add(name));
    assert.equal(new Set(secrets).size, 3);
    assert.deepEqual(
      secrets.map((secret) => approvers.identify(secret)?.name),
      ['Ann', 'Bob', 'Cleo'],
    );
  });

  it('takes a secret as people type it, and nothing else', () => {
    const secret = approvers.add('Ann');
    assert.equal(approvers.identify(` ${secret.toUpperCase().replaceAll('-', ' ')} `)?.name, 'Ann');
    const changed = (secret.startsWith('0') ? '1' : '0') + secret.slice(1);
    for (const wrong of ['', 'Ann', changed, secret.slice(0, -1), `${secret}0`, secret.repeat(50)])
      assert.equal(approvers.identify(wrong), null, wrong.slice(0, 40));
  });

  it('keeps its file to its owner, and leaves no draft behind', () => {
    approvers.add('Ann');
    assert.equal(statSync(approvers.file).mode & 0o777, 0o600);
    assert.deepEqual(readdirSync(folder), ['approvers.json']);
  });

  it('forgets a removed person, also where somebody of the same name comes after', () => {
    const first = approvers.add('Ann');
    const before = approvers.list()[0]?.fingerprint;
    assert.equal(approvers.remove('ann'), true);
    assert.equal(approvers.remove('ann'), false);
    assert.equal(approvers.identify(first), null);
    approvers.add('Ann');
    assert.equal(approvers.identify(first), null);
    assert.notEqual(approvers.list()[0]?.fingerprint, before);
  });

  it('refuses a name that is taken, that commands without sign-in have, or that could pass for another', () => {
    approvers.add('Zoë');
    const names = [
      'Zoë',
      'zoe\u0308',
      'local',
      'LOCAL',
      '',
      ' ',
      ' Ann',
      'a\nb',
      'a\u202eb',
      'a\u001b[31m',
      'x'.repeat(65),
    ];
    for (const name of names) assert.throws(() => approvers.add(name), InputError, JSON.stringify(name));
    assert.equal(approvers.list().length, 1);
  });

  it('tells every process at once', () => {
    const other = openApprovers(approvers.file);
    const secret = approvers.add('Ann');
    assert.equal(other.identify(secret)?.name, 'Ann');
    other.remove('Ann');
    assert.deepEqual(approvers.list(), []);
  });

  it('loses nobody where two change it at once: the second is told to try again', () => {
    writeFileSync(`${approvers.file}.new`, '');
    assert.throws(() => approvers.add('Ann'), /Somebody else changes the approvers/);
    rmSync(`${approvers.file}.new`);
    approvers.add('Ann');
  });

  it('lets nobody in where the file is damaged', () => {
    approvers.add('Ann');
    for (const content of ['', '{}', '{"version":1,"approvers":[{"name":"Ann"}]}', '[]']) {
      writeFileSync(approvers.file, content);
      assert.throws(() => approvers.identify(''), /is no file of approvers/);
      assert.throws(() => approvers.list(), /is no file of approvers/);
      assert.throws(() => approvers.add('Bob'), /is no file of approvers/);
    }
    assert.deepEqual(readdirSync(folder), ['approvers.json']);
  });
});
