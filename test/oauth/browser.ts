/** As much of a browser as signing in needs: cookies by host and path, and redirects from one site to the next. */

export interface Page {
  readonly url: URL;
  readonly status: number;
  readonly headers: Headers;
  readonly text: string;
}

export interface CookieBrowser {
  /** `name=value` of every cookie that it would send there. */
  cookiesFor(url: string | URL): string[];
  /** One request. */
  ask(
    url: string | URL,
    init?: { method?: string; body?: URLSearchParams; headers?: Record<string, string> },
  ): Promise<Page>;
  /** Follows redirects; `until` stops before an address is opened, and gives it. */
  open(url: string | URL, until?: (next: URL) => boolean): Promise<Page>;
  /** Posts a form of the page that it is in, as a person pressing its button. */
  post(page: Page, action: string, fields: Readonly<Record<string, string>>): Promise<Page>;
  /** Another browser with the same cookies, as they are now. */
  copy(): CookieBrowser;
}

interface Cookie {
  readonly host: string;
  readonly path: string;
  readonly name: string;
  readonly value: string;
}

const MOST_REDIRECTS = 12;

export function cookieBrowser(kept: readonly Cookie[] = []): CookieBrowser {
  let cookies: readonly Cookie[] = kept;
  const matching = ({ hostname, pathname }: URL): string[] =>
    cookies
      .filter(
        ({ host, path }) =>
          host === hostname && (pathname === path || pathname.startsWith(path.replace(/\/*$/, '/'))),
      )
      .map(({ name, value }) => `${name}=${value}`);

  function keep(set: string, { hostname }: URL): void {
    const [pair = '', ...attributes] = set.split(/; */);
    const [, name = '', value = ''] = /^([^=]+)=(.*)$/.exec(pair) ?? [];
    const attribute = (wanted: string): string | undefined =>
      attributes.map((one) => one.split('=')).find(([key]) => key?.toLowerCase() === wanted)?.[1];
    const path = attribute('path') ?? '/';
    cookies = cookies.filter((one) => one.host !== hostname || one.name !== name || one.path !== path);
    const expires = attribute('expires');
    const isOver =
      attribute('max-age') === '0' || (expires !== undefined && Date.parse(expires) < Date.now());
    if (!isOver) cookies = [...cookies, { host: hostname, path, name, value }];
  }

  const browser: CookieBrowser = {
    cookiesFor: (url) => matching(new URL(url)),
    async ask(url, { headers = {}, ...init } = {}) {
      const at = new URL(url);
      const cookie = matching(at).join('; ');
      const response = await fetch(at, { redirect: 'manual', ...init, headers: { cookie, ...headers } });
      for (const set of response.headers.getSetCookie()) keep(set, at);
      return { url: at, status: response.status, headers: response.headers, text: await response.text() };
    },
    async open(url, until = () => false) {
      let page = await browser.ask(url);
      for (let hops = 0; hops < MOST_REDIRECTS; hops += 1) {
        const location = page.headers.get('location');
        if (location === null) return page;
        const next = new URL(location, page.url);
        if (until(next)) return { ...page, url: next };
        page = await browser.ask(next);
      }
      throw new Error(`too many redirects, the last one to ${page.url.href}`);
    },
    async post(page, action, fields) {
      const url = new URL(action, page.url);
      const { origin } = page.url;
      const answer = await browser.ask(url, {
        method: 'POST',
        body: new URLSearchParams(fields),
        headers: { origin, 'sec-fetch-site': url.origin === origin ? 'same-origin' : 'cross-site' },
      });
      const location = answer.headers.get('location');
      return location === null ? answer : await browser.open(new URL(location, url));
    },
    copy: () => cookieBrowser(cookies),
  };
  return browser;
}
