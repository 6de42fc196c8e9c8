/** What of a token goes on to those who serve the request. */
import type { AuthInfo } from '@modelcontextprotocol/server';
import type { SignedIn } from '../identity/access-token.ts';

/** Without the token itself: nothing behind the door needs it, and so nothing there can tell it. */
export function authInfoOf({ principal, clientId, scopes, expiresAt }: SignedIn): AuthInfo {
  return { token: '', clientId: clientId ?? '', scopes: [...scopes], expiresAt, extra: { principal } };
}

/** Owner of what this request starts. */
export function principalOf({ extra }: AuthInfo): string {
  const principal = extra?.['principal'];
  if (typeof principal !== 'string') throw new Error('a request was let in that says of nobody whose it is');
  return principal;
}
