/**
 * The syntax tree of a JSONata expression: what of it is allowed, what it refers to, and how it is written back.
 *
 * JSONata is a full language: a regular expression, a recursion or a generator can burn a processor for hours, and its
 * time-out doesn't stop all of them. So nothing is allowed but what is listed here.
 */

/** As `jsonata(…).ast()` gives it (2.2). Only the parts that are looked at. */
export interface Node {
  readonly type: string;
  readonly value?: unknown;
  readonly position?: number;
  readonly steps?: readonly Node[];
  readonly arguments?: readonly Node[];
  readonly procedure?: Node;
  readonly expressions?: readonly Node[];
  readonly expression?: Node;
  readonly condition?: Node;
  // biome-ignore lint/suspicious/noThenProperty: JSONata's name for a branch
  readonly then?: Node;
  readonly else?: Node;
  readonly lhs?: Node | readonly (readonly [Node, Node])[];
  readonly rhs?: Node;
  readonly stages?: readonly Filter[];
  readonly predicate?: readonly Filter[];
  readonly keepArray?: boolean;
}
interface Filter {
  readonly type: string;
  readonly expr?: Node;
}

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

const filters = (node: Node): readonly Filter[] => [...(node.stages ?? []), ...(node.predicate ?? [])];

const pairs = (node: Node): readonly (readonly [Node, Node])[] =>
  Array.isArray(node.lhs) ? (node.lhs as readonly (readonly [Node, Node])[]) : [];

const single = (side: Node['lhs']): readonly Node[] =>
  side === undefined || Array.isArray(side) ? [] : [side as Node];

/** Direct parts of a node, without the name of a called function and without what stands in predicates. */
function children(node: Node): readonly Node[] {
  return [
    ...(node.steps ?? []),
    ...(node.arguments ?? []),
    ...(node.expressions ?? []),
    ...single(node.expression),
    ...single(node.condition),
    ...single(node.then),
    ...single(node.else),
    ...single(node.lhs),
    ...single(node.rhs),
    ...pairs(node).flat(),
  ];
}

/** `a ?? b` is parsed into `$exists(a) ? a : b`; only a written `$exists` has a position. */
const isCoalescing = (node: Node): boolean =>
  node.type === 'condition' && node.condition?.type === 'function' && node.condition.position === undefined;

export interface References {
  /** First names of the paths that start at the input. */
  readonly roots: readonly string[];
  /** `$name` or `$name.member`; member null where the variable stands alone. */
  readonly variables: readonly { readonly name: string; readonly member: string | null }[];
}

/** Everything from outside that an expression looks at. */
export function references(tree: Node): References {
  const roots = new Set<string>();
  const variables = new Map<string, { name: string; member: string | null }>();
  const visit = (node: Node, relative: boolean, next: Node | undefined): void => {
    if (node.type === 'name' && !relative) roots.add(String(node.value));
    if (node.type === 'variable' && node.value !== '') {
      const member = next?.type === 'name' && filters(node).length === 0 ? String(next.value) : null;
      variables.set(`${String(node.value)}.${member}`, { name: String(node.value), member });
    }
    for (const filter of filters(node)) if (filter.expr) visit(filter.expr, true, undefined);
    if (node.steps !== undefined) {
      node.steps.forEach((step, index) => visit(step, relative || index > 0, node.steps?.[index + 1]));
      return;
    }
    for (const child of children(node)) visit(child, relative, undefined);
  };
  visit(tree, false, undefined);
  return { roots: [...roots], variables: [...variables.values()] };
}

/**
 * The condition under which nothing that the expression looks at is absent, as another expression; null: always.
 * Paths inside predicates are about the items of a list and don't count; neither do those in `$exists`, `$count`, `in` and `??`,
 * which are there to ask about absence. Of a conditional only the branch taken counts.
 */
export function presence(node: Node, relative = false): string | null {
  if (isCoalescing(node)) return relative ? null : exists(node);
  if (node.type === 'binary' && node.value === 'in') return null;
  if (node.type === 'function' && ['exists', 'count'].includes(String(node.procedure?.value))) return null;
  if (node.type === 'condition' && !relative) return conditionalPresence(node);
  const inside = [
    ...filters(node).map((filter) => (filter.expr ? presence(filter.expr, true) : null)),
    ...children(node).map((child, index) =>
      node.type === 'path' && (index > 0 || child.type === 'name')
        ? filterPresence(child)
        : presence(child, relative),
    ),
  ];
  return conjunction([...inside, isLookedUp(node, relative) ? exists(node) : null]);
}

function isLookedUp(node: Node, relative: boolean): boolean {
  if (node.type === 'variable') return node.value !== '';
  if (node.type === 'path')
    return !relative || (node.steps?.[0]?.type === 'variable' && node.steps[0].value !== '');
  return node.type === 'function' && node.procedure?.value === 'lookup' && !relative;
}

const filterPresence = (step: Node): string | null =>
  conjunction(filters(step).map((filter) => (filter.expr ? presence(filter.expr, true) : null)));

function conditionalPresence(node: Node): string | null {
  const [condition, then, otherwise] = [node.condition, node.then, node.else].map((part) =>
    part === undefined ? null : presence(part),
  );
  if (!then && !otherwise) return condition ?? null;
  return conjunction([
    condition ?? null,
    `(${write(node.condition as Node)} ? ${then ?? 'true'} : ${otherwise ?? 'true'})`,
  ]);
}

const exists = (node: Node): string => `$exists(${write(node)})`;

function conjunction(parts: readonly (string | null)[]): string | null {
  const needed = [...new Set(parts.filter((part) => part !== null))];
  return needed.length === 0 ? null : needed.length === 1 ? String(needed[0]) : `(${needed.join(' and ')})`;
}

/** An allowed tree written back as source. */
function write(node: Node): string {
  const suffix = `${node.keepArray === true && node.type !== 'path' ? '[]' : ''}${filters(node)
    .map((filter) => `[${filter.expr ? write(filter.expr) : ''}]`)
    .join('')}`;
  return `${writeBare(node)}${suffix}`;
}

function writeBare(node: Node): string {
  const list = (nodes: readonly Node[] | undefined): string => (nodes ?? []).map(write).join(', ');
  switch (node.type) {
    case 'name':
      return `\`${String(node.value)}\``;
    case 'variable':
      return `$${String(node.value)}`;
    case 'path':
      return (node.steps ?? []).map(write).join('.');
    case 'function':
      return `$${String(node.procedure?.value)}(${list(node.arguments)})`;
    case 'block':
      return `(${list(node.expressions)})`;
    case 'binary':
      return `(${write(node.lhs as Node)} ${String(node.value)} ${write(node.rhs as Node)})`;
    case 'unary':
      if (node.value === '-') return `(-${write(node.expression as Node)})`;
      if (node.value === '[') return `[${list(node.expressions)}]`;
      return `{${pairs(node)
        .map(([key, value]) => `${write(key)}: ${write(value)}`)
        .join(', ')}}`;
    case 'condition':
      if (isCoalescing(node)) return `(${write(node.then as Node)} ?? ${write(node.else as Node)})`;
      return `(${write(node.condition as Node)} ? ${write(node.then as Node)}${node.else ? ` : ${write(node.else)}` : ''})`;
    default:
      return JSON.stringify(node.value);
  }
}
