import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import { decodeJwt } from 'jose';
import { type AuthorizationServer, startAuthorizationServer } from './authorization-server.ts';

const RESOURCE = 'http://127.0.0.1:8484/mcp';

describe('the authorization server of the tests', () => {
  let server: AuthorizationServer;
  before(async () => {
    server = await startAuthorizationServer();
  });
  after(() => server.close());

  it('gives an agent a JWT for the asked resource and scopes', async () => {
    const { iss, aud, sub, scope } = decodeJwt(await server.agentToken(RESOURCE, 'devices:read'));
    assert.deepEqual([iss, aud, sub, scope], [server.issuer, RESOURCE, 'agent', 'devices:read']);
  });

  it('gives a person, signed in by code and PKCE, a JWT of the same kind', async () => {
    const claims = decodeJwt(await server.personToken('bea', RESOURCE, 'devices:read devices:command'));
    assert.deepEqual(
      [claims.sub, claims['client_id'], claims.aud, claims['scope']],
      ['bea', 'host', RESOURCE, 'devices:read devices:command'],
    );
  });

  it('publishes only the new key after a rotation', async () => {
    const kids = async () =>
      ((await (await fetch(`${server.issuer}/jwks`)).json()) as { keys: { kid: string }[] }).keys.map(
        ({ kid }) => kid,
      );
    const before = await kids();
    await server.rotateKeys();
    const after = await kids();
    assert.equal(after.length, 1);
    assert.notDeepEqual(after, before);
  });
});
