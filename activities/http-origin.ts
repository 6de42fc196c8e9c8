/** Where a connection's requests may go: below its base URL, and wherever they are led, on its origin. */
import type { Connection } from '../domain/catalogue/definition.ts';
import type { DeviceReply } from '../domain/exchange.ts';

/** Throws, naming the connection and not what the address holds. */
export function baseOf(connection: Connection): URL {
  const url = URL.canParse(connection.baseUrl) ? new URL(connection.baseUrl) : null;
  if (url === null || !['http:', 'https:'].includes(url.protocol)) {
    throw new Error(`connection "${connection.name}": its baseUrl must start with http:// or https://`);
  }
  if (url.username !== '' || url.password !== '' || url.search !== '' || url.hash !== '') {
    throw new Error(
      `connection "${connection.name}": its baseUrl is an origin and a path only; secrets belong under auth`,
    );
  }
  return url;
}

/** Puts a rendered path after the base URL's. Whatever was rendered into it, it stays on the origin and below the base path. */
export function locate(base: URL, path: string): { value: string; objection: null } | { objection: string } {
  const [pathname = ''] = path.split('?', 1);
  const climbs = pathname.split('/').some((segment) => /^(\.|%2e){1,2}$/i.test(segment));
  // A URL parser would silently drop control characters and a fragment, and turn a backslash into a slash.
  if (!path.startsWith('/') || climbs || /[\p{Cc}\\#]/u.test(path)) {
    return {
      objection: `the path "${pathname.slice(0, 100)}" leaves the connection's base URL; nothing was sent`,
    };
  }
  const url = new URL(`${base.origin}${base.pathname.replace(/\/$/, '')}${path}`);
  return { value: `${url.pathname}${url.search}`, objection: null };
}

export const isRedirect = (status: number): boolean => [301, 302, 303, 307, 308].includes(status);

/** The path that it leads to; null: it is none, or leads away. */
export function sameOriginRedirect(
  { status, headers }: Pick<DeviceReply, 'status' | 'headers'>,
  origin: string,
  from: string,
): string | null {
  if (!isRedirect(status)) return null;
  const target = redirectTarget(headers, `${origin}${from}`);
  return target?.origin === origin ? `${target.pathname}${target.search}` : null;
}

function redirectTarget(headers: DeviceReply['headers'], from: string): URL | null {
  const location = headers['location'];
  return location !== undefined && URL.canParse(location, from) ? new URL(location, from) : null;
}

/** Names the origin alone: a redirect's path and query may carry a session. */
export function redirectFlaw(reply: DeviceReply, origin: string): string {
  const target = redirectTarget(reply.headers, origin);
  if (target === null) return 'it redirects to nowhere';
  return target.origin === origin
    ? 'it redirects to another path, which is not followed'
    : `it redirects to another origin, ${target.origin}, which is never followed`;
}
