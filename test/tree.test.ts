/** What may stand nowhere in the tree, since it means nothing, or something false, to whoever gets a copy. */
import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { it } from 'node:test';

const root = join(import.meta.dirname, '..');
/** Tracked files, and new ones that aren't ignored. */
const files = execFileSync(
  'git',
  ['ls-files', '--cached', '--others', '--exclude-standard', '--deduplicate'],
  {
    cwd: root,
    encoding: 'utf8',
  },
)
  .split('\n')
  .filter((file) => file !== '' && existsSync(join(root, file)));

/** `file:line: text` of every line that matches. */
function linesWith(pattern: RegExp, among: readonly string[] = files): string[] {
  return among
    .filter((file) => file !== 'test/tree.test.ts')
    .flatMap((file) =>
      readFileSync(join(root, file), 'utf8')
        .split('\n')
        .flatMap((line, index) => (pattern.test(line) ? [`${file}:${index + 1}: ${line.trim()}`] : [])),
    );
}

it('names no path of the machine that it was written on', () => {
  assert.deepEqual(linesWith(/(?<![\w.])\/(work|root)\/|\/tmp\/bash_jobs/), []);
});

it('names no host of a package registry: every client knows its own', () => {
  const hosts = [
    'registry.npmjs.org',
    'pypi.org',
    'pythonhosted.org',
    'proxy.golang.org',
    'deb.debian.org',
    'crates.io',
  ];
  assert.deepEqual(linesWith(new RegExp(hosts.map((host) => host.replaceAll('.', '\\.')).join('|'))), []);
});

it('leaves nothing marked as unfinished', () => {
  assert.deepEqual(linesWith(/\b(TODO|FIXME|XXX|HACK)\b/), []);
});

it('skips and narrows no test', () => {
  const tests = files.filter((file) => file.startsWith('test/'));
  assert.deepEqual(
    linesWith(/\b(it|test|describe|suite)\.(skip|only|todo)\b|\b(skip|only|todo): *true/, tests),
    [],
  );
});

it('has no drawer for odds and ends: a file is named after the thing in it', () => {
  const drawers = /(^|\/)(utils?|helpers?|commons?|managers?|misc|shared|lib)(\/|\.[a-z]+$)/i;
  assert.deepEqual(
    files.filter((file) => drawers.test(file)),
    [],
  );
});
