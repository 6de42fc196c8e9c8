import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import fc from 'fast-check';
import {
  ExpressionError,
  evaluate,
  expressionProblem,
  expressionReferences,
} from '../../../domain/catalogue/expressions.ts';
import type { Json } from '../../../domain/values.ts';

const ABSENT = Symbol('absent');

async function valueOf(
  source: string,
  body: Json,
  bindings: Readonly<Record<string, Json>> = {},
): Promise<Json | typeof ABSENT> {
  const result = await evaluate(source, { input: { status: 200, body, whole: body }, bindings });
  return result.kind === 'absent' ? ABSENT : result.value;
}

describe('what is absent stays absent', () => {
  const body = {
    state: 'opening',
    list: [{ id: 'A', on: true }, { id: 'B' }],
    errors: [],
    nothing: null,
    map: { cool: { set: 21 } },
  };
  const table: readonly (readonly [string, Json | typeof ABSENT, string])[] = [
    ['body.state', 'opening', 'a path that is there'],
    ['body.gone', ABSENT, 'a path that is not'],
    ['body.nothing', null, 'null is there'],
    ['body.gone = 1', ABSENT, 'a comparison would have been false'],
    ['body.gone != 1', ABSENT, 'or'],
    ['$not(body.gone)', ABSENT, 'or true'],
    ['"x" & body.gone', ABSENT, 'a text would have been cut short'],
    ['body.gone = 1 ? "a" : "b"', ABSENT, 'a conditional would have taken its else branch'],
    [
      'body.state = "opening" ? body.state : body.gone',
      'opening',
      'of a conditional only the branch taken counts',
    ],
    ['body.state = "shut" ? body.state : body.gone', ABSENT, 'and that one does'],
    ['$exists(body.gone) ? body.gone : 0', 0, 'asking about absence is possible'],
    ['$exists(body.gone)', false, 'in $exists'],
    ['(body.gone ?? false) = true', false, 'with a default'],
    ['(body.gone ?? body.lost) = true', ABSENT, 'unless the default is absent too'],
    ['"jam" in body.gone', false, 'in "in"'],
    ['$count(body.gone) > 0', false, 'in $count'],
    ['$count(body.errors) > 0', false, 'an empty list counts nothing'],
    ['body.list[id = "C"].on = true', ABSENT, 'a predicate without a hit'],
    ['body.list[on = true].id', 'A', 'items without the key are no hit'],
    ['body.list[id = $id].on', true, 'a predicate with a parameter'],
    ['body.list[id = $other].on', ABSENT, 'and with one that is absent'],
    ['$lookup(body.map, "cool").set', 21, 'a look-up'],
    ['$lookup(body.map, "heat").set', ABSENT, 'and one that finds nothing'],
    ['$lookup(body.map, "heat") = 21', ABSENT, 'even inside a comparison'],
    ['$wire.mode & "/x"', 'cool/x', 'a member of a binding'],
    ['$wire.temperature & "/x"', ABSENT, 'and one that was not asked'],
    ['$unbound', ABSENT, 'a binding that is none'],
    ['[body.state, body.gone]', ABSENT, 'inside a list'],
    ['{ "a": body.gone }', ABSENT, 'inside a map'],
    ['-(body.gone)', ABSENT, 'behind a sign'],
    ['body.state = "opening" or body.gone = 1', ABSENT, 'or does not guess what the other side would be'],
  ];
  for (const [source, expected, why] of table) {
    it(`${source}: ${why}`, async () => {
      assert.deepEqual(await valueOf(source, body, { id: 'A', wire: { mode: 'cool' } }), expected);
    });
  }

  it('a predicate over a missing body is false or absent, never true: a 204 is no refusal', async () => {
    for (const source of [
      'body.status != "success"',
      '$count(body.errors) > 0',
      'body.code in [1, 2]',
      '$contains(body.reason, "no")',
    ]) {
      assert.notEqual(await valueOf(source, null), true, source);
    }
  });
});

describe('values', () => {
  it('lists with one item are scalars, as JSONata has it, and lists are plain', async () => {
    const body = { list: [{ id: 'A' }, { id: 'B' }] };
    const ids = await valueOf('body.list.id', body);
    assert.deepEqual(ids, ['A', 'B']);
    assert.deepEqual(Object.getOwnPropertyNames(ids), ['0', '1', 'length']);
    assert.equal(await valueOf('body.list[id = "A"].id', body), 'A');
  });

  it('are copies: changing one changes no reply', async () => {
    const body = { part: { on: true } };
    const result = (await valueOf('body.part', body)) as { on: boolean };
    result.on = false;
    assert.equal(body.part.on, true);
  });

  it('are never NaN or Infinity', async () => {
    for (const source of ['1 / 0', '[1 / 0]', '{ "a": -1 / 0 }', '$sum([1 / 0, -1 / 0])']) {
      await assert.rejects(valueOf(source, {}), ExpressionError, source);
    }
  });

  it('that do not fit are an error that shows the expression', async () => {
    await assert.rejects(valueOf('body.n < 3', { n: null }), (error: unknown) => {
      assert.ok(error instanceof ExpressionError);
      assert.match(error.message, /^"body\.n < 3": .*numeric or string/);
      return true;
    });
  });

  it('of other evaluations do not leak into one that runs at the same time', async () => {
    const results = await Promise.all(
      Array.from({ length: 50 }, (_, id) =>
        valueOf('body.list[id = $id].n', { list: [{ id, n: id * 2 }] }, { id }),
      ),
    );
    assert.deepEqual(
      results,
      Array.from({ length: 50 }, (_, id) => id * 2),
    );
  });

  it('do not reach what every object has', async () => {
    for (const source of [
      'body.constructor',
      'body.__proto__',
      '$lookup(body, "constructor")',
      'body.toString',
    ])
      assert.equal(await valueOf(source, {}), ABSENT, source);
  });
});

describe('what is not allowed', () => {
  const table: readonly (readonly [string, RegExp])[] = [
    ['', /empty/],
    ['x'.repeat(501), /501 characters long; at most 500/],
    ['body.a[', /Expected "\]"/],
    ['$$', /\$\$ is not allowed/],
    ['$$.body', /\$\$ is not allowed/],
    ['/(a+)+$/', /regular expressions/],
    ['$contains(body.x, /a/)', /regular expressions/],
    ['function($x) { $x }', /functions of your own/],
    ['($f := 1; $f)', /one expression only/],
    ['($f := 1)', /assigning/],
    ['body ~> $count', /chaining/],
    ['body ~> |a|{"b":1}|', /not allowed/],
    ['[1..1000000]', /\.\. is not allowed/],
    ['body.*', /wildcard \*/],
    ['body.**.x', /wildcard \*\*/],
    ['body.a.%.b', /parent operator/],
    ['body@$x.a', /context variables/],
    ['body#$i.a', /positional variables/],
    ['body^(a)', /sorting/],
    ['body{a: b}', /grouping/],
    ['body.(a)', /after a dot only a name/],
    ['body.[a]', /after a dot only a name/],
    ['body.$string()', /after a dot only a name/],
    ['$eval("1")', /\$eval is not allowed/],
    ['$now()', /\$now is not allowed/],
    ['$millis()', /\$millis is not allowed/],
    ['$random()', /\$random is not allowed/],
    ['$pad("x", 1000000000)', /\$pad is not allowed/],
    ['$replace(body.a, "a", "aa")', /\$replace is not allowed/],
    ['$join(body.a, "aa")', /\$join is not allowed/],
    ['$map(body.a, $string)', /\$map is not allowed/],
    ['$sum', /can only be called/],
    ['$pad', /can only be called/],
    ['$toMillis(body.at, "[Y,*-1000000]")', /one argument/],
    ['$substring(?, 1)', /partial/],
    ['body.f(1)', /only named functions|after a dot/],
    [`a${'??b'.repeat(9)}`, /at most 8 defaults/],
    [`${'('.repeat(240)}a${')'.repeat(240)}`, /nested more than/],
    [`${'$string(['.repeat(40)}a${'])'.repeat(40)}`, /nested more than/],
    [`a${'[b'.repeat(100)}${']'.repeat(100)}`, /nested more than/],
  ];
  for (const [source, problem] of table) {
    it(source.length > 60 ? `${source.slice(0, 57)}…` : source || '(nothing)', async () => {
      assert.match(String(expressionProblem(source)), problem);
      await assert.rejects(evaluate(source, { input: {}, bindings: {} }), ExpressionError);
    });
  }

  it('what is allowed ends soon, also on a reply that was made to be slow', async () => {
    const body = {
      list: Array.from({ length: 3000 }, (_, id) => ({ id, list: [{ id }] })),
      text: '"'.repeat(10_000),
    };
    const burning = [
      'body.list[$count($b.list[id in $b.list.id]) > 0].id',
      `${'$string(['.repeat(10)}body.text${'])'.repeat(10)}`,
      '(((((body.list ?? 1) ?? 1) ?? 1) ?? 1) ?? 1)',
    ];
    for (const source of burning) {
      assert.equal(expressionProblem(source), null, source);
      const start = performance.now();
      await valueOf(source, body, { b: body }).catch((error: unknown) =>
        assert.ok(error instanceof ExpressionError),
      );
      assert.ok(performance.now() - start < 10_000, `${source} took ${performance.now() - start} ms`);
    }
  });

  it('any text at all is either refused with words or evaluated: never an exception of another kind', async () => {
    const pieces = [
      'body',
      '.a',
      '[0]',
      '[id = $x]',
      '$exists(',
      ')',
      '$count(',
      ' ?? ',
      ' = ',
      '1',
      '"t"',
      ' in ',
      '[',
      ']',
      '{',
      '}',
      '$',
      '$$',
      '(',
      ' ? ',
      ' : ',
      '-',
      '/',
      '*',
      '~>',
      '@',
      '#',
      '%',
      '^',
      ';',
      ':=',
    ];
    await fc.assert(
      fc.asyncProperty(fc.array(fc.constantFrom(...pieces), { maxLength: 12 }), async (parts) => {
        const source = parts.join('');
        if (expressionProblem(source) !== null) return;
        await valueOf(source, { a: [1, { id: 2 }] }).catch((error: unknown) =>
          assert.ok(error instanceof ExpressionError, String(error)),
        );
      }),
      { numRuns: 1500 },
    );
  });
});

describe('what an expression looks at', () => {
  it('names the starts of its paths and its $names, with their members', () => {
    assert.deepEqual(
      expressionReferences(
        '$desired.lock = "x" or contact.body.open = false and list[id = $id].a > $before.body.n',
      ),
      {
        roots: ['contact', 'list'],
        variables: [
          { name: 'desired', member: 'lock' },
          { name: 'id', member: null },
          { name: 'before', member: 'body' },
        ],
      },
    );
  });

  it('leaves out what belongs to the items of a list', () => {
    assert.deepEqual(expressionReferences('body[id = 1 and $.kind = "x"].state').roots, ['body']);
  });
});
