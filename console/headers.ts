/** What browsers are told about every page: nothing from elsewhere, in no frame, kept nowhere. */
import type { Context, Hono } from 'hono';
import { bodyLimit } from 'hono/body-limit';
import { secureHeaders } from 'hono/secure-headers';

/** 200 decisions with a comment are a tenth of this. */
const MAX_BODY_BYTES = 128 * 1024;

export function protect(console: Hono): void {
  console.use(
    secureHeaders({
      contentSecurityPolicy: {
        defaultSrc: ["'none'"],
        scriptSrc: ["'self'"],
        styleSrc: ["'self'"],
        imgSrc: ["'self'"],
        connectSrc: ["'self'"],
        formAction: ["'self'"],
        baseUri: ["'none'"],
        frameAncestors: ["'none'"],
      },
      xFrameOptions: 'DENY',
      // Not `no-referrer`: with it browsers hide the origin of our own forms.
      referrerPolicy: 'same-origin',
      // Whether this is served over TLS is for whatever stands in front to say.
      strictTransportSecurity: false,
    }),
  );
  console.use(async (c, next) => {
    await next();
    if (!c.res.headers.has('Cache-Control')) c.res.headers.set('Cache-Control', 'no-store');
  });
  console.use(
    bodyLimit({
      maxSize: MAX_BODY_BYTES,
      // The rest of it is not read, so the connection can't be used again.
      onError: (c) =>
        c.text(`The request body must not be larger than ${MAX_BODY_BYTES} bytes.\n`, 413, {
          Connection: 'close',
        }),
    }),
  );
}

/**
 * Does a request come from our own page, as far as the browser says? Programs say nothing. The door has checked the
 * host name already; here the port counts too, since whatever else runs on this machine is another site.
 */
export function isFromElsewhere(c: Context): boolean {
  const site = c.req.header('sec-fetch-site');
  if (site !== undefined && site !== 'same-origin' && site !== 'none') return true;
  const origin = c.req.header('origin');
  if (origin === undefined) return false;
  return !URL.canParse(origin) || new URL(origin).host !== c.req.header('host');
}
