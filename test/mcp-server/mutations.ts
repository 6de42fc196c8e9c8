/** What becomes of a valid request on a bad day: one thing in it is changed, as JSON or as text. The same for the same seed. */
import fc from 'fast-check';

/** A request body as it travels, and the JSON-RPC message in it where there still is one. */
export interface Mutation {
  readonly text: string;
  readonly message: any;
}

/** `count` of them, each unlike all others. */
export function mutationsOf(
  request: Readonly<Record<string, unknown>>,
  count: number,
  seed: number,
): readonly Mutation[] {
  const found = new Map<string, Mutation>([[JSON.stringify(request), { text: '', message: null }]]);
  for (let round = 0; found.size <= count; round += 1)
    for (const mutation of fc.sample(mutated(request), { numRuns: count, seed: seed + round }))
      if (!found.has(mutation.text)) found.set(mutation.text, mutation);
  return [...found.values()].slice(1, count + 1);
}

const HOSTILE_KEYS = [
  '__proto__',
  'constructor',
  'toString',
  'method',
  'result',
  'error',
  '',
  'a'.repeat(300),
  '\ud800',
];

const odd: fc.Arbitrary<unknown> = fc.oneof(
  fc.jsonValue(),
  fc.string({ unit: 'binary' }),
  fc.bigInt({ min: 2n ** 60n, max: 2n ** 200n }).map(Number),
  fc.constantFrom<unknown>(
    null,
    '',
    '\ud800',
    'x\udfff\ud800y',
    '\u202e\u0000',
    'x'.repeat(20_000),
    '../../etc/passwd',
    '{"a":1}',
    { method: 'x', result: {} },
    { toString: 'x', valueOf: null },
    nested(500),
    1e308,
    -1,
    12.5,
    Number.MAX_SAFE_INTEGER,
    true,
    [],
    {},
  ),
);

function mutated(request: Readonly<Record<string, unknown>>): fc.Arbitrary<Mutation> {
  const text = JSON.stringify(request);
  const paths = pathsIn(request);
  const objects = [[], ...paths].filter((path) => isObject(memberAt(request, path)));
  // What every request says of its client is but one of the things that can be wrong.
  const [about, own] = [true, false].map((inMeta) => paths.filter((at) => at.includes('_meta') === inMeta));
  const path = fc.oneof(
    { weight: 4, arbitrary: fc.constantFrom(...(own ?? [])) },
    ...(about?.length ? [{ weight: 1, arbitrary: fc.constantFrom(...about) }] : []),
  );
  const asJson: fc.Arbitrary<unknown> = fc.oneof(
    { weight: 6, arbitrary: fc.tuple(path, odd).map(([at, to]) => changed(request, at, () => to)) },
    { weight: 2, arbitrary: path.map((at) => changed(request, at, () => undefined)) },
    {
      weight: 2,
      arbitrary: fc
        .tuple(fc.constantFrom(...objects), fc.constantFrom(...HOSTILE_KEYS), odd)
        .map(([at, key, value]) => changed(request, at, (object) => withOwn(object, key, value))),
    },
    {
      weight: 1,
      arbitrary: fc.constantFrom([request], [request, request], [], { ...request, result: {} }, [[request]]),
    },
  );
  const asText = fc.oneof(
    fc
      .tuple(fc.nat(text.length), fc.nat(8), fc.string({ unit: 'binary', maxLength: 8 }))
      .map(([at, less, more]) => text.slice(0, at) + more + text.slice(at + less)),
    // The second of two equal keys.
    fc
      .tuple(fc.constantFrom(...keysIn(text)), odd)
      .map(
        ([at, value]) => `${text.slice(0, at.index)}${at[0]}${JSON.stringify(value)},${text.slice(at.index)}`,
      ),
    fc.nat(text.length).map((at) => text.slice(0, at)),
  );
  return fc.oneof(
    { weight: 5, arbitrary: asJson.map((message) => ({ text: JSON.stringify(message), message })) },
    { weight: 1, arbitrary: asText.map((broken) => ({ text: broken, message: parsed(broken) })) },
  );
}

type Path = readonly string[];

function pathsIn(value: unknown, path: Path = []): Path[] {
  if (typeof value !== 'object' || value === null) return [];
  return Object.entries(value).flatMap(([key, member]) => [
    [...path, key],
    ...pathsIn(member, [...path, key]),
  ]);
}

const isObject = (value: unknown): boolean =>
  typeof value === 'object' && value !== null && !Array.isArray(value);

const memberAt = (value: any, path: Path): unknown => path.reduce((at, key) => at?.[key], value);

/** `value` with what is at `path` put through `change`; undefined removes it. */
function changed(value: any, [key, ...rest]: Path, change: (old: unknown) => unknown): unknown {
  if (key === undefined) return change(value);
  const to = changed(value[key], rest, change);
  if (Array.isArray(value)) return value.map((member, index) => (String(index) === key ? to : member));
  const { [key]: _, ...others } = value;
  return to === undefined ? others : withOwn(others, key, to);
}

/** Also for `__proto__`, which `JSON.parse` makes an ordinary key. */
const withOwn = (object: any, key: string, value: unknown): object =>
  Object.defineProperty({ ...object }, key, { value, enumerable: true, configurable: true, writable: true });

const keysIn = (text: string): RegExpExecArray[] => [...text.matchAll(/"[^"]+":/g)];

function nested(depth: number): unknown {
  let value: unknown = 1;
  for (let level = 0; level < depth; level += 1) value = level % 2 === 0 ? [value] : { a: value };
  return value;
}

function parsed(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}
