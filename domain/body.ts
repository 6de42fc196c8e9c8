/**
 * Renders a body: a tree in which strings that start with `=` are expressions. What wasn't asked is left out of it,
 * never filled with a guess: "brightness 50" must not switch a lamp off.
 */
import { evaluate, expressionReferences } from './catalogue/expressions.ts';
import { secretNamed } from './catalogue/secrets.ts';
import type { Json } from './values.ts';

export interface BodyScope {
  /** By name, without the `$`. `wire` holds the fields that the request carries, in the device's terms. */
  readonly bindings: Readonly<Record<string, Json>>;
  /** Fields that were asked, or completed from a fresh read. A part of the body that needs none of these is left out. */
  readonly carried: ReadonlySet<string>;
  /** Fields whose present value only helps to write the request (`uses`). */
  readonly helping: ReadonlySet<string>;
  /** What `$secret.name` stands for, where the request is written to be sent at once. null: to be looked at, so it is hidden. */
  readonly secrets: Readonly<Record<string, string>> | null;
}

/** What stands for a secret wherever one is not shown. */
export const HIDDEN = '•••';

export type RenderedBody =
  | { readonly kind: 'value'; readonly value: Json }
  /** Nothing in it was asked. */
  | { readonly kind: 'omitted' }
  /** It can't be written whole, so nothing may be sent. */
  | { readonly kind: 'problem'; readonly why: string };

export async function renderBody(tree: Json, scope: BodyScope): Promise<RenderedBody> {
  if (typeof tree === 'string')
    return tree.startsWith('=') ? renderLeaf(tree.slice(1), scope) : { kind: 'value', value: tree };
  if (isList(tree)) return renderList(tree, scope);
  if (tree !== null && typeof tree === 'object') return renderMap(tree, scope);
  return { kind: 'value', value: tree };
}

async function renderLeaf(source: string, scope: BodyScope): Promise<RenderedBody> {
  const name = secretNamed(source);
  if (name !== null) return secretLeaf(name, scope);
  const own = fieldsUsedBy(source).filter((name) => !scope.helping.has(name));
  const lacking = own.filter((name) => !scope.carried.has(name));
  if (lacking.length > 0 && lacking.length === own.length) return { kind: 'omitted' };
  if (lacking.length > 0) {
    const given = own.filter((name) => scope.carried.has(name));
    return {
      kind: 'problem',
      why: `${given.join(' and ')} can only be sent together with ${lacking.join(' and ')}`,
    };
  }
  const result = await evaluate(source, { input: null, bindings: scope.bindings });
  if (result.kind === 'value') return result;
  return { kind: 'problem', why: `${source} in the request's body has no value` };
}

/** Filled in beside the expressions: none of them ever sees a secret. */
function secretLeaf(name: string, { secrets }: BodyScope): RenderedBody {
  if (secrets === null) return { kind: 'value', value: HIDDEN };
  const secret = Object.hasOwn(secrets, name) ? secrets[name] : undefined;
  return secret === undefined
    ? { kind: 'problem', why: `the connection has no secret "${name}"` }
    : { kind: 'value', value: secret };
}

async function renderMap(tree: { readonly [key: string]: Json }, scope: BodyScope): Promise<RenderedBody> {
  const entries: [string, Json][] = [];
  for (const [key, branch] of Object.entries(tree)) {
    const rendered = await renderBody(branch, scope);
    if (rendered.kind === 'problem') return rendered;
    if (rendered.kind === 'value') entries.push([key, rendered.value]);
  }
  const isEmptied = entries.length === 0 && Object.keys(tree).length > 0;
  return isEmptied ? { kind: 'omitted' } : { kind: 'value', value: Object.fromEntries(entries) };
}

/** Places in a list have meanings: single values are all there or none; objects of their own may be left out. */
async function renderList(tree: readonly Json[], scope: BodyScope): Promise<RenderedBody> {
  const values: Json[] = [];
  let lacksValue = false;
  for (const branch of tree) {
    const rendered = await renderBody(branch, scope);
    if (rendered.kind === 'problem') return rendered;
    if (rendered.kind === 'value') values.push(rendered.value);
    else if (typeof branch === 'string') lacksValue = true;
  }
  if (lacksValue && values.length > 0 && tree.some((branch) => isAsked(branch, scope))) {
    return {
      kind: 'problem',
      why: `the list ${JSON.stringify(tree)} in the request's body can't be sent in part`,
    };
  }
  return (lacksValue || values.length === 0) && tree.length > 0
    ? { kind: 'omitted' }
    : { kind: 'value', value: values };
}

function isAsked(branch: Json, scope: BodyScope): boolean {
  return (
    typeof branch === 'string' &&
    branch.startsWith('=') &&
    fieldsUsedBy(branch.slice(1)).some((name) => scope.carried.has(name))
  );
}

/** Fields that an expression takes from `$wire` or `$desired`. */
function fieldsUsedBy(source: string): string[] {
  const taken = expressionReferences(source).variables.filter(
    ({ name }) => name === 'wire' || name === 'desired',
  );
  return [...new Set(taken.flatMap(({ member }) => (member === null ? [] : [member])))];
}

function isList(tree: Json): tree is readonly Json[] {
  return Array.isArray(tree);
}
