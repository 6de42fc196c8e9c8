/** What the expressions and paths of a device may refer to. */
import { nearest } from '../nearest.ts';
import { expressionProblem, expressionReferences } from './expressions.ts';
import { isMap } from './merge.ts';
import { didYouMean, listed, type Path, type Report } from './problems.ts';
import { secretNamed } from './secrets.ts';

export interface Scope {
  /** Names that a path may begin with. */
  readonly roots: readonly string[];
  /** `$names` that stand alone: the parameters. */
  readonly params: readonly string[];
  /** `$names` with members: the members allowed, or null where any is. */
  readonly groups: Readonly<Record<string, readonly string[] | null>>;
}

/** Reports every name in the expression that nothing stands behind: it would be absent for ever. */
export function checkExpression(source: string, scope: Scope, path: Path, report: Report): void {
  if (expressionProblem(source) !== null) return;
  const { roots, variables } = expressionReferences(source);
  for (const root of roots) {
    if (scope.roots.includes(root)) continue;
    const dollar = [...scope.params, ...Object.keys(scope.groups)].includes(root)
      ? ` Did you mean $${root}?`
      : didYouMean(root, scope.roots);
    const allowed =
      scope.roots.length === 0
        ? 'no reply is looked at here'
        : `a path begins with ${listed(scope.roots)} here`;
    report(path, `${root} is unknown: ${allowed}.${dollar}`);
  }
  for (const { name, member } of variables) {
    const group = Object.hasOwn(scope.groups, name) ? scope.groups[name] : undefined;
    if (group === undefined) {
      if (scope.params.includes(name)) continue;
      const names = [...scope.params, ...Object.keys(scope.groups)];
      const [near] = nearest(name, names, 1);
      report(
        path,
        `$${name} is unknown: known here are ${listed(names.map((known) => `$${known}`))}.${near ? ` Did you mean $${near}?` : ''}`,
      );
    } else if (group !== null) checkMember(name, member, group, path, report);
  }
}

function checkMember(
  name: string,
  member: string | null,
  members: readonly string[],
  path: Path,
  report: Report,
): void {
  const allowed =
    members.length === 0
      ? 'there is none here'
      : `allowed here: ${listed(members.map((known) => `$${name}.${known}`))}`;
  if (member === null) report(path, `$${name} stands alone: name what you mean of it; ${allowed}`);
  else if (!members.includes(member))
    report(path, `$${name}.${member} is unknown: ${allowed}.${didYouMean(member, members)}`);
}

/** Reports every `{name}` in a path or topic that nothing stands behind. */
export function checkPlaceholders(text: string, scope: Scope, path: Path, report: Report): void {
  const allowed = [
    ...scope.params,
    ...['wire', 'kept'].flatMap((group) => (scope.groups[group] ?? []).map((member) => `${group}.${member}`)),
  ];
  for (const [, name = ''] of text.matchAll(/\{([^{}]*)\}/g)) {
    if (!allowed.includes(name))
      report(
        path,
        `{${name}} is unknown: allowed here: ${listed(allowed.map((known) => `{${known}}`))}.${didYouMean(name, allowed)}`,
      );
  }
  if (/[{}]/.test(text.replace(/\{[^{}]*\}/g, '')))
    report(path, 'a brace is not closed, or not opened: write {name}');
}

const looksAtSecret = (source: string): boolean =>
  expressionReferences(source).variables.some(({ name }) => name === 'secret');

/** Checks the expressions in a body: its texts that begin with `=`. */
export function checkBody(tree: unknown, scope: Scope, path: Path, report: Report): void {
  if (typeof tree === 'string') {
    if (!tree.startsWith('=')) return;
    const source = tree.slice(1);
    checkExpression(source, scope, path, report);
    if (expressionProblem(source) === null && secretNamed(source) === null && looksAtSecret(source))
      report(path, 'no expression sees a secret: $secret.name stands alone, and is filled in as it is');
  } else if (Array.isArray(tree)) {
    tree.forEach((item, index) => checkBody(item, scope, [...path, index], report));
  } else if (isMap(tree)) {
    for (const [key, value] of Object.entries(tree)) checkBody(value, scope, [...path, key], report);
  }
}
