/**
 * What of JSONata is allowed. It is a full language: a regular expression, a recursion or a generator can burn a processor
 * for hours, and its time-out doesn't stop all of them. So nothing is allowed but what is listed here.
 */
import { children, filters, type Node } from './syntax-tree.ts';

/** Functions whose work and whose result stay in proportion to what they are given. */
const FUNCTIONS = new Set(
  (
    'abs append average boolean ceil contains count distinct exists floor fromMillis keys length lookup lowercase ' +
    'max min not number reverse round split sqrt string substring substringAfter substringBefore sum toMillis trim ' +
    'type uppercase'
  ).split(' '),
);
/** Every other function that JSONata brings: it may neither be called nor be hidden by a parameter's name. */
const REFUSED_FUNCTIONS = new Set(
  (
    'assert base64decode base64encode clone decodeUrl decodeUrlComponent each encodeUrl encodeUrlComponent error ' +
    'eval filter formatBase formatInteger formatNumber join map match merge millis now pad parseInteger power ' +
    'random reduce replace shuffle sift single sort spread zip'
  ).split(' '),
);
const OPERATORS = new Set(['+', '-', '*', '/', '%', '=', '!=', '<', '<=', '>', '>=', '&', 'in', 'and', 'or']);
/** Deeper than anybody writes by hand, and shallow enough that nested calls can't multiply a text into gigabytes. */
const MAX_DEPTH = 24;

/** Names that JSONata has functions for; no parameter may be called so. */
export const isFunctionName = (name: string): boolean => FUNCTIONS.has(name) || REFUSED_FUNCTIONS.has(name);

/** What is not allowed about this tree, in words; null: all of it is. */
export function refusal(node: Node, depth = 0): string | null {
  if (depth > MAX_DEPTH) return `it is nested more than ${MAX_DEPTH} deep`;
  for (const feature of ['focus', 'index', 'ancestor', 'tuple', 'group'] as const) {
    if (feature in node) return NOT_ALLOWED[feature];
  }
  for (const filter of filters(node)) {
    if (filter.type !== 'filter' || filter.expr === undefined)
      return 'positional variables (#) are not allowed';
    const inside = refusal(filter.expr, depth + 1);
    if (inside !== null) return inside;
  }
  return ownRefusal(node) ?? firstRefusal(children(node), depth + 1);
}

const NOT_ALLOWED = {
  focus: 'context variables (@) are not allowed',
  index: 'positional variables (#) are not allowed',
  ancestor: 'the parent operator (%) is not allowed',
  tuple: 'context variables (@, #) are not allowed',
  group: 'grouping ({…} after a path) is not allowed',
};

const REFUSED_TYPES: Readonly<Record<string, string>> = {
  regex: 'regular expressions are not allowed: use $contains(text, "part")',
  lambda: 'functions of your own are not allowed',
  apply: 'chaining (~>) is not allowed',
  transform: 'transforming (|…|) is not allowed',
  partial: 'partial application (?) is not allowed',
  bind: 'assigning (:=) is not allowed',
  sort: 'sorting (^) is not allowed',
  wildcard: 'the wildcard * is not allowed: name the field',
  descendant: 'the wildcard ** is not allowed: name the path',
  parent: 'the parent operator (%) is not allowed',
};

function ownRefusal(node: Node): string | null {
  switch (node.type) {
    case 'name':
    case 'string':
    case 'number':
    case 'value':
    case 'condition':
      return null;
    case 'variable':
      return variableRefusal(String(node.value));
    case 'path': {
      const later = (node.steps ?? []).slice(1).find((step) => step.type !== 'name');
      return later === undefined ? null : (REFUSED_TYPES[later.type] ?? 'after a dot only a name may follow');
    }
    case 'function':
      return callRefusal(node);
    case 'binary':
      if (OPERATORS.has(String(node.value))) return null;
      return `the operator ${String(node.value)} is not allowed`;
    case 'unary':
      return ['-', '[', '{'].includes(String(node.value)) ? null : `${String(node.value)} is not allowed`;
    case 'block':
      return node.expressions?.length === 1 ? null : 'one expression only: no ";" and no empty parentheses';
    default:
      return REFUSED_TYPES[node.type] ?? `${node.type} is not allowed`;
  }
}

function variableRefusal(name: string): string | null {
  if (name === '$') return '$$ is not allowed: write the path from its start, e.g. body.state';
  return isFunctionName(name) ? `$${name} is a function: it can only be called` : null;
}

function callRefusal(node: Node): string | null {
  const name = node.procedure?.type === 'variable' ? String(node.procedure.value) : null;
  if (name === null) return 'only named functions can be called';
  if (FUNCTIONS.has(name)) {
    // With a second argument (a picture) these two build regular expressions and padding.
    const pictured = (name === 'toMillis' || name === 'fromMillis') && (node.arguments?.length ?? 0) > 1;
    return pictured ? `$${name} takes one argument only` : null;
  }
  return `the function $${name} is not allowed; allowed are ${[...FUNCTIONS].map((allowed) => `$${allowed}`).join(', ')}`;
}

function firstRefusal(nodes: readonly Node[], depth: number): string | null {
  for (const node of nodes) {
    const found = refusal(node, depth);
    if (found !== null) return found;
  }
  return null;
}
