/** Signing schemes of known device clouds. A connection gives the secrets, and replaces what differs at its vendor. */

export interface SignPreset {
  readonly over: string;
  readonly hash?: 'sha256' | 'sha1' | 'sha512' | 'md5';
  readonly encode: 'hex' | 'HEX' | 'base64' | 'base64url';
  readonly secretAs?: 'text' | 'hex' | 'base64';
  readonly timestamp: 'seconds' | 'milliseconds' | 'iso';
  readonly headers: Readonly<Record<string, string>>;
  /** The signed request that brings `{token}`. */
  readonly login?: { readonly request: string; readonly pick: string; readonly expires: string };
}

export const SIGN_PRESETS = {
  /** SwitchBot's API 1.1: token, time and nonce, whatever the request. */
  switchbot: {
    over: '{token}{timestamp}{nonce}',
    encode: 'base64',
    timestamp: 'milliseconds',
    headers: { authorization: '{token}', sign: '{signature}', t: '{timestamp}', nonce: '{nonce}' },
  },
  /** Tuya's cloud: the whole request, under a token that is itself asked for by a signed request. */
  tuya: {
    over: '{clientId}{token}{timestamp}{nonce}{method}\n{bodyHash}\n\n{sortedPath}',
    encode: 'HEX',
    timestamp: 'milliseconds',
    headers: {
      client_id: '{clientId}',
      access_token: '{token}',
      sign: '{signature}',
      sign_method: 'HMAC-SHA256',
      t: '{timestamp}',
      nonce: '{nonce}',
    },
    login: {
      request: 'GET /v1.0/token?grant_type=1',
      pick: 'body.result.access_token',
      expires: 'body.result.expire_time',
    },
  },
  /** The body alone, as many local bridges and webhooks have it. */
  'body-hmac': {
    over: '{body}',
    encode: 'hex',
    timestamp: 'seconds',
    headers: { 'x-signature': '{signature}' },
  },
  /** Method, path, time and body, one a line. */
  'request-hmac': {
    over: '{method}\n{path}\n{timestamp}\n{body}',
    encode: 'hex',
    timestamp: 'seconds',
    headers: { 'x-signature': '{signature}', 'x-timestamp': '{timestamp}' },
  },
  /** https://www.standardwebhooks.com; the message's id is the nonce. */
  'standard-webhooks': {
    over: '{nonce}.{timestamp}.{body}',
    encode: 'base64',
    secretAs: 'base64',
    timestamp: 'seconds',
    headers: {
      'webhook-id': '{nonce}',
      'webhook-timestamp': '{timestamp}',
      'webhook-signature': 'v1,{signature}',
    },
  },
} as const satisfies Readonly<Record<string, SignPreset>>;

/** What a text of a scheme may mention in braces. */
export const SIGN_WORDS = [
  'method',
  'path',
  'sortedPath',
  'query',
  'host',
  'body',
  'bodyHash',
  'timestamp',
  'nonce',
  'token',
  'clientId',
] as const;
