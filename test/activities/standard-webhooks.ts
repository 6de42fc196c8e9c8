/** The receiver's side of Standard Webhooks, written from its specification and with another crypto than the sender's. */
import { webcrypto } from 'node:crypto';
import type { IncomingHttpHeaders } from 'node:http';

const TOLERANCE_S = 5 * 60;

/** null: genuine and fresh. Else why not. */
export async function whyNotGenuine(
  secret: string,
  headers: IncomingHttpHeaders,
  body: string,
): Promise<string | null> {
  const { 'webhook-id': id, 'webhook-timestamp': timestamp, 'webhook-signature': signatures } = headers;
  if (typeof id !== 'string' || typeof timestamp !== 'string' || typeof signatures !== 'string')
    return 'a header is missing';
  if (!/^\d{10}$/.test(timestamp)) return `"${timestamp}" is no time in seconds`;
  if (Math.abs(Date.now() / 1000 - Number(timestamp)) > TOLERANCE_S) return 'it is old';
  const bytes = Uint8Array.from(atob(secret.replace(/^whsec_/, '')), (character) => character.charCodeAt(0));
  const key = await webcrypto.subtle.importKey('raw', bytes, { name: 'HMAC', hash: 'SHA-256' }, false, [
    'verify',
  ]);
  const signed = new TextEncoder().encode(`${id}.${timestamp}.${body}`);
  for (const signature of signatures.split(' ')) {
    const [version, mac = ''] = signature.split(',');
    if (version !== 'v1') continue;
    const given = Uint8Array.from(atob(mac), (character) => character.charCodeAt(0));
    if (await webcrypto.subtle.verify('HMAC', key, given, signed)) return null;
  }
  return 'no signature of it is right';
}
