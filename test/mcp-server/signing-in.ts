/** An authorization server, and tokens of it for one MCP server. */
import { type Issuer, openIssuer } from '../../identity/issuer.ts';
import type { AuthOptions } from '../../mcp-server/authorization.ts';
import { type AuthorizationServer, startAuthorizationServer } from '../oauth/authorization-server.ts';
import type { WireOptions } from './wire.ts';

export const BOTH_SCOPES = 'devices:read devices:command';

export interface SigningIn {
  readonly server: AuthorizationServer;
  readonly auth: AuthOptions;
  /** Every token that was given out here. */
  readonly tokens: readonly string[];
  /** To be called once it listens: tokens are for this server from now on. */
  isAt(url: string): void;
  /** For a person who has signed in with the client `host`. */
  tokenOf(person: string, scope?: string): Promise<string>;
  /** With claims of one's own. */
  sign(claims: Readonly<Record<string, unknown>>): Promise<string>;
  close(): Promise<void>;
}

export async function startSigningIn(): Promise<SigningIn> {
  const server = await startAuthorizationServer();
  const issuer: Issuer = openIssuer(server.issuer, { refetchEveryMs: 0, pauseAfterFailureMs: 0 });
  const tokens: string[] = [];
  let audience = 'http://not-listening-yet.example/mcp';
  const kept = (token: string): string => {
    tokens.push(token);
    return token;
  };
  return {
    server,
    auth: { issuer, audience: () => audience },
    tokens,
    isAt(url) {
      audience = `${url}/mcp`;
    },
    tokenOf: async (person, scope = BOTH_SCOPES) => kept(await server.personToken(person, audience, scope)),
    sign: async (claims) => kept(await server.sign({ sub: 'anna', aud: audience, ...claims })),
    close: () => server.close(),
  };
}

export const bearer = (token: string): Record<string, string> => ({ authorization: `Bearer ${token}` });

export const by = (token: string, capabilities = {}): WireOptions => ({
  capabilities,
  headers: bearer(token),
});
