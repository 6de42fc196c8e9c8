/** The ways to show who we are: the same with every request, by the answer to a challenge, or by a session. */
import type { HttpRequest } from '../http-request.ts';
import type { Account } from './digest.ts';
import { createDigest } from './digest-session.ts';
import type { NotSignedIn, Sessions } from './session.ts';

/** What an exchange needs to be taken as ours. Of one exchange: another one asks again. */
export interface Credentials {
  readonly kind: 'credentials';
  /** The request as it goes out this time: times, nonces and counts are of this very attempt. */
  apply(request: HttpRequest): HttpRequest;
  /** The API has taken them. */
  worked(): void;
  /** The API has turned them away, with these headers. Others, if there are any; null: they are all there is. */
  renew(headers: Readonly<Record<string, string>>): Promise<Credentials | NotSignedIn | null>;
  /** The API has turned away what was renewed a moment ago: then it is over. null: there is nothing to add. */
  refused(headers: Readonly<Record<string, string>>): NotSignedIn | null;
}

export interface Way {
  /** Signs in where that is needed. Never rejects. */
  credentials(): Promise<Credentials | NotSignedIn>;
  /** May a request be signed again for where a redirect leads? */
  readonly followsRedirects: boolean;
}

export const UNCHANGING: Pick<Credentials, 'worked' | 'renew' | 'refused'> = {
  worked: () => undefined,
  renew: async () => null,
  refused: () => null,
};

/** The same with every request, whatever the API says to it. */
export function constant(
  headers: Readonly<Record<string, string>>,
  query: Readonly<Record<string, string>>,
): Way {
  const appended = Object.entries(query)
    .map(([name, value]) => `${encodeURIComponent(name)}=${encodeURIComponent(value)}`)
    .join('&');
  const credentials: Credentials = {
    kind: 'credentials',
    apply: ({ path, ...request }) => ({
      ...request,
      path: appended === '' ? path : `${path}${path.includes('?') ? '&' : '?'}${appended}`,
      headers: { ...request.headers, ...headers },
    }),
    ...UNCHANGING,
  };
  return { credentials: async () => credentials, followsRedirects: true };
}

export function byDigest(connection: string, account: Account): Way {
  const digest = createDigest(connection, account);
  const credentials = (): Credentials | NotSignedIn => {
    const attempt = digest.attempt();
    if (attempt.kind !== 'attempt') return attempt;
    return {
      kind: 'credentials',
      apply(request) {
        const header = attempt.authorization(request);
        return header === null
          ? request
          : { ...request, headers: { ...request.headers, authorization: header } };
      },
      worked: () => digest.worked(),
      async renew(headers) {
        const refusal = digest.challenged(headers);
        return refusal ?? credentials();
      },
      refused: (headers) => digest.refused(headers),
    };
  };
  return { credentials: async () => credentials(), followsRedirects: true };
}

/** `headersFor`: what carries a token on this very attempt. */
export function bySession(
  sessions: Sessions,
  headersFor: (token: string, request: HttpRequest) => Readonly<Record<string, string>>,
): Way {
  type Got = Awaited<ReturnType<Sessions['current']>>;
  const credentialsOf = (got: Got): Credentials | NotSignedIn => {
    if ('kind' in got) return got;
    return {
      kind: 'credentials',
      apply: (request) => ({
        ...request,
        headers: { ...request.headers, ...headersFor(got.token, request) },
      }),
      worked: () => sessions.worked(got),
      renew: async () => credentialsOf(await kept(sessions.renew(got))),
      refused: () => sessions.refused(got),
    };
  };
  const kept = async (session: Promise<Got>): Promise<Got> => {
    try {
      return await session;
    } catch (error) {
      const code = error instanceof Error && 'code' in error ? String(error.code) : 'unknown error';
      return { kind: 'unreached', why: `the sign-in can't be looked up in the data folder (${code})` };
    }
  };
  return { credentials: async () => credentialsOf(await kept(sessions.current())), followsRedirects: true };
}
