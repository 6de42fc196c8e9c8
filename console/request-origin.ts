/** Where a request comes from and where it may be sent on to, as far as its address and headers say. */
import type { Context } from 'hono';

/** A proxy that ends TLS says so; if it lies, only the one who asks is harmed. */
export const isOverTls = (c: Context): boolean =>
  new URL(c.req.url).protocol === 'https:' || c.req.header('x-forwarded-proto') === 'https';

/** Where to go after signing in: a path of ours, never another site. */
export function localPath(to: string | undefined): string {
  const here = 'http://here.invalid';
  if (to === undefined || !URL.canParse(to, here)) return '/';
  const { origin, pathname, search } = new URL(to, here);
  return origin === here && !pathname.startsWith('//') ? `${pathname}${search}` : '/';
}
