/** Every way in which a token can be wrong, against a real authorization server. */
import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import {
  type CryptoKey,
  exportSPKI,
  generateKeyPair,
  importJWK,
  type JWTPayload,
  SignJWT,
  UnsecuredJWT,
} from 'jose';
import { InvalidToken, verifyAccessToken } from '../../identity/access-token.ts';
import { type Issuer, IssuerUnreachable, openIssuer } from '../../identity/issuer.ts';
import { checkedIssuerUrl } from '../../identity/issuer-url.ts';
import { type AuthorizationServer, startAuthorizationServer } from '../oauth/authorization-server.ts';

const AUDIENCE = 'https://readback.example/mcp';
const EAGER = { refetchEveryMs: 0, pauseAfterFailureMs: 0 };
const RELUCTANT = { refetchEveryMs: 3_600_000, pauseAfterFailureMs: 3_600_000 };
const nowSeconds = () => Math.floor(Date.now() / 1000);

describe('an access token', () => {
  let server: AuthorizationServer;
  let issuer: Issuer;
  before(async () => {
    server = await startAuthorizationServer();
    issuer = openIssuer(server.issuer, EAGER);
  });
  after(() => server.close());

  const verify = (token: string, from = issuer) =>
    verifyAccessToken(token, { issuer: from, audience: AUDIENCE });
  const good = (): JWTPayload => ({ sub: 'anna', aud: AUDIENCE, client_id: 'host', scope: 'devices:read' });
  const refused = (token: string, why: RegExp) =>
    assert.rejects(verify(token), (error) => {
      assert.ok(error instanceof InvalidToken, String(error));
      assert.match(error.message, why);
      for (const part of token.split('.').filter((one) => one.length > 8))
        assert.ok(!`${error.stack}`.includes(part), 'a part of the token is in the error');
      return true;
    });

  it('of a person says who it is, by which client, and what for', async () => {
    const token = await server.personToken('anna', AUDIENCE, 'devices:read devices:command');
    const { expiresAt, ...rest } = await verify(token);
    assert.deepEqual(rest, {
      principal: `${server.issuer}#anna`,
      clientId: 'host',
      scopes: ['devices:read', 'devices:command'],
    });
    assert.ok(expiresAt > nowSeconds());
  });

  it('of an agent that acts for itself is the agent’s own', async () => {
    const { principal, clientId } = await verify(await server.agentToken(AUDIENCE, 'devices:read'));
    assert.deepEqual([principal, clientId], [`${server.issuer}#agent`, 'agent']);
  });

  it('may name its scopes and its client as other issuers do', async () => {
    const { scopes, clientId } = await verify(
      await server.sign({ sub: 'anna', aud: ['other', AUDIENCE], azp: 'desk', scp: ['devices:read', 7, ''] }),
    );
    assert.deepEqual([scopes, clientId], [['devices:read'], 'desk']);
  });

  it('says who it is by the claim that does so in every application', async () => {
    const byObject = openIssuer(server.issuer, { ...EAGER, subjectClaim: 'oid' });
    const { principal } = await verify(await server.sign({ ...good(), oid: '0b6c' }), byObject);
    assert.equal(principal, `${server.issuer}#0b6c`);
    await assert.rejects(
      server.sign(good()).then((token) => verify(token, byObject)),
      InvalidToken,
    );
  });

  it('is good for as long as clocks differ, and no longer', async () => {
    await verify(
      await server.sign({
        ...good(),
        exp: nowSeconds() - 10,
        nbf: nowSeconds() + 10,
        iat: nowSeconds() + 10,
      }),
    );
    await refused(await server.sign({ ...good(), exp: nowSeconds() - 60 }), /has expired/);
    await refused(await server.sign({ ...good(), nbf: nowSeconds() + 60 }), /not valid yet/);
    await refused(await server.sign({ ...good(), iat: nowSeconds() + 60 }), /issued in the future/);
  });

  it('is refused without an end, a subject, an audience or an issuer', async () => {
    await refused(await server.sign({ ...good(), exp: undefined }), /claim exp is missing/);
    await refused(await server.sign({ ...good(), sub: undefined }), /claim sub is missing/);
    await refused(await server.sign({ ...good(), sub: '' }), /subject/);
    await refused(await server.sign({ ...good(), sub: 'x'.repeat(255) }), /longer than this server can keep/);
    await refused(await server.sign({ ...good(), aud: undefined }), /another audience/);
    await refused(await server.sign({ ...good(), iss: undefined }), /another issuer/);
  });

  it('is refused for another audience, which an ID token has', async () => {
    for (const aud of ['https://readback.example', `${AUDIENCE}/`, 'application', []])
      await refused(
        await server.sign({ ...good(), aud }),
        /another audience than https:\/\/readback\.example\/mcp/,
      );
  });

  it('is refused by another issuer, whoever signed it', async () => {
    for (const iss of ['https://evil.example', `${server.issuer}/`])
      await refused(await server.sign({ ...good(), iss }), /by another issuer/);
    const other = await startAuthorizationServer();
    await refused(await other.sign(good()), /key that the issuer does not publish/);
    await refused(
      await other.sign({ ...good(), iss: server.issuer }),
      /key that the issuer does not publish/,
    );
    const kid = server.publicKey().kid as string;
    await refused(await other.sign({ ...good(), iss: server.issuer }, { kid }), /signature is wrong/);
    await other.close();
  });

  it('is refused unsigned', async () => {
    const unsecured = new UnsecuredJWT({ ...good(), iss: server.issuer, exp: nowSeconds() + 60 }).encode();
    await refused(unsecured, /not signed with an algorithm that is allowed/);
    const [, payload] = unsecured.split('.');
    const header = Buffer.from(JSON.stringify({ alg: 'ES256', kid: server.publicKey().kid })).toString(
      'base64url',
    );
    await refused(`${header}.${payload}.`, /signature is wrong|no valid JWT/);
  });

  it('is refused signed with the published key as a shared secret', async () => {
    const { kid = '' } = server.publicKey();
    const key = await importJWK(server.publicKey(), 'ES256');
    for (const secret of [JSON.stringify(server.publicKey()), await exportSPKI(key as CryptoKey)]) {
      const token = await new SignJWT({ ...good(), iss: server.issuer, exp: nowSeconds() + 60 })
        .setProtectedHeader({ alg: 'HS256', kid })
        .sign(new TextEncoder().encode(secret));
      await refused(token, /not signed with an algorithm that is allowed/);
    }
  });

  it('is refused with a key of its own in its header', async () => {
    const { privateKey, publicKey } = await generateKeyPair('ES256', { extractable: true });
    const { kty, crv, x, y } = await crypto.subtle.exportKey('jwk', publicKey);
    const token = await new SignJWT({ ...good(), iss: server.issuer, exp: nowSeconds() + 60 })
      .setProtectedHeader({ alg: 'ES256', jwk: { kty, crv, x, y } as never })
      .sign(privateKey);
    await refused(token, /signature is wrong/);
  });

  it('is refused as another kind of token, or bound to a key', async () => {
    await refused(await server.sign(good(), { typ: 'logout+jwt' }), /another kind of token/);
    await verify(await server.sign(good(), { typ: 'JWT' }));
    await refused(await server.sign({ ...good(), cnf: { jkt: 'abc' } }), /bound to a key/);
  });

  it('is refused when it is no JWT at all', async () => {
    for (const text of [
      'x',
      'a.b.c',
      '..',
      'e30.e30.e30',
      `${'A'.repeat(5000)}.e30.e30`,
      'e30.e30.e30.e30.e30',
    ])
      await refused(text, /no valid JWT|not signed with an algorithm/);
  });

  it('is known by a new key as soon as the issuer has one, and by the old one no more', async () => {
    const before = await server.sign(good());
    await verify(before);
    await server.rotateKeys();
    await verify(await server.sign(good()));
    await refused(before, /key that the issuer does not publish/);
  });

  it('with an invented key makes the issuer be asked no more than once in a while', async () => {
    const reluctant = openIssuer(server.issuer, RELUCTANT);
    await verify(await server.sign(good()), reluctant);
    const fetches = server.jwksFetches();
    const flood = Array.from({ length: 200 }, async (_, index) => {
      const token = await server.sign(good(), { kid: `invented-${index}` });
      await assert.rejects(verify(token, reluctant), InvalidToken);
    });
    await Promise.all(flood);
    assert.equal(server.jwksFetches(), fetches);
    await verify(await server.sign(good()), reluctant);
  });

  it('can be neither good nor bad while the issuer is down; known keys go on counting', async () => {
    const token = await server.sign(good());
    await verify(token);
    const elsewhere = await server.sign(good(), { kid: 'not-known-yet' });
    server.setAnswering(false);
    await assert.rejects(verify(token, openIssuer(server.issuer, EAGER)), IssuerUnreachable);
    await assert.rejects(verify(elsewhere), IssuerUnreachable);
    await verify(token);
    server.setAnswering(true);
    await assert.rejects(verify(elsewhere), InvalidToken);
  });

  it('leaves an issuer alone that has just failed', async () => {
    server.setAnswering(false);
    const reluctant = openIssuer(server.issuer, RELUCTANT);
    await assert.rejects(verify(await server.sign(good()), reluctant), IssuerUnreachable);
    server.setAnswering(true);
    await assert.rejects(
      verify(await server.sign(good()), reluctant),
      /answers 503 at .+openid-configuration/,
    );
  });
});

describe('an issuer', () => {
  it('must call itself exactly as it is called here', async () => {
    const server = await startAuthorizationServer();
    await assert.rejects(
      openIssuer(`${server.issuer}/`).metadata(),
      /calls itself http:\/\/127\.0\.0\.1:\d+\. .+--auth-issuer/,
    );
    await server.close();
  });

  it('is reached over https, but on this machine', () => {
    for (const url of [
      'https://login.example.com/realms/home',
      'http://127.0.0.1:9000',
      'http://localhost:1/x',
      'http://[::1]:2',
    ])
      assert.equal(checkedIssuerUrl(url), url);
    for (const url of [
      'http://login.example.com',
      'ftp://x',
      'login',
      'https://a/?b',
      'https://a/#b',
      'https://a:b@c/',
    ])
      assert.throws(() => checkedIssuerUrl(url), /issuer/i, url);
  });
});
