/** `${NAME}` and `${file:PATH}`: where secrets come from. They stand in connections only. */
import { isMap } from './merge.ts';
import type { Path, Report } from './problems.ts';

export interface SecretSources {
  readonly environment: Readonly<Record<string, string | undefined>>;
  readonly readFile: (path: string) => string | Promise<string>;
}

/** The secret that a text of a body is, without its `=`: `$secret.pin` → `pin`. null: it is an expression like any other. */
export const secretNamed = (source: string): string | null =>
  /^\s*\$secret\.([A-Za-z]\w*)\s*$/.exec(source)?.[1] ?? null;

const REFERENCE = /\$\{([^{}]*)\}/g;

/** The same tree with every reference filled in. Each one that can't be is reported by its name, never by a value. */
export async function fillSecrets(
  tree: unknown,
  sources: SecretSources,
  path: Path,
  report: Report,
): Promise<unknown> {
  if (typeof tree === 'string') return fillText(tree, sources, path, report);
  if (Array.isArray(tree))
    return Promise.all(tree.map((item, index) => fillSecrets(item, sources, [...path, index], report)));
  if (!isMap(tree)) return tree;
  const filled: Record<string, unknown> = {};
  for (const [key, value] of Object.entries(tree))
    filled[key] = await fillSecrets(value, sources, [...path, key], report);
  return filled;
}

async function fillText(text: string, sources: SecretSources, path: Path, report: Report): Promise<string> {
  let filled = '';
  let end = 0;
  for (const match of text.matchAll(REFERENCE)) {
    filled += text.slice(end, match.index) + (await secret(match[1] ?? '', sources, path, report));
    end = match.index + match[0].length;
  }
  return filled + text.slice(end);
}

async function secret(
  reference: string,
  { environment, readFile }: SecretSources,
  path: Path,
  report: Report,
): Promise<string> {
  if (reference.startsWith('file:')) {
    const file = reference.slice('file:'.length);
    try {
      const content = (await readFile(file)).trim();
      if (content === '') report(path, `the file ${file} is empty`);
      return content;
    } catch (error) {
      const code =
        typeof error === 'object' && error !== null && 'code' in error ? ` (${String(error.code)})` : '';
      report(path, `the file ${file} can't be read${code}`);
      return '';
    }
  }
  if (!/^[A-Za-z_][A-Za-z0-9_]*$/.test(reference)) {
    report(path, 'write ${NAME} for an environment variable or ${file:PATH} for a file');
    return '';
  }
  const value: unknown = environment[reference];
  if (typeof value === 'string' && value !== '') return value;
  report(path, `the environment variable ${reference} is not set`);
  return '';
}

const MAY_HOLD_SECRETS = ['auth', 'tls', 'secrets', 'baseUrl', 'url'];

/** Of ways of signing in that hold more than secrets: where those stand. The rest is shown where it fails. */
const SECRETS_OF_AUTH: Readonly<Record<string, readonly string[]>> = {
  sign: ['secret', 'token', 'clientId'],
  oauth: ['clientId', 'clientSecret', 'refreshToken'],
  login: ['username', 'password'],
};

/**
 * Reports every `${…}` in a connection that could come out again: addresses are shown in dry runs and errors, and
 * expressions are quoted where they fail. Of an address, its host may come from outside, its path may not. True: it has one.
 */
export function refuseSecretsThatShow(
  connection: Readonly<Record<string, unknown>>,
  path: Path,
  report: Report,
): boolean {
  let isRefused = false;
  const refuse: Report = (at, message) => {
    isRefused = true;
    report(at, message);
  };
  const shown = Object.entries(connection).filter(([key]) => !MAY_HOLD_SECRETS.includes(key));
  refuseSecrets(Object.fromEntries(shown), path, refuse);
  for (const [kind, keys] of Object.entries(SECRETS_OF_AUTH)) {
    const auth = isMap(connection['auth']) ? connection['auth'][kind] : undefined;
    if (!isMap(auth)) continue;
    for (const [key, value] of Object.entries(auth))
      if (!keys.includes(key)) refuseSecrets(value, [...path, 'auth', kind, key], refuse, keys);
  }
  for (const key of ['baseUrl', 'url']) {
    const address = connection[key];
    const pathOfAddress = typeof address === 'string' ? address.replace(/^[a-z+]+:\/\/[^/]*/i, '') : '';
    if (/\$\{[^}]*\}/.test(pathOfAddress))
      refuse(
        [...path, key],
        'a path is shown where things go wrong, so no secret may stand in it: give it in auth',
      );
  }
  return isRefused;
}

/** Reports every `${…}` in a part of the file where none may stand. */
export function refuseSecrets(
  tree: unknown,
  path: Path,
  report: Report,
  insteadOf: readonly string[] | null = null,
): void {
  if (typeof tree === 'string') {
    if (/\$\{[^}]*\}/.test(tree))
      report(
        path,
        insteadOf === null
          ? '${…} is filled in only inside "connections", in auth, secrets, tls and the host of an address: secrets stand nowhere else'
          : `no secret may stand here, since it is shown where it fails: give it as ${insteadOf.join(' or ')}`,
      );
  } else if (Array.isArray(tree))
    tree.forEach((item, index) => refuseSecrets(item, [...path, index], report, insteadOf));
  else if (isMap(tree))
    for (const [key, value] of Object.entries(tree)) refuseSecrets(value, [...path, key], report, insteadOf);
}
