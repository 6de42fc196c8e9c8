/** How an account is signed in to, where that takes more than a fixed word in each request. */
import { z } from 'zod';
import { duration } from './duration.ts';

const sign = z.strictObject({
  secret: z.string(),
  /** What has to be signed: {method}, {path}, {sortedPath}, {body}, {bodyHash}, {timestamp}, {nonce}, {token}, {clientId}. */
  over: z.string(),
  header: z.string(),
  /** Before the signature in that header. */
  prefix: z.string().default(''),
  hash: z.enum(['sha256', 'sha1', 'sha512', 'md5']).default('sha256'),
  encode: z.enum(['hex', 'HEX', 'base64', 'base64url']).default('hex'),
  timestamp: z
    .strictObject({
      header: z.string(),
      in: z.enum(['seconds', 'milliseconds']).default('seconds'),
      within: duration.default(300_000),
    })
    .optional(),
  /** Header of the nonce; none may come twice. */
  nonce: z.string().optional(),
  token: z.string().optional(),
  clientId: z.string().optional(),
});

const account = { username: z.string(), password: z.string() };
const expires = duration.default(3_600_000);

const digest = z.strictObject({
  ...account,
  algorithm: z.enum(['MD5', 'SHA-256']).default('SHA-256'),
  /** After so many uses a nonce is stale. */
  nonceUses: z.int().positive().default(1000),
});

const oauth = z.strictObject({
  clientId: z.string(),
  clientSecret: z.string().optional(),
  /** With it tokens are refreshed; without it the client signs in as itself. */
  refreshToken: z.string().optional(),
  /** Each refresh makes the refresh token another one. */
  rotates: z.boolean().default(false),
  expires,
});

const login = z.strictObject({ ...account, gives: z.enum(['token', 'cookie']).default('token'), expires });

export const accountAuth = [
  z.strictObject({ sign }),
  z.strictObject({ digest }),
  z.strictObject({ oauth }),
  z.strictObject({ login }),
] as const;

const anyAccount = z.union(accountAuth);
export type AccountAuth = z.output<typeof anyAccount>;
export type SignOptions = z.output<typeof sign>;
export type DigestOptions = z.output<typeof digest>;
export type OAuthOptions = z.output<typeof oauth>;
export type LoginOptions = z.output<typeof login>;
