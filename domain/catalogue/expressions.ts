/**
 * JSONata, tamed: the small language in which a catalogue says what a reply means.
 * Two things differ from JSONata: only a safe part of it is allowed (`allowed-syntax.ts`), and what is absent stays absent instead of
 * silently turning into `false`, `""` or the else branch.
 */
import jsonata from 'jsonata';
import { plain } from '../text.ts';
import type { Json } from '../values.ts';
import { refusal } from './allowed-syntax.ts';
import { lookups, type Node, presence, type References, references } from './syntax-tree.ts';

export type Evaluated = { readonly kind: 'value'; readonly value: Json } | { readonly kind: 'absent' };

/** An expression could not be evaluated, e.g. it compares a text with a number. `message` shows the expression and says why. */
export class ExpressionError extends Error {
  override readonly name = 'ExpressionError';
}

const MAX_LENGTH = 500;
/** `a ?? b` evaluates `a` twice, so nesting them doubles the work each time. */
const MAX_DEFAULTS = 8;
/** Belt and braces: what is allowed ends in microseconds, unless a device answers with hundreds of thousands of items. */
const LIMITS = { timeout: 1000, stack: 400, sequence: 200_000 };
/** Compiled expressions kept; a catalogue has a few hundred different ones. */
const MAX_CACHED = 5000;

type Compiled =
  | {
      readonly ok: true;
      readonly run: jsonata.Expression;
      /** Is everything there that it looks at? Compiled when it is first asked: loading a catalogue never asks. */
      readonly present: () => jsonata.Expression | null;
      readonly references: References;
      readonly lookups: () => readonly string[];
    }
  | { readonly ok: false; readonly problem: string };

const cache = new Map<string, Compiled>();

/** What is wrong with the source, in words; null: it may be used. */
export function expressionProblem(source: string): string | null {
  const compiled = compile(source);
  return compiled.ok ? null : compiled.problem;
}

/** Which names of the input and which `$names` an allowed expression looks at. Throws ExpressionError if it isn't allowed. */
export function expressionReferences(source: string): References {
  return usable(source).references;
}

/**
 * The paths without one of which an expression is absent, each an expression of its own. Those of both branches of a
 * conditional are among them. Throws ExpressionError if the expression isn't allowed.
 */
export function expressionLookups(source: string): readonly string[] {
  return usable(source).lookups();
}

/**
 * Evaluates an expression on `input` (e.g. `{ body, whole, status }`), with each of `bindings` as `$name`.
 * `absent`: something that it looks at isn't there. The value is a copy and holds no NaN or Infinity.
 * Throws ExpressionError where the expression isn't allowed, or doesn't fit the values that it finds.
 */
export async function evaluate(
  source: string,
  { input, bindings }: { readonly input: Json; readonly bindings: Readonly<Record<string, Json>> },
): Promise<Evaluated> {
  const { run, present } = usable(source);
  try {
    const everythingIsThere: unknown = (await present()?.evaluate(input, bindings)) ?? true;
    if (everythingIsThere !== true) return { kind: 'absent' };
    const result: unknown = await run.evaluate(input, bindings);
    return result === undefined ? { kind: 'absent' } : { kind: 'value', value: copy(result) };
  } catch (error) {
    throw new ExpressionError(`${quoted(source)}: ${plain(reason(error), 200)}`);
  }
}

function usable(source: string): Extract<Compiled, { ok: true }> {
  const compiled = compile(source);
  if (!compiled.ok) throw new ExpressionError(`${quoted(source)}: ${compiled.problem}`);
  return compiled;
}

function compile(source: string): Compiled {
  const known = cache.get(source);
  if (known !== undefined) return known;
  if (cache.size >= MAX_CACHED) cache.clear();
  const compiled = compileAfresh(source);
  cache.set(source, compiled);
  return compiled;
}

function compileAfresh(source: string): Compiled {
  if (source.trim() === '') return { ok: false, problem: 'the expression is empty' };
  if (source.length > MAX_LENGTH) {
    return {
      ok: false,
      problem: `it is ${source.length} characters long; at most ${MAX_LENGTH} are allowed`,
    };
  }
  if ((source.match(/\?\?|\?:/g) ?? []).length > MAX_DEFAULTS) {
    return { ok: false, problem: `at most ${MAX_DEFAULTS} defaults (??) are allowed` };
  }
  try {
    const run = jsonata(source, LIMITS);
    const tree = run.ast() as unknown as Node;
    const refused = refusal(tree);
    if (refused !== null) return { ok: false, problem: refused };
    return {
      ok: true,
      run,
      present: once(() => presenceOf(tree)),
      references: references(tree),
      lookups: once(() => lookups(tree)),
    };
  } catch (error) {
    return { ok: false, problem: plain(reason(error), 200) };
  }
}

function presenceOf(tree: Node): jsonata.Expression | null {
  const condition = presence(tree);
  return condition === null ? null : jsonata(condition, LIMITS);
}

function once<Result>(make: () => Result): () => Result {
  let made: { readonly result: Result } | undefined;
  return () => {
    made ??= { result: make() };
    return made.result;
  };
}

/** Through JSON: JSONata's own arrays carry marks, and its objects may be parts of the input. */
function copy(result: unknown): Json {
  const text = JSON.stringify(result, (_key, value: unknown) => {
    if (typeof value === 'number' && !Number.isFinite(value))
      throw new Error('the result is not a finite number');
    return value;
  });
  return JSON.parse(text) as Json;
}

/** JSONata throws plain objects with a `message` as well as errors. */
const reason = (error: unknown): string =>
  typeof error === 'object' && error !== null && 'message' in error ? String(error.message) : String(error);

const quoted = (source: string): string => `"${plain(source, 80)}"`;
