/** Signing in with an approver's secret, and out again. */
import type { Context, Hono } from 'hono';
import { deleteCookie } from 'hono/cookie';
import { sessionOf } from './access.ts';
import type { ConsoleContext } from './context.ts';
import { keepCookie } from './cookies.ts';
import { isFromElsewhere } from './headers.ts';
import { signOutAtIssuer } from './issuer-sign-in.ts';
import { show } from './page-routes.ts';
import { messagePage, noApproversPage, signedOutPage, signInPage } from './pages/sign-in-page.ts';
import { localPath } from './request-origin.ts';
import { SESSION_LASTS_MS } from './session.ts';

export function addSignIn(console: Hono, context: ConsoleContext): void {
  const { access, sessions, approvers, signIn } = context;
  const signInForm = (c: Context, to: string, problem: string | null, status: 200 | 401 | 403 | 429 = 200) =>
    show(
      c,
      context,
      { title: 'Sign in', here: 'elsewhere' },
      signInPage({
        problem,
        to,
        issuer: signIn?.issuer ?? null,
        bySecret: approvers.list().length > 0,
      }),
      status,
    );

  console.get('/sign-in', async (c) => {
    const to = localPath(c.req.query('to'));
    const standing = access.standing(c);
    if (sessionOf(standing) !== null) return c.redirect(to, 303);
    if (signIn !== null || approvers.list().length > 0) return signInForm(c, to, null);
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
    const session = { name: sessions.cookieName, value: sessions.open(identified.approver, Date.now()) };
    const maxAgeSeconds = SESSION_LASTS_MS / 1000;
    keepCookie(c, context, session, { sameSite: 'Strict', path: '/', maxAgeSeconds });
    return c.redirect(to, 303);
  });

  console.post('/sign-out', async (c) => {
    const session = sessionOf(access.standing(c));
    const form = new URLSearchParams(await c.req.text());
    if (session === null) return c.redirect('/sign-in', 303);
    if (!sessions.csrfMatches(session, form.get('csrf') ?? undefined))
      return show(c, context, { title: 'Not signed out', here: 'elsewhere' }, outOfDate, 403);
    deleteCookie(c, sessions.cookieName, { path: '/' });
    const alsoAt = session.isOfIssuer ? await signOutAtIssuer(c, context) : null;
    if (alsoAt === null) return c.redirect('/sign-in', 303);
    return show(
      c,
      context,
      { title: 'Signed out', here: 'elsewhere', goesOnAt: alsoAt.href },
      signedOutPage(alsoAt),
    );
  });
}

const outOfDate = messagePage('Not signed out', 'This page was out of date. Go back and try again.');
