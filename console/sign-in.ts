/** Signing in with an approver's secret, and out again. */
import type { Context, Hono } from 'hono';
import { deleteCookie, setCookie } from 'hono/cookie';
import type { ConsoleContext } from './context.ts';
import { isFromElsewhere } from './headers.ts';
import { show } from './page-routes.ts';
import { messagePage, noApproversPage, signInPage } from './pages/sign-in-page.ts';
import { SESSION_LASTS_MS } from './session.ts';

export function addSignIn(console: Hono, context: ConsoleContext): void {
  const { access, sessions, approvers } = context;
  const signInForm = (c: Context, to: string, problem: string | null, status: 200 | 401 | 403 | 429 = 200) =>
    show(c, context, { title: 'Sign in', here: 'elsewhere' }, signInPage({ problem, to }), status);

  console.get('/sign-in', async (c) => {
    const to = localPath(c.req.query('to'));
    const standing = access.standing(c);
    if (standing.kind === 'approver') return c.redirect(to, 303);
    if (approvers.list().length > 0) return signInForm(c, to, null);
    const mayRead = standing.kind === 'reader';
    return show(c, context, { title: 'Sign in', here: 'elsewhere' }, noApproversPage({ mayRead }));
  });

  console.post('/sign-in', async (c) => {
    const form = new URLSearchParams(await c.req.text());
    const to = localPath(form.get('to') ?? undefined);
    // Else a page elsewhere could sign people in as somebody of its choice.
    if (isFromElsewhere(c))
      return signInForm(c, to, 'This form was not sent by this page. Try again here.', 403);
    const identified = access.identify(c, form.get('secret') ?? '');
    if (identified.kind === 'wait') {
      c.header('Retry-After', String(identified.seconds));
      return signInForm(c, to, `Too many wrong secrets. Try again in ${identified.seconds} s.`, 429);
    }
    if (identified.kind === 'nobody') return signInForm(c, to, 'This is no approver’s secret.', 401);
    setCookie(c, sessions.cookieName, sessions.open(identified.approver, Date.now()), {
      httpOnly: true,
      sameSite: 'Strict',
      path: '/',
      maxAge: SESSION_LASTS_MS / 1000,
      secure: isOverTls(c),
    });
    return c.redirect(to, 303);
  });

  console.post('/sign-out', async (c) => {
    const standing = access.standing(c);
    const form = new URLSearchParams(await c.req.text());
    if (standing.kind === 'approver') {
      if (!sessions.csrfMatches(standing.session, form.get('csrf') ?? undefined))
        return show(c, context, { title: 'Not signed out', here: 'elsewhere' }, outOfDate, 403);
      deleteCookie(c, sessions.cookieName, { path: '/' });
    }
    return c.redirect('/sign-in', 303);
  });
}

const outOfDate = messagePage('Not signed out', 'This page was out of date. Go back and try again.');

/** A proxy that ends TLS says so; if it lies, only the one who asks is harmed. */
const isOverTls = (c: Context): boolean =>
  new URL(c.req.url).protocol === 'https:' || c.req.header('x-forwarded-proto') === 'https';

/** Where to go after signing in: a path of ours, never another site. */
function localPath(to: string | undefined): string {
  const here = 'http://here.invalid';
  if (to === undefined || !URL.canParse(to, here)) return '/';
  const { origin, pathname, search } = new URL(to, here);
  return origin === here && !pathname.startsWith('//') ? `${pathname}${search}` : '/';
}
