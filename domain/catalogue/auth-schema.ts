/** The shape of a connection's `auth`: the ways in which an API may want to know who we are. */
import { z } from 'zod';
import { DURATION } from './durations.ts';
import { duration, expression, map, requestLine } from './shapes.ts';
import { SIGN_PRESETS } from './sign-presets.ts';

export const secretText = z
  .string()
  .min(1)
  .describe('Write secrets as ${NAME} (environment) or ${file:PATH}.');
const account = map({ username: secretText, password: secretText });

/** When what was given stops working: after so long, or as an expression over the reply tells. */
const expires = z
  .union([duration, expression], {
    error: 'give a duration such as 30m, or an expression such as body.expiresIn',
  })
  .describe(
    'A duration, or an expression over the reply: seconds from now, epoch seconds or milliseconds, or a date.',
  );
const templates = z.record(z.string(), z.string());
const tokenReply = {
  request: requestLine.describe('The request that signs in, e.g. "POST /login".'),
  pick: expression.optional().describe('Where the token is in the reply. Default for login: its cookies.'),
  expires: expires.optional(),
};

const sign = map({
  preset: z
    .enum(Object.keys(SIGN_PRESETS) as [keyof typeof SIGN_PRESETS])
    .optional()
    .describe('A known scheme; the other keys replace what it says.'),
  secret: secretText,
  token: secretText.optional(),
  clientId: secretText.optional(),
  over: z
    .string()
    .min(1)
    .optional()
    .describe('What is signed, with {method}, {path}, {body}, {timestamp}, …'),
  hash: z.enum(['sha256', 'sha1', 'sha512', 'md5']).optional().describe('Of the HMAC. Default: sha256.'),
  encode: z
    .enum(['hex', 'HEX', 'base64', 'base64url'])
    .optional()
    .describe('How the signature is written. Default: hex.'),
  secretAs: z
    .enum(['text', 'hex', 'base64'])
    .optional()
    .describe('How the secret is written. Default: text, whose bytes are the key.'),
  timestamp: z
    .enum(['seconds', 'milliseconds', 'iso'])
    .optional()
    .describe('How {timestamp} is written. Default: seconds.'),
  headers: templates.optional().describe('Headers that carry it, e.g. { x-signature: "{signature}" }.'),
  login: map({ ...tokenReply, pick: expression })
    .nullish()
    .describe('The signed request whose reply holds {token}.'),
});

const oauth = map({
  tokenUrl: z.string().describe('The token endpoint: https, or http on this machine.'),
  clientId: secretText,
  clientSecret: secretText.optional(),
  clientAuth: z
    .enum(['basic', 'post'])
    .optional()
    .describe('How the client secret is sent: as a header, or in the form. Default: basic.'),
  refreshToken: secretText
    .optional()
    .describe('With it the token is refreshed; without it the client signs in as itself.'),
  scope: z.string().optional(),
  parameters: templates.optional().describe('Further parameters of the token request, e.g. audience.'),
});

const login = map({
  ...tokenReply,
  username: secretText,
  password: secretText,
  body: z
    .record(z.string(), z.unknown())
    .optional()
    .describe('A tree in which {username} and {password} are filled in. Default: both, under these names.'),
  as: z.enum(['json', 'form']).optional().describe('How that body is written. Default: json.'),
  headers: templates
    .optional()
    .describe('Headers that carry the token. Default: authorization: "Bearer {token}"; for cookies: cookie.'),
});

const AUTH_KINDS = ['bearer', 'basic', 'digest', 'header', 'query', 'sign', 'oauth', 'login'] as const;
export const auth = map({
  bearer: secretText.optional(),
  basic: account.optional(),
  digest: account.optional().describe('RFC 7616, by MD5 or SHA-256, as the API asks.'),
  header: z.record(z.string(), secretText).optional().describe('Headers that sign us in, by name.'),
  query: z.record(z.string(), secretText).optional().describe('Query parameters that sign us in, by name.'),
  sign: sign.optional().describe('Each request carries an HMAC over itself.'),
  oauth: oauth.optional().describe('OAuth 2.0: a refresh token, or client credentials.'),
  login: login.optional().describe('A request that signs in, and brings a token or a cookie.'),
}).superRefine((value, context) => {
  const given = AUTH_KINDS.filter((kind) => value[kind] !== undefined);
  if (given.length !== 1)
    context.addIssue(
      `give exactly one of ${AUTH_KINDS.join(', ')}; ${given.length === 0 ? 'none' : given.join(' and ')} is given`,
    );
});

export type RawAuth = z.infer<typeof auth>;
export const isDuration = (text: string | 0): boolean => text === 0 || DURATION.test(text);
