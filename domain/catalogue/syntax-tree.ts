/** The syntax tree of a JSONata expression: what it refers to, what has to be there for it, and how it is written back. */

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

export const filters = (node: Node): readonly Filter[] => [...(node.stages ?? []), ...(node.predicate ?? [])];

const pairs = (node: Node): readonly (readonly [Node, Node])[] =>
  Array.isArray(node.lhs) ? (node.lhs as readonly (readonly [Node, Node])[]) : [];

const single = (side: Node['lhs']): readonly Node[] =>
  side === undefined || Array.isArray(side) ? [] : [side as Node];

/** Direct parts of a node, without the name of a called function and without what stands in predicates. */
export function children(node: Node): readonly Node[] {
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
  if (asksAboutAbsence(node)) return null;
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

/** The paths that `presence` demands, each written back as source; those of a branch that isn't taken as well. */
export function lookups(node: Node, relative = false): readonly string[] {
  if (isCoalescing(node) || asksAboutAbsence(node)) return [];
  const inside = children(node).flatMap((child, index) =>
    node.type === 'path' && (index > 0 || child.type === 'name') ? [] : lookups(child, relative),
  );
  return [...inside, ...(node.type !== 'variable' && isLookedUp(node, relative) ? [write(node)] : [])];
}

const asksAboutAbsence = (node: Node): boolean =>
  (node.type === 'binary' && node.value === 'in') ||
  (node.type === 'function' && ['exists', 'count'].includes(String(node.procedure?.value)));

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
