/** Reads YAML defensively: what would be misread, or would cost too much to read, is an error that says so. */
import { isNode, isScalar, Lexer, type Pair, parseDocument, type Scalar, visit, type YAMLMap } from 'yaml';

/** A thousand devices written out in full are about 0.5 MB. */
const MAX_CHARACTERS = 4_000_000;
const MAX_DEPTH = 60;
const MAX_MISTAKES = 20;
const MAX_SYNTAX_ERRORS = 2;

export type ParsedYaml =
  | { readonly ok: true; readonly value: unknown }
  | { readonly ok: false; readonly mistakes: readonly string[] };

/** The text as plain JSON values. YAML 1.2: `on`, `off`, `yes` and `no` are texts. */
export function parseYaml(text: string): ParsedYaml {
  const tooMuch = tooLarge(text) ?? tooDeep(text);
  if (tooMuch !== null) return { ok: false, mistakes: [tooMuch] };
  const document = parseDocument(text, {
    version: '1.2',
    merge: false,
    uniqueKeys: false,
    prettyErrors: false,
    logLevel: 'error',
  });
  const syntax = [...document.errors, ...document.warnings].map(
    ({ message, pos }) => `${lineAt(text, pos[0])}${message}${hintFor(message)}`,
  );
  // What follows a syntax error is mostly its consequence.
  const mistakes = syntax.slice(0, MAX_SYNTAX_ERRORS);
  if (document.directives?.yaml.explicit === true && document.directives.yaml.version !== '1.2') {
    mistakes.push('%YAML 1.1 is not supported: leave the directive out');
  }
  const note = (mistake: string | null, node: unknown): void => {
    if (mistake !== null) mistakes.push(`${lineOf(text, node)}${mistake}`);
  };
  visit(document, {
    // Checked here because the parser compares each key of a map with every other.
    Map: (_key, map) => {
      for (const [mistake, node] of duplicates(map)) note(mistake, node);
    },
    Pair: (_key, pair) => note(keyMistake(pair), pair.key),
    Scalar: (_key, scalar) => note(scalarMistake(scalar), scalar),
  });
  if (mistakes.length > 0) return { ok: false, mistakes: [...new Set(mistakes)].slice(0, MAX_MISTAKES) };
  try {
    return { ok: true, value: document.toJS({ maxAliasCount: 100 }) };
  } catch {
    return { ok: false, mistakes: ['aliases (*name) repeat too much of the file: use a profile instead'] };
  }
}

function tooLarge(text: string): string | null {
  if (text.length <= MAX_CHARACTERS) return null;
  return `the file has ${text.length} characters; at most ${MAX_CHARACTERS} are read`;
}

/** The parser says what it met; most often the author forgot quotes. */
const hintFor = (message: string): string =>
  /^Unexpected (flow|scalar)/.test(message) ? ' (inside { … } a text with [ ] { } or , needs quotes)' : '';

/** Looked at before parsing: the parser recurses, and deep nesting ends the whole process. */
function tooDeep(text: string): string | null {
  let brackets = 0;
  let dashes = 0;
  for (const token of new Lexer().lex(text)) {
    if (token === '[' || token === '{') brackets++;
    else if (token === ']' || token === '}') brackets--;
    else if (token === '-' || token === '?') dashes++;
    else if (token === '\n') dashes = 0;
    else if (/^ +$/.test(token) && token.length > 4 * MAX_DEPTH) dashes = MAX_DEPTH + 1;
    if (brackets > MAX_DEPTH || dashes > MAX_DEPTH) return `it is nested more than ${MAX_DEPTH} deep`;
  }
  return null;
}

/** What is wrong with a key; null: nothing. */
function keyMistake({ key }: Pair): string | null {
  if (!isScalar(key)) return 'a key has to be a plain text, not a list, a map or an alias';
  if (key.value === '<<')
    return 'merging with << is not supported: write a profile, and use "profile" or "extends"';
  if (key.value === '__proto__') return '__proto__ cannot be a key';
  if (typeof key.value === 'string' || typeof key.value === 'number') return null;
  return `the key ${String(key.source ?? key.value)} is no text: put it in quotes`;
}

function scalarMistake({ value, source }: Scalar): string | null {
  if (typeof value !== 'number' && typeof value !== 'bigint') return null;
  const written = String(source ?? value);
  if (typeof value === 'bigint' || !Number.isFinite(value)) return `${written} is no number that can be used`;
  if (/^[-+]?0\d/.test(written))
    return `${written} would become ${value}: put it in quotes, or drop the zeros`;
  const exact = !Number.isInteger(value) || Number.isSafeInteger(value);
  return exact ? null : `${written} is too large to stay exact: put it in quotes`;
}

function* duplicates(map: YAMLMap): Generator<readonly [string, unknown]> {
  const seen = new Set<string>();
  for (const { key } of map.items) {
    if (!isScalar(key)) continue;
    const name = String(key.value);
    if (seen.has(name))
      yield [`the key ${JSON.stringify(name)} is there already, further up in the same map`, key];
    seen.add(name);
  }
}

function lineOf(text: string, node: unknown): string {
  const offset = isNode(node) ? node.range?.[0] : undefined;
  return offset === undefined ? '' : lineAt(text, offset);
}

const lineAt = (text: string, offset: number): string => `line ${text.slice(0, offset).split('\n').length}: `;
