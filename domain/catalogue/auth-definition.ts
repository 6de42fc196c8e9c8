/** How a connection shows who we are, as the rest of Readback works with it. */
import type { Json } from '../values.ts';
import type { Expression } from './definition.ts';

/** Secret texts stay inside this type; no expression, path, log or history sees them. */
export type Auth =
  | { readonly kind: 'none' }
  | { readonly kind: 'bearer'; readonly token: string }
  | { readonly kind: 'basic' | 'digest'; readonly username: string; readonly password: string }
  | { readonly kind: 'header' | 'query'; readonly values: Readonly<Record<string, string>> }
  | ({ readonly kind: 'sign' } & SignScheme)
  | ({ readonly kind: 'oauth' } & OAuthClient)
  | ({ readonly kind: 'login' } & Login);

/** An HMAC over each request. Texts in braces are filled in for each attempt (`SIGN_WORDS`, and `{signature}` in headers). */
export interface SignScheme {
  readonly preset: string | null;
  readonly over: string;
  readonly hash: 'sha256' | 'sha1' | 'sha512' | 'md5';
  readonly encode: 'hex' | 'HEX' | 'base64' | 'base64url';
  readonly secretAs: 'text' | 'hex' | 'base64';
  readonly timestamp: 'seconds' | 'milliseconds' | 'iso';
  /** One that comes out empty is left out. */
  readonly headers: Readonly<Record<string, string>>;
  readonly secret: string;
  readonly token: string | null;
  readonly clientId: string | null;
  /** Where the token comes from by itself, by a request signed without one. null: `token` is all there is. */
  readonly login: TokenRequest | null;
}

/** OAuth 2.0. With a refresh token the token is refreshed, else the client signs in as itself. */
export interface OAuthClient {
  readonly tokenUrl: string;
  readonly clientId: string;
  readonly clientSecret: string | null;
  readonly clientAuth: 'basic' | 'post';
  readonly refreshToken: string | null;
  readonly scope: string | null;
  readonly parameters: Readonly<Record<string, string>>;
}

/** A request on the connection's own origin whose reply holds a token. Expressions see its `status`, `body` and `headers`. */
export interface TokenRequest {
  readonly request: { readonly method: string; readonly path: string };
  /** null: the cookies that it sets. */
  readonly pick: Expression | null;
  readonly expires: Expression | null;
  readonly expiresAfterMs: number | null;
}

export interface Login extends TokenRequest {
  readonly username: string;
  readonly password: string;
  /** A tree; `{username}` and `{password}` in its texts are filled in. */
  readonly body: Json;
  readonly as: 'json' | 'form';
  /** With `{token}`. */
  readonly headers: Readonly<Record<string, string>>;
}
