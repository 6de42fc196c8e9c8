/** HTTP Digest (RFC 7616; RFC 2069 where a device is that old): answers what a 401 asks, and counts the use of its nonce. */
import { createHash, randomBytes } from 'node:crypto';
import type { HttpRequest } from '../http-request.ts';

export interface Challenge {
  readonly realm: string;
  readonly nonce: string;
  readonly opaque: string | null;
  readonly algorithm: 'MD5' | 'MD5-sess' | 'SHA-256' | 'SHA-256-sess';
  /** false: a server from before `qop`. */
  readonly hasQop: boolean;
  /** The credentials were right, the nonce was old. */
  readonly stale: boolean;
}

/** Strongest first. */
const ALGORITHMS = ['SHA-256', 'SHA-256-sess', 'MD5', 'MD5-sess'] as const;

/** The strongest challenge in a `WWW-Authenticate` that can be answered; null: none. */
export function challengeIn(header: string | undefined): Challenge | null {
  const challenges = challengesIn(header ?? '').flatMap((parameters) => {
    const { realm, nonce, opaque, stale, qop, algorithm: named = 'MD5' } = parameters;
    const algorithm = ALGORITHMS.find((one) => one.toLowerCase() === named.toLowerCase());
    const qops = qop?.split(',').map((one) => one.trim().toLowerCase());
    if (realm === undefined || nonce === undefined || algorithm === undefined) return [];
    if (qops !== undefined && !qops.includes('auth')) return [];
    const challenge: Challenge = {
      realm,
      nonce,
      opaque: opaque ?? null,
      algorithm,
      hasQop: qops !== undefined,
      stale: stale?.toLowerCase() === 'true',
    };
    return [challenge];
  });
  const rank = ({ algorithm }: Challenge): number => ALGORITHMS.indexOf(algorithm);
  return challenges.sort((one, other) => rank(one) - rank(other))[0] ?? null;
}

/** Parameters of each `Digest` in a header that may hold several challenges, of any scheme. */
function challengesIn(header: string): Record<string, string>[] {
  const found: Record<string, string>[] = [];
  let current: Record<string, string> | null = null;
  const part = /([\w-]+)\s*=\s*(?:"((?:[^"\\]|\\.)*)"|([^\s,"]+))|([\w-]+)(?=\s+[\w-]+\s*=|\s*$|\s*,)/g;
  for (const [, name, quoted, token, scheme] of header.matchAll(part)) {
    if (scheme !== undefined) {
      current = scheme.toLowerCase() === 'digest' ? {} : null;
      if (current !== null) found.push(current);
    } else if (current !== null && name !== undefined)
      current[name.toLowerCase()] = quoted?.replace(/\\(.)/g, '$1') ?? token ?? '';
  }
  return found;
}

export interface Account {
  readonly username: string;
  readonly password: string;
}

/** The `Authorization` of one request. `count`: how often this nonce has been used, with this time. */
export function answerTo(
  challenge: Challenge,
  { username, password }: Account,
  { method, path }: Pick<HttpRequest, 'method' | 'path'>,
  count: number,
  cnonce: string = randomBytes(16).toString('hex'),
): string {
  const { realm, nonce, opaque, algorithm, hasQop } = challenge;
  const hash = (text: string): string =>
    createHash(algorithm.startsWith('MD5') ? 'md5' : 'sha256')
      .update(text)
      .digest('hex');
  const account = hash(`${username}:${realm}:${password}`);
  const who = algorithm.endsWith('-sess') ? hash(`${account}:${nonce}:${cnonce}`) : account;
  const what = hash(`${method}:${path}`);
  const nc = count.toString(16).padStart(8, '0');
  const response = hash(hasQop ? `${who}:${nonce}:${nc}:${cnonce}:auth:${what}` : `${who}:${nonce}:${what}`);
  const isPlain = /^[\x20-\x7e]*$/.test(username);
  return `Digest ${[
    isPlain ? `username=${quoted(username)}` : `username*=UTF-8''${encodeURIComponent(username)}`,
    `realm=${quoted(realm)}`,
    `nonce=${quoted(nonce)}`,
    `uri=${quoted(path)}`,
    `response="${response}"`,
    `algorithm=${algorithm}`,
    ...(opaque === null ? [] : [`opaque=${quoted(opaque)}`]),
    ...(hasQop ? ['qop=auth', `nc=${nc}`, `cnonce="${cnonce}"`] : []),
  ].join(', ')}`;
}

const quoted = (text: string): string => `"${text.replace(/["\\]/g, '\\$&')}"`;
