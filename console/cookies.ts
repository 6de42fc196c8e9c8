/** What every cookie of the console is given: no script reads it, and where there is TLS it travels over nothing else. */
import type { Context } from 'hono';
import { setCookie } from 'hono/cookie';
import type { ConsoleContext } from './context.ts';
import { isOverTls } from './request-origin.ts';

interface Kept {
  /** `Lax` where the browser may come with it from another site: from the issuer, or by a link. */
  readonly sameSite: 'Lax' | 'Strict';
  readonly path: string;
  readonly maxAgeSeconds: number;
}

export function keepCookie(
  c: Context,
  { consoleUrl }: Pick<ConsoleContext, 'consoleUrl'>,
  { name, value }: { readonly name: string; readonly value: string },
  { sameSite, path, maxAgeSeconds: maxAge }: Kept,
): void {
  const secure = isOverTls(c) || consoleUrl().startsWith('https:');
  setCookie(c, name, value, { httpOnly: true, secure, sameSite, path, maxAge });
}
