/** Signs requests with an HMAC over themselves: over exactly the bytes that are sent, with a time and a nonce of each attempt. */
import { createHash, createHmac, randomUUID } from 'node:crypto';
import type { SignScheme } from '../../domain/catalogue/auth-definition.ts';
import type { HttpRequest } from '../http-request.ts';

/** What a scheme may sign. */
export interface Signable extends Pick<HttpRequest, 'method' | 'path' | 'body'> {
  /** `host:port` that it goes to. */
  readonly host: string;
  /** '' where there is none yet. */
  readonly token: string;
  /** Left out: a random one. */
  readonly nonce?: string;
}

/** Headers that sign one attempt at a request, names in lower case. Those that come out empty are left out. */
export type Signer = (request: Signable, at?: number) => Readonly<Record<string, string>>;

/** The scheme's own range for a webhook's key, in bytes. */
const SHORTEST_WEBHOOK_KEY = 24;
const LONGEST_WEBHOOK_KEY = 64;

/** Throws, naming the connection and not the secret, for a secret that isn't written as the scheme says. */
export function createSigner(connection: string, scheme: SignScheme): Signer {
  const key = keyOf(connection, scheme);
  return ({ method, path, body, host, token, nonce = randomUUID() }, at = Date.now()) => {
    const [pathname = '', query = ''] = path.split('?');
    const words: Record<string, string> = {
      method,
      path,
      sortedPath: query === '' ? pathname : `${pathname}?${query.split('&').sort().join('&')}`,
      query,
      host,
      body: body ?? '',
      bodyHash: createHash(scheme.hash)
        .update(body ?? '')
        .digest('hex'),
      timestamp: written(at, scheme.timestamp),
      nonce,
      token,
      clientId: scheme.clientId ?? '',
    };
    const mac = createHmac(scheme.hash, key).update(fill(scheme.over, words));
    words['signature'] =
      scheme.encode === 'HEX' ? mac.digest('hex').toUpperCase() : mac.digest(scheme.encode);
    return Object.fromEntries(
      Object.entries(scheme.headers)
        .map(([name, text]) => [name.toLowerCase(), fill(text, words)] as const)
        .filter(([, value]) => value !== ''),
    );
  };
}

/** In one pass: what is filled in is not looked at again. */
const fill = (template: string, words: Readonly<Record<string, string>>): string =>
  template.replace(/\{(\w+)\}/g, (whole, word: string) =>
    Object.hasOwn(words, word) ? (words[word] ?? '') : whole,
  );

function written(at: number, as: SignScheme['timestamp']): string {
  if (as === 'iso') return new Date(at).toISOString();
  return String(as === 'seconds' ? Math.floor(at / 1000) : at);
}

function keyOf(connection: string, { preset, secret, secretAs }: SignScheme): Uint8Array {
  if (secretAs === 'text') return Buffer.from(secret, 'utf8');
  const text = preset === 'standard-webhooks' ? secret.replace(/^whsec_/, '') : secret;
  const isWritten = secretAs === 'hex' ? /^([0-9a-f]{2})+$/i : /^[A-Za-z0-9+/_-]+={0,2}$/;
  const key = isWritten.test(text) ? Buffer.from(text, secretAs) : Buffer.alloc(0);
  if (
    preset === 'standard-webhooks' &&
    (key.length < SHORTEST_WEBHOOK_KEY || key.length > LONGEST_WEBHOOK_KEY)
  )
    throw new Error(
      `connection "${connection}": the secret of its webhook must be ${SHORTEST_WEBHOOK_KEY} to ${LONGEST_WEBHOOK_KEY} random bytes in base64, with or without "whsec_" before it, e.g. from: openssl rand -base64 32`,
    );
  if (key.length === 0)
    throw new Error(`connection "${connection}": its signing secret is not written in ${secretAs}`);
  return key;
}
