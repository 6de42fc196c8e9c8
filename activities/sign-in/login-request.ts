/** The request that signs in with a username and a password. */
import type { Auth } from '../../domain/catalogue/auth-definition.ts';
import type { Connection } from '../../domain/catalogue/definition.ts';
import type { Json } from '../../domain/values.ts';
import type { HttpRequest } from '../http-request.ts';

type LoginAuth = Extract<Auth, { kind: 'login' }>;

export function loginRequest(
  connection: Connection,
  { request, username, password, body, as }: LoginAuth,
): HttpRequest {
  const filled = filledIn(body, { username, password });
  const pairs = Object.entries(filled as Readonly<Record<string, Json>>).map(
    ([name, value]): [string, string] => [name, typeof value === 'string' ? value : JSON.stringify(value)],
  );
  const isForm = as === 'form';
  return {
    method: request.method,
    path: underBase(connection, request.path),
    headers: {
      accept: 'application/json, */*;q=0.5',
      'content-type': isForm ? 'application/x-www-form-urlencoded' : 'application/json',
    },
    body: isForm ? new URLSearchParams(pairs).toString() : JSON.stringify(filled),
  };
}

function filledIn(tree: Json, account: Readonly<Record<string, string>>): Json {
  if (typeof tree === 'string')
    return tree.replace(/\{(username|password)\}/g, (_, name: string) => account[name] ?? '');
  if (Array.isArray(tree)) return tree.map((item: Json) => filledIn(item, account));
  if (typeof tree !== 'object' || tree === null) return tree;
  return Object.fromEntries(Object.entries(tree).map(([key, member]) => [key, filledIn(member, account)]));
}

/** A path of the catalogue below the connection's base path. */
export const underBase = ({ baseUrl }: Connection, path: string): string =>
  `${new URL(baseUrl).pathname.replace(/\/$/, '')}${path}`;
