/** What is wrong with a catalogue, told so that its author can mend it. */
import type { z } from 'zod';
import { nearest } from '../nearest.ts';
import { quoted } from '../quoted.ts';

export interface Problem {
  /** As the caller named it. */
  readonly file: string;
  /** e.g. `devices.heater.fields.temperature.min`, `approvals[0].for.device`; empty: the file as a whole. */
  readonly path: string;
  /** What is wrong, and what is allowed. Never holds a secret. */
  readonly message: string;
}

export type Path = readonly (string | number)[];

/** Takes note of one mistake, at a place below the thing that is being checked. */
export type Report = (path: Path, message: string) => void;

/** `readback.yaml: devices.heater.fields.temperature.min: 40 is above max 30` */
export function formatProblem({ file, path, message }: Problem): string {
  return path === '' ? `${file}: ${message}` : `${file}: ${path}: ${message}`;
}

export function formatPath(path: Path): string {
  return path.reduce<string>((text, part) => {
    if (typeof part === 'number') return `${text}[${part}]`;
    const name = /^[\w-]+$/.test(part) ? part : JSON.stringify(part.slice(0, 80));
    return text === '' ? name : `${text}.${name}`;
  }, '');
}

/** ` Did you mean "brightness"?`, or nothing where no candidate is near. */
export function didYouMean(name: string, candidates: readonly string[]): string {
  const [best] = nearest(name, candidates, 1);
  return best === undefined ? '' : ` Did you mean ${JSON.stringify(best)}?`;
}

/** `a, b or c`; long lists are cut. */
export function listed(names: readonly string[]): string {
  const shown = names.length > 24 ? [...names.slice(0, 24), `${names.length - 24} more`] : names;
  if (shown.length < 2) return shown[0] ?? 'none';
  return `${shown.slice(0, -1).join(', ')} or ${String(shown.at(-1))}`;
}

/** Unknown keys of one map, one line each; `mistakesOf` takes the lines apart again. */
export function unknownKeys(keys: readonly string[], allowed: readonly string[]): string {
  return keys
    .map((key) => `unknown key.${didYouMean(key, allowed)} Allowed here: ${allowed.join(', ')}`)
    .join('\n');
}

export interface Mistake {
  readonly path: Path;
  readonly message: string;
  /** The value is of the right kind, so the rest can be checked with it in place. */
  readonly rightKind?: boolean;
}

/** zod's issues as mistakes, one for each place. */
export function mistakesOf(error: z.ZodError): readonly Mistake[] {
  return error.issues.flatMap((issue) => mistakesOfIssue(issue, []));
}

type Issue = z.core.$ZodIssue;

function mistakesOfIssue(issue: Issue, above: Path): readonly Mistake[] {
  const path = [...above, ...issue.path.map((part) => (typeof part === 'symbol' ? String(part) : part))];
  if (issue.code === 'unrecognized_keys') {
    const lines = issue.message.split('\n');
    return issue.keys.map((key, index) => ({ path: [...path, key], message: lines[index] ?? 'unknown key' }));
  }
  if (issue.code === 'custom') return [{ path, message: issue.message, rightKind: true }];
  if (issue.code === 'invalid_key') return [{ path, message: issue.issues[0]?.message ?? issue.message }];
  // Every message but zod's own was written for people already.
  if (!issue.message.startsWith('Invalid ') && !issue.message.startsWith('Too '))
    return [{ path, message: issue.message }];
  if (issue.code === 'invalid_union') return unionMistakes(issue, path);
  return [
    { path, message: ownMessage(issue, isSecret(path) ? 'this value is not allowed' : given(issue.input)) },
  ];
}

function ownMessage(issue: Exclude<Issue, { code: 'invalid_union' }>, value: string): string {
  switch (issue.code) {
    case 'invalid_value': {
      const allowed = issue.values.map(String);
      const hint = typeof issue.input === 'string' ? didYouMean(issue.input, allowed) : '';
      return `${value}: give ${listed(allowed)}.${hint}`;
    }
    case 'invalid_type':
      return `${value}: give ${TYPE_NAMES[issue.expected] ?? issue.expected}`;
    case 'too_small':
      return `${value}: give at least ${issue.minimum}${amountOf(issue.origin)}`;
    case 'too_big':
      return `${value}: give at most ${issue.maximum}${amountOf(issue.origin)}`;
    default:
      return `${value} is not allowed here`;
  }
}

/** What stands here may be a secret, and is never shown. */
const isSecret = (path: Path): boolean =>
  path[0] === 'connections' && (path[2] === 'auth' || path[2] === 'secrets');

const given = (input: unknown): string =>
  input === undefined ? 'is missing' : `${quoted(input)} is not allowed`;

const amountOf = (origin: string): string =>
  origin === 'string' ? ' characters' : origin === 'array' ? ' items' : '';

/** Of the ways in which a value may be written, the mistakes of the one that its author seems to have meant. */
function unionMistakes(issue: Extract<Issue, { code: 'invalid_union' }>, path: Path): readonly Mistake[] {
  const meant = issue.errors
    .filter((branch) => !branch.some((inner) => inner.path.length === 0 && isOtherKind(inner)))
    .map((branch) => branch.flatMap((inner) => mistakesOfIssue(inner, path)))
    .sort((a, b) => a.length - b.length)[0];
  if (meant !== undefined) return meant;
  const ways = issue.errors.flatMap((branch) => branch.flatMap((inner) => mistakesOfIssue(inner, path)));
  return [{ path, message: [...new Set(ways.map((way) => way.message))].join('; or ') }];
}

/** The value is of another kind than this way of writing it: a map where a text would stand, say. */
const isOtherKind = (issue: Issue): boolean =>
  issue.code === 'invalid_type' || (issue.code === 'invalid_value' && typeof issue.input === 'object');

const TYPE_NAMES: Readonly<Record<string, string>> = {
  string: 'text',
  number: 'a number',
  int: 'a whole number',
  boolean: 'true or false',
  object: 'a map',
  record: 'a map',
  array: 'a list',
};
