/** How a connection signs in, from the file to what the rest of Readback works with. */
import type { Json } from '../values.ts';
import type { Auth, SignScheme, TokenRequest } from './auth-definition.ts';
import { isDuration, type RawAuth } from './auth-schema.ts';
import { milliseconds } from './durations.ts';
import { didYouMean, listed, type Report } from './problems.ts';
import { checkExpression } from './scope.ts';
import { SIGN_PRESETS, SIGN_WORDS, type SignPreset } from './sign-presets.ts';

/** Mistakes are reported below the connection. `tokenUrl` fills in the simulator, and checks an address. */
export function resolveAuth(
  raw: RawAuth | undefined,
  tokenUrl: (text: string, report: Report) => string,
  report: Report,
): Auth {
  if (raw?.bearer !== undefined) return { kind: 'bearer', token: raw.bearer };
  if (raw?.basic !== undefined) return { kind: 'basic', ...raw.basic };
  if (raw?.digest !== undefined) return { kind: 'digest', ...raw.digest };
  if (raw?.header !== undefined) return { kind: 'header', values: raw.header };
  if (raw?.query !== undefined) return { kind: 'query', values: raw.query };
  const below =
    (kind: string): Report =>
    (path, message) =>
      report(['auth', kind, ...path], message);
  if (raw?.sign !== undefined) return { kind: 'sign', ...signScheme(raw.sign, below('sign')) };
  if (raw?.oauth !== undefined) {
    const { clientSecret = null, refreshToken = null, scope = null, ...client } = raw.oauth;
    if (clientSecret === null && refreshToken === null)
      below('oauth')(
        [],
        'needs a clientSecret, a refreshToken, or both: else there is nothing to sign in with',
      );
    return {
      kind: 'oauth',
      tokenUrl: tokenUrl(client.tokenUrl, below('oauth')),
      clientId: client.clientId,
      clientSecret,
      clientAuth: client.clientAuth ?? 'basic',
      refreshToken,
      scope,
      parameters: client.parameters ?? {},
    };
  }
  if (raw?.login !== undefined) return loginOf(raw.login, below('login'));
  return { kind: 'none' };
}

function loginOf(raw: NonNullable<RawAuth['login']>, report: Report): Auth {
  const body = (raw.body ?? { username: '{username}', password: '{password}' }) as Json;
  if (!JSON.stringify(body).includes('{password}'))
    report(['body'], 'nothing in it is {password}: where it stands, the password is filled in');
  const carried: Readonly<Record<string, string>> =
    raw.pick === undefined ? { cookie: '{token}' } : { authorization: 'Bearer {token}' };
  const headers = raw.headers ?? carried;
  for (const [name, text] of Object.entries(headers)) checkWords(text, ['token'], ['headers', name], report);
  if (!Object.values(headers).some((text) => text.includes('{token}')))
    report(['headers'], 'none of them holds {token}: that is what the request has brought');
  return {
    kind: 'login',
    ...tokenRequest(raw, report),
    username: raw.username,
    password: raw.password,
    body,
    as: raw.as ?? 'json',
    headers,
  };
}

function signScheme(raw: NonNullable<RawAuth['sign']>, report: Report): SignScheme {
  const { preset: name = null } = raw;
  const preset: Partial<SignPreset> = name === null ? {} : SIGN_PRESETS[name];
  const over = raw.over ?? preset.over ?? '';
  const headers = raw.headers ?? preset.headers ?? {};
  const login = raw.login === undefined ? preset.login : raw.login;
  if (over === '')
    report([], `give "over", what is signed, or a preset: ${listed(Object.keys(SIGN_PRESETS))}`);
  checkWords(over, SIGN_WORDS, ['over'], report);
  for (const [header, text] of Object.entries(headers))
    checkWords(text, [...SIGN_WORDS, 'signature'], ['headers', header], report);
  const texts = [over, ...Object.values(headers)];
  if (over !== '' && !texts.some((text) => text.includes('{signature}')))
    report(['headers'], 'none of them holds {signature}: the API would see none');
  const comesByLogin = login != null && raw.token === undefined;
  if (raw.token === undefined && !comesByLogin && texts.some((text) => text.includes('{token}')))
    report(['token'], 'is missing: this scheme signs with a token');
  if (raw.clientId === undefined && texts.some((text) => text.includes('{clientId}')))
    report(['clientId'], 'is missing: this scheme signs with a client id');
  return {
    preset: name,
    over,
    hash: raw.hash ?? preset.hash ?? 'sha256',
    encode: raw.encode ?? preset.encode ?? 'hex',
    secretAs: raw.secretAs ?? preset.secretAs ?? 'text',
    timestamp: raw.timestamp ?? preset.timestamp ?? 'seconds',
    headers,
    secret: raw.secret,
    token: raw.token ?? null,
    clientId: raw.clientId ?? null,
    login: comesByLogin ? tokenRequest(login, (path, message) => report(['login', ...path], message)) : null,
  };
}

function tokenRequest(
  raw: {
    readonly request: string;
    readonly pick?: string | undefined;
    readonly expires?: string | 0 | undefined;
  },
  report: Report,
): TokenRequest {
  const space = raw.request.indexOf(' ');
  const scope = { roots: ['status', 'body', 'headers'], params: [], groups: {} };
  if (raw.pick !== undefined) checkExpression(raw.pick, scope, ['pick'], report);
  const { expires } = raw;
  const expiresAfterMs = expires !== undefined && isDuration(expires) ? milliseconds(expires) : null;
  if (typeof expires === 'string' && expiresAfterMs === null)
    checkExpression(expires, scope, ['expires'], report);
  return {
    request: { method: raw.request.slice(0, space), path: raw.request.slice(space + 1) },
    pick: raw.pick ?? null,
    expires: typeof expires === 'string' && expiresAfterMs === null ? expires : null,
    expiresAfterMs,
  };
}

function checkWords(text: string, words: readonly string[], path: readonly string[], report: Report): void {
  for (const [, word = ''] of text.matchAll(/\{(\w*)\}/g)) {
    if (!words.includes(word))
      report(
        path,
        `{${word}} is unknown: allowed here: ${listed(words.map((one) => `{${one}}`))}.${didYouMean(word, words)}`,
      );
  }
}
