import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { parseYaml } from '../../../domain/catalogue/yaml-file.ts';

const mistakes = (text: string): string => {
  const parsed = parseYaml(text);
  assert.ok(!parsed.ok, 'nothing was found');
  return parsed.mistakes.join('\n');
};

describe('YAML that would be misread', () => {
  it('on, off, yes and no are texts, with quotes or without', () => {
    assert.deepEqual(parseYaml('{ on: off, "off": "on", yes: no }'), {
      ok: true,
      value: { on: 'off', off: 'on', yes: 'no' },
    });
  });

  const table: readonly (readonly [string, string, RegExp])[] = [
    ['a key that is there twice', 'a:\n  b: 1\n  c: 2\n  b: 3', /^line 4: the key "b" is there already/],
    [
      'merging',
      'a: &a { x: 1 }\nb: { <<: *a }',
      /^line 2: merging with << is not supported: write a profile/,
    ],
    ['a number that would lose its zeros', 'id: 0042', /^line 1: 0042 would become 42: put it in quotes/],
    ['a number that would lose its last digits', 'id: 12345678901234567890', /too large to stay exact/],
    ['no number', 'min: .nan', /\.nan is no number/],
    ['infinity', 'max: .inf', /\.inf is no number/],
    ['a key that is true or false', 'values: { true: ON }', /the key true is no text: put it in quotes/],
    ['a key that is empty', '{ : 1 }', /no text|Implicit|key/],
    ['a key that is a list', '? [a, b]\n: 1', /plain text/],
    ['a key that is a trap', '__proto__: { x: 1 }', /__proto__ cannot be a key/],
    ['YAML 1.1, where on is true', '%YAML 1.1\n---\non: 1', /leave the directive out/],
    ['a tag', 'a: !!js/function "x"', /^line 1: Unresolved tag/],
    ['two documents', 'a: 1\n---\nb: 2', /^line 2: .*multiple documents/],
    ['what is not closed', 'a: { b: 1', /^line 1: /],
    [
      'an expression without its quotes',
      'read: { request: GET /x, pick: body[id = $id] }',
      /^line 1: .*needs quotes/,
    ],
    ['a tab', 'a:\n\tb: 1', /^line 2: /],
  ];
  for (const [what, text, expected] of table) it(what, () => assert.match(mistakes(text), expected));
});

describe('YAML that would cost too much', () => {
  const quickly = (text: string): string => {
    const start = performance.now();
    const found = mistakes(text);
    assert.ok(performance.now() - start < 5000, `took ${performance.now() - start} ms`);
    return found;
  };

  it('aliases that multiply', () => {
    const lines = ['a0: &a0 [x, x, x, x, x, x, x, x, x]'];
    for (let level = 1; level < 30; level++)
      lines.push(
        `a${level}: &a${level} [${Array(9)
          .fill(`*a${level - 1}`)
          .join(', ')}]`,
      );
    assert.match(quickly(lines.join('\n')), /aliases .* repeat too much/);
  });

  it('brackets without end', () =>
    assert.match(quickly(`a: ${'['.repeat(1_000_000)}`), /nested more than 60 deep/));
  it('maps without end', () =>
    assert.match(quickly(`a: ${'{a: '.repeat(100_000)}`), /nested more than 60 deep/));
  it('lists in lists in one line', () =>
    assert.match(quickly(`${'- '.repeat(100_000)}a`), /nested more than 60 deep/));
  it('indentation without end', () =>
    assert.match(
      quickly(Array.from({ length: 1000 }, (_, depth) => `${' '.repeat(depth)}a:`).join('\n')),
      /nested more than 60 deep/,
    ));
  it('more text than any catalogue has', () =>
    assert.match(quickly(`a: "${'x'.repeat(5_000_000)}"`), /at most 4000000/));
});
