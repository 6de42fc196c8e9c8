/** A console in front of the real thing, with a real issuer at which people sign in. */
import { subjectAt } from '../../domain/approval/person.ts';
import { openIssuer } from '../../identity/issuer.ts';
import { type OpenIdConnect, openIdConnect } from '../../identity/openid-connect.ts';
import {
  APPLICATION,
  type AuthorizationServer,
  startAuthorizationServer,
} from '../oauth/authorization-server.ts';
import { type CookieBrowser, cookieBrowser, type Page } from '../oauth/browser.ts';
import { type Operating, operate } from './operating.ts';

export const CALLBACK = '/sign-in/callback';

export const csrfIn = ({ text }: Page): string => /name="csrf" value="([^"]+)"/.exec(text)?.[1] ?? 'none';

export interface AtIssuer {
  readonly operating: Operating;
  readonly server: AuthorizationServer;
  readonly url: string;
  /** The console as a client of the issuer; with its own secret unless given another. */
  connected(clientSecret?: string | null, clientId?: string): OpenIdConnect;
  /** One more console, which the issuer knows as well. */
  serving(openId?: OpenIdConnect, more?: Parameters<Operating['serve']>[0]): Promise<string>;
  /** Issuer and subject in one word. */
  idOf(subject: string): string;
  signedIn(
    subject: string,
    options?: { claims?: Record<string, unknown>; to?: string; at?: string },
  ): Promise<{ browser: CookieBrowser; page: Page }>;
  close(): Promise<void>;
}

export async function operateAtIssuer(): Promise<AtIssuer> {
  const [operating, server] = await Promise.all([operate(), startAuthorizationServer()]);
  const connected: AtIssuer['connected'] = (
    clientSecret = APPLICATION.clientSecret,
    clientId = APPLICATION.clientId,
  ) => {
    const issuer = openIssuer(server.issuer, { refetchEveryMs: 0, pauseAfterFailureMs: 0 });
    return openIdConnect({ issuer, clientId, clientSecret });
  };
  const serving: AtIssuer['serving'] = async (openId = connected(), more = {}) => {
    const served = await operating.serve({ signIn: openId, ...more });
    server.allowRedirectTo(`${served}${CALLBACK}`);
    return served;
  };
  const url = await serving();
  return {
    operating,
    server,
    url,
    connected,
    serving,
    idOf: (subject) => subjectAt(server.issuer, subject),
    async signedIn(subject, { claims = {}, to = '/', at = url } = {}) {
      server.signInAs(subject, claims);
      const browser = cookieBrowser();
      const page = await browser.open(`${at}/sign-in/issuer?to=${encodeURIComponent(to)}`);
      return { browser, page };
    },
    async close() {
      await operating.close();
      await server.close();
    },
  };
}
