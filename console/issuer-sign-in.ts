/**
 * Signing in at the issuer, in two halves with the browser there in between. What the second half has to know is in a
 * cookie that only servers of this installation can open, so any of them takes the answer, and only in that browser.
 */
import { hkdfSync } from 'node:crypto';
import type { Context, Hono } from 'hono';
import { deleteCookie, getCookie } from 'hono/cookie';
import { EncryptJWT, jwtDecrypt } from 'jose';
import { z } from 'zod';
import { IssuerUnreachable } from '../identity/issuer.ts';
import { BEGUN_SIGN_IN, SignInRefused } from '../identity/openid-connect.ts';
import type { ConsoleContext } from './context.ts';
import { keepCookie } from './cookies.ts';
import { show } from './page-routes.ts';
import { signInFailedPage } from './pages/sign-in-page.ts';
import { localPath } from './request-origin.ts';
import { SESSION_LASTS_MS } from './session.ts';

const START = '/sign-in/issuer';
const CALLBACK = '/sign-in/callback';
/** Long enough to find one's telephone for a second factor. */
const BEGUN_LASTS_SECONDS = 10 * 60;
/** Browsers keep no cookie beyond 4 KB; signing out works without the hint as well, with one question more. */
const LONGEST_HINT = 3500;

/** The browser comes back from another site: with Strict it would come without them. */
const OF_ISSUER = { sameSite: 'Lax', maxAgeSeconds: SESSION_LASTS_MS / 1000 } as const;

const BEGUN = BEGUN_SIGN_IN.extend({ to: z.string() });
type Begun = z.infer<typeof BEGUN>;

export function addIssuerSignIn(console: Hono, context: ConsoleContext): void {
  const { signIn: openId, consoleUrl, sessions, sessionKey, access } = context;
  if (openId === null) return;
  const box = sealedBox(sessionKey, openId.issuer);
  const redirectUri = (): string => new URL(CALLBACK, consoleUrl()).href;
  /** One for each sign-in that has begun, so that two tabs don't disturb each other. */
  const cookieOf = (state: string): string =>
    `${sessions.cookieName}_${state.replace(/[^\w-]/g, '').slice(0, 12)}`;
  const keepSession = (c: Context, value: string): void =>
    keepCookie(c, context, { name: sessions.cookieName, value }, { ...OF_ISSUER, path: '/' });

  console.get(START, async (c) => {
    // Cookies belong to a host name, and the issuer sends people to one of them only.
    const { host } = new URL(consoleUrl());
    if (c.req.header('host') !== host && c.req.query('here') === undefined) {
      const there = new URL(`${START}?here`, consoleUrl());
      there.searchParams.set('to', localPath(c.req.query('to')));
      return c.redirect(there.href, 303);
    }
    try {
      const { url, begun } = await openId.begin(redirectUri());
      const sealed = await box.seal({ ...begun, to: localPath(c.req.query('to')) });
      const cookie = { name: cookieOf(begun.state), value: sealed };
      const kept = { ...OF_ISSUER, path: '/sign-in', maxAgeSeconds: BEGUN_LASTS_SECONDS };
      keepCookie(c, context, cookie, kept);
      return c.redirect(url.href, 303);
    } catch (error) {
      return failed(c, error);
    }
  });

  console.get(CALLBACK, async (c) => {
    const name = cookieOf(c.req.query('state') ?? '');
    const begun = await box.open(getCookie(c, name));
    deleteCookie(c, name, { path: '/sign-in' });
    if (begun === null) return failed(c, new SignInRefused(NOT_BEGUN));
    try {
      const answer = new URL(redirectUri());
      answer.search = new URL(c.req.url).search;
      const { idToken, ...known } = await openId.finish(answer, begun);
      keepSession(c, sessions.openFor(known, Date.now()));
      const hint = { name: hintCookie(context), value: idToken };
      if (idToken.length <= LONGEST_HINT) keepCookie(c, context, hint, { ...OF_ISSUER, path: '/sign-out' });
      return c.redirect(begun.to, 303);
    } catch (error) {
      return failed(c, error);
    }
  });

  /** A page that was opened by somebody keeps their session; what a page fetches by itself does not. */
  console.use(async (c, next) => {
    await next();
    const standing = access.standing(c);
    const renewed = 'session' in standing ? standing.session.renewed : null;
    const isLeaving = c.res.headers.getSetCookie().some((set) => set.startsWith(`${sessions.cookieName}=`));
    if (renewed === null || isLeaving || c.req.header('sec-fetch-dest') === 'empty') return;
    keepSession(c, renewed);
  });

  async function failed(c: Context, error: unknown): Promise<Response> {
    const isAway = error instanceof IssuerUnreachable;
    if (!isAway && !(error instanceof SignInRefused)) throw error;
    if (isAway) context.onError(error);
    const content = signInFailedPage(error.message);
    return await show(c, context, { title: 'Not signed in', here: 'elsewhere' }, content, isAway ? 503 : 403);
  }
}

/** Forgets what belongs to the issuer's session. Where to sign out there; null: that can't be done. */
export async function signOutAtIssuer(c: Context, context: ConsoleContext): Promise<URL | null> {
  const { signIn, consoleUrl } = context;
  const name = hintCookie(context);
  const idToken = getCookie(c, name);
  deleteCookie(c, name, { path: '/sign-out' });
  if (signIn === null) return null;
  return await signIn.signOutUrl(new URL('/sign-in', consoleUrl()).href, idToken);
}

const hintCookie = ({ sessions }: Pick<ConsoleContext, 'sessions'>): string => `${sessions.cookieName}_id`;

const NOT_BEGUN =
  'This sign-in was not begun in this browser, took too long, or was used already. Nobody was signed in. Begin again.';

interface SealedBox {
  seal(begun: Begun): Promise<string>;
  /** null: not sealed here, for another issuer, or too old. */
  open(sealed: string | undefined): Promise<Begun | null>;
}

function sealedBox(sessionKey: Uint8Array, issuer: string): SealedBox {
  const key = new Uint8Array(hkdfSync('sha256', sessionKey, '', 'readback console sign-in', 32));
  return {
    seal: async (begun) =>
      await new EncryptJWT(begun)
        .setProtectedHeader({ alg: 'dir', enc: 'A256GCM' })
        .setAudience(issuer)
        .setExpirationTime(`${BEGUN_LASTS_SECONDS} s`)
        .encrypt(key),
    async open(sealed) {
      try {
        const { payload } = await jwtDecrypt(sealed ?? '', key, {
          audience: issuer,
          requiredClaims: ['exp'],
        });
        return BEGUN.parse(payload);
      } catch {
        return null;
      }
    },
  };
}
