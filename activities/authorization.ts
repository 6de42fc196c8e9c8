/** Who we are to a device's API. The only code that touches a connection's secrets, and that keeps them out of what comes back. */
import { validateHeaderName, validateHeaderValue } from 'node:http';
import type { Connection } from '../domain/catalogue/definition.ts';

/** A shorter text is found in replies by chance, and hiding it would change readings. */
const SHORTEST_HIDDEN = 6;

export interface Authorization {
  readonly headers: Readonly<Record<string, string>>;
  /** Appended to every request's query, already encoded; '' for none. */
  readonly query: string;
  /** Replaces the connection's secrets in a text that came from outside: APIs like to quote a bad token. */
  hide(text: string): string;
}

/** Throws, naming the connection, for a way of signing in that can't be used yet or a secret that HTTP can't carry. */
export function authorizationOf(connection: Connection): Authorization {
  const { auth } = connection;
  switch (auth.kind) {
    case 'none':
      return authorization(connection, {}, {}, []);
    case 'bearer':
      return authorization(connection, { authorization: `Bearer ${auth.token}` }, {}, [auth.token]);
    case 'basic': {
      const pair = Buffer.from(`${auth.username}:${auth.password}`).toString('base64');
      return authorization(connection, { authorization: `Basic ${pair}` }, {}, [pair, auth.password]);
    }
    case 'header':
      return authorization(connection, auth.values, {}, Object.values(auth.values));
    case 'query':
      return authorization(connection, {}, auth.values, Object.values(auth.values));
    case 'digest':
    case 'sign':
    case 'oauth':
    case 'login':
      throw new Error(
        `connection "${connection.name}" signs in with "${auth.kind}", which Readback can't do yet: use bearer, basic, header or query`,
      );
  }
}

function authorization(
  connection: Connection,
  headers: Readonly<Record<string, string>>,
  query: Readonly<Record<string, string>>,
  secrets: readonly string[],
): Authorization {
  const lowerCased: Record<string, string> = {};
  for (const [name, value] of Object.entries(headers)) {
    checkHeader(connection, name, value);
    lowerCased[name.toLowerCase()] = value;
  }
  const hidden = secrets
    .flatMap((secret) => [
      secret,
      encodeURIComponent(secret),
      JSON.stringify(secret).slice(1, -1),
      Buffer.from(secret).toString('base64').replace(/=+$/, ''),
    ])
    .filter((secret) => secret.length >= SHORTEST_HIDDEN);
  return {
    headers: lowerCased,
    query: Object.entries(query)
      .map(([name, value]) => `${encodeURIComponent(name)}=${encodeURIComponent(value)}`)
      .join('&'),
    hide: (text) => hidden.reduce((shown, secret) => shown.replaceAll(secret, '•••'), text),
  };
}

function checkHeader(connection: Connection, name: string, value: string): void {
  try {
    validateHeaderName(name);
    validateHeaderValue(name, value);
  } catch {
    // Node's own message may quote the value.
    throw new Error(
      `connection "${connection.name}": its secret for the header "${name}" has a character that HTTP headers can't carry (a line break?)`,
    );
  }
}
