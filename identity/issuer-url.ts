/** Where an issuer may be. Apart from what talks to it, so that whoever only checks a flag needn't load that. */

/** Throws what is wrong with it: an issuer is reached over TLS, but for one on this machine, and has no query or fragment. */
export function checkedIssuerUrl(text: string): string {
  if (!URL.canParse(text))
    throw new Error('An issuer is a URL, as in https://login.example.com/realms/home.');
  if (!isSafelyReached(text))
    throw new Error(
      'An issuer is reached over https: whoever changes its keys on the way can sign in as anybody.',
    );
  const { search, hash, username } = new URL(text);
  if (search !== '' || hash !== '' || username !== '')
    throw new Error("An issuer's URL has no query, no fragment and no user name.");
  return text;
}

/** Over TLS, or without leaving this machine. */
export function isSafelyReached(url: string): boolean {
  if (!URL.canParse(url)) return false;
  const { protocol, hostname } = new URL(url);
  const isThisMachine = ['localhost', '[::1]'].includes(hostname) || /^127(\.\d{1,3}){3}$/.test(hostname);
  return protocol === 'https:' || (protocol === 'http:' && isThisMachine);
}
