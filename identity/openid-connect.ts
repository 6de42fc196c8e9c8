/**
 * People sign in at the issuer: OpenID Connect's authorization code flow with PKCE, state and nonce (OpenID Connect Core 1.0,
 * RFC 9700). What has to be remembered between its two halves is handed out, so that any process can finish what another
 * one began.
 */
import { jwtVerify } from 'jose';
import * as openid from 'openid-client';
import { z } from 'zod';
import { plain } from '../domain/text.ts';
import { CLOCK_SKEW_SECONDS } from './access-token.ts';
import { type Issuer, type IssuerMetadata, IssuerUnreachable } from './issuer.ts';
import { isSafelyReached } from './issuer-url.ts';
import { hidesWhoIsWho, subjectIn } from './subject.ts';

/** Scope of those who may decide approvals; asked for where the issuer says that it has it. */
const APPROVER_SCOPE = 'approvals:decide';

/** What the issuer knows this server by. */
export interface OpenIdClient {
  readonly issuer: Issuer;
  readonly clientId: string;
  /** null: a public client, which PKCE alone protects. */
  readonly clientSecret: string | null;
}

/** The first half of a sign-in. Whoever holds it can finish the sign-in, if they also hold the issuer's answer. */
export const BEGUN_SIGN_IN = z.object({ state: z.string(), nonce: z.string(), verifier: z.string() });
export type BegunSignIn = z.infer<typeof BEGUN_SIGN_IN>;

/** Who the issuer says is at the browser. */
export interface KnownPerson {
  /** Issuer and subject in one word, as owners of commands are called. */
  readonly subject: string;
  /** As the issuer calls them for people to read: they may have chosen it themselves, so it proves nothing. */
  readonly shownAs: string;
  /** The issuer has granted them the scope of approvers. */
  readonly mayDecide: boolean;
  /** Names the session at the issuer when signing out there. */
  readonly idToken: string;
}

export interface OpenIdConnect {
  readonly issuer: string;
  /** Throws `SignInRefused` or `IssuerUnreachable` where nobody can sign in there. */
  check(): Promise<void>;
  /** Where to send the browser, and what to remember of it. Throws as `check` does. */
  begin(redirectUri: string): Promise<{ readonly url: URL; readonly begun: BegunSignIn }>;
  /** `answer`: the redirect URI as the browser came back to it. Throws `SignInRefused` or `IssuerUnreachable`. */
  finish(answer: URL, begun: BegunSignIn): Promise<KnownPerson>;
  /** Where to sign out at the issuer (OpenID Connect RP-Initiated Logout 1.0); null: it has no such place, or is away. */
  signOutUrl(back: string, idToken: string | undefined): Promise<URL | null>;
}

/** Nobody was signed in. The message says why, to the person, without anything that was secret. */
export class SignInRefused extends Error {}

const ANSWERS_WITHIN_SECONDS = 5;
const LONGEST_NAME = 64;

export function openIdConnect(client: OpenIdClient): OpenIdConnect {
  const { issuer } = client;
  return {
    issuer: issuer.url,
    check: async () => void (await configured(client)),
    async begin(redirectUri) {
      const configuration = await configured(client);
      const begun = {
        state: openid.randomState(),
        nonce: openid.randomNonce(),
        verifier: openid.randomPKCECodeVerifier(),
      };
      const known = configuration.serverMetadata().scopes_supported ?? [];
      const url = openid.buildAuthorizationUrl(configuration, {
        redirect_uri: redirectUri,
        scope: ['openid', 'profile', ...(known.includes(APPROVER_SCOPE) ? [APPROVER_SCOPE] : [])].join(' '),
        state: begun.state,
        nonce: begun.nonce,
        code_challenge: await openid.calculatePKCECodeChallenge(begun.verifier),
        code_challenge_method: 'S256',
      });
      return { url, begun };
    },
    async finish(answer, { state, nonce, verifier }) {
      const configuration = await configured(client);
      try {
        const tokens = await openid.authorizationCodeGrant(configuration, answer, {
          expectedState: state,
          expectedNonce: nonce,
          pkceCodeVerifier: verifier,
          idTokenExpected: true,
        });
        return await personIn(tokens, client);
      } catch (error) {
        throw refusal(error, issuer.url);
      }
    },
    async signOutUrl(back, idToken) {
      const configuration = await configured(client).catch(() => null);
      if (configuration?.serverMetadata().end_session_endpoint === undefined) return null;
      const hint = idToken === undefined ? {} : { id_token_hint: idToken };
      return openid.buildEndSessionUrl(configuration, { post_logout_redirect_uri: back, ...hint });
    },
  };
}

async function configured({ issuer, clientId, clientSecret }: OpenIdClient): Promise<openid.Configuration> {
  const metadata = await issuer.metadata();
  const endpoint = endpointIn(metadata, 'token_endpoint');
  endpointIn(metadata, 'authorization_endpoint');
  if (hidesWhoIsWho(issuer, metadata))
    throw new SignInRefused(
      `${issuer.url} calls everybody by another word in each application (pairwise), so that nobody could tell that who decides is not who asked. ` +
        'Whoever runs this server has to say with --auth-subject-claim which claim names people everywhere alike.',
    );
  const configuration = new openid.Configuration(
    metadata as openid.ServerMetadata & typeof metadata,
    clientId,
    { [openid.clockTolerance]: CLOCK_SKEW_SECONDS },
    authentication(metadata['token_endpoint_auth_methods_supported'], clientSecret),
  );
  configuration.timeout = ANSWERS_WITHIN_SECONDS;
  // It was checked above: plain HTTP is for an issuer on this machine alone.
  // oxlint-disable-next-line typescript/no-deprecated
  if (new URL(endpoint).protocol === 'http:') openid.allowInsecureRequests(configuration);
  return configuration;
}

function endpointIn(metadata: IssuerMetadata, name: string): string {
  const { [name]: endpoint } = metadata;
  if (typeof endpoint === 'string' && isSafelyReached(endpoint)) return endpoint;
  throw new IssuerUnreachable(`${metadata.issuer} publishes no ${name} that is safely reached.`);
}

/** `client_secret_basic` is what every issuer has, where it doesn't say otherwise. */
function authentication(supported: unknown, secret: string | null): openid.ClientAuth {
  if (secret === null) return openid.None();
  const basic = !Array.isArray(supported) || supported.includes('client_secret_basic');
  return basic ? openid.ClientSecretBasic(secret) : openid.ClientSecretPost(secret);
}

type Tokens = Awaited<ReturnType<typeof openid.authorizationCodeGrant>>;

/** The issuer's signature is checked as well, though the token came straight from it: there may be no TLS in between. */
async function personIn(tokens: Tokens, { issuer, clientId }: OpenIdClient): Promise<KnownPerson> {
  const { id_token: idToken = '' } = tokens;
  const { payload } = await jwtVerify(idToken, issuer.key, {
    issuer: issuer.url,
    audience: clientId,
    clockTolerance: CLOCK_SKEW_SECONDS,
  });
  const subject = subjectIn(payload, issuer);
  if (subject === null)
    throw new SignInRefused(
      `The issuer's word for you (${issuer.subjectClaim}) is missing, or longer than this server can keep.`,
    );
  const { name: fullName, preferred_username: userName, email, sub } = payload;
  const names = [fullName, userName, email, sub];
  const name = names.find((one) => typeof one === 'string' && plain(one, LONGEST_NAME) !== '');
  return {
    subject,
    shownAs: plain(String(name), LONGEST_NAME),
    // Only what it says: an issuer that doesn't tell what it has granted has granted nothing here.
    mayDecide: tokens.scope?.split(' ').includes(APPROVER_SCOPE) === true,
    idToken,
  };
}

/** Neither the error nor its cause goes further: they hold codes and tokens. */
function refusal(error: unknown, issuer: string): Error {
  if (error instanceof SignInRefused || error instanceof IssuerUnreachable) return error;
  if (error instanceof openid.AuthorizationResponseError)
    return new SignInRefused(
      `${issuer} did not sign you in: ${plain(error.error, LONGEST_NAME)}${described(error)}.`,
    );
  // With a challenge for the client itself, where it has shown its secret in the header.
  const isAboutClient =
    error instanceof openid.WWWAuthenticateChallengeError ||
    (error instanceof openid.ResponseBodyError && error.error === 'invalid_client');
  if (isAboutClient)
    return new SignInRefused(
      `${issuer} does not accept how this server signs in there (invalid_client): its --console-client-id and secret have to be mended.`,
    );
  if (error instanceof openid.ResponseBodyError)
    return new SignInRefused(
      `${issuer} did not accept this sign-in (${plain(error.error, LONGEST_NAME)}): it was used already, or took too long.`,
    );
  const code = (error as { code?: unknown }).code;
  if (error instanceof TypeError || code === 'OAUTH_TIMEOUT' || code === 'OAUTH_RESPONSE_IS_NOT_CONFORM')
    return new IssuerUnreachable(`${issuer} can't be reached just now.`);
  return new SignInRefused(`What came back from ${issuer} was no valid sign-in. Nobody was signed in.`);
}

const described = ({ error_description: text }: openid.AuthorizationResponseError): string =>
  text === undefined ? '' : ` ("${plain(text, 200)}")`;
