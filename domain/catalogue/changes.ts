/** What one catalogue has that the one before it had not, in a line for the log. */
import type { Catalogue } from './definition.ts';
import { digestOf } from './digest.ts';

/** Names of a kind that are told; beyond these their number says enough. */
const MOST_NAMED = 10;

/** `devices added: kettle; connections changed: vendor`. null: nothing has changed. A secret's change is told, its value never. */
export function changesBetween(before: Catalogue, after: Catalogue): string | null {
  const told = [
    ...changesOf('devices', before.devices, after.devices),
    ...changesOf('connections', before.connections, after.connections),
    ...(digestOf(before.approvals) === digestOf(after.approvals) ? [] : ['approval rules changed']),
    ...(digestOf(rest(before)) === digestOf(rest(after)) ? [] : ['settings changed']),
  ];
  return told.length === 0 ? null : told.join('; ');
}

const rest = ({ timezone, settings }: Catalogue) => ({ timezone, settings });

function changesOf(
  kind: string,
  before: Readonly<Record<string, unknown>>,
  after: Readonly<Record<string, unknown>>,
): readonly string[] {
  const added = Object.keys(after).filter((name) => !Object.hasOwn(before, name));
  const removed = Object.keys(before).filter((name) => !Object.hasOwn(after, name));
  const changed = Object.keys(after).filter(
    (name) => Object.hasOwn(before, name) && digestOf(before[name]) !== digestOf(after[name]),
  );
  return Object.entries({ added, removed, changed })
    .filter(([, names]) => names.length > 0)
    .map(([how, names]) => `${kind} ${how}: ${named(names)}`);
}

function named(names: readonly string[]): string {
  const shown = names.slice(0, MOST_NAMED).join(', ');
  return names.length > MOST_NAMED ? `${shown} and ${names.length - MOST_NAMED} more` : shown;
}
