/** Whether people can sign in at an issuer at all, by what it says about itself. */
import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import { type Issuer, IssuerUnreachable, openIssuer } from '../../identity/issuer.ts';
import { openIdConnect, SignInRefused } from '../../identity/openid-connect.ts';
import { type AuthorizationServer, HOST, startAuthorizationServer } from '../oauth/authorization-server.ts';

describe('signing people in at an issuer', () => {
  let server: AuthorizationServer;
  before(async () => {
    server = await startAuthorizationServer();
  });
  after(() => server.close());

  /** The issuer, which says something else about itself. */
  const check = async (says: Readonly<Record<string, unknown>>, subjectClaim = 'sub'): Promise<void> => {
    const issuer = openIssuer(server.issuer, { subjectClaim });
    const saying: Issuer = { ...issuer, metadata: async () => ({ ...(await issuer.metadata()), ...says }) };
    await openIdConnect({ issuer: saying, clientId: HOST.clientId, clientSecret: null }).check();
  };

  it('is refused where nobody could tell that who decides is who asked', async () => {
    const pairwise = { subject_types_supported: ['pairwise'] };
    await assert.rejects(check(pairwise), (error) => {
      assert.ok(error instanceof SignInRefused);
      assert.match(error.message, /another word in each application.*--auth-subject-claim/);
      return true;
    });
    await check(pairwise, 'oid');
    await check({ subject_types_supported: ['public', 'pairwise'] });
    await check({ subject_types_supported: undefined });
  });

  it('needs the places where that is done, safely reached', async () => {
    for (const name of ['authorization_endpoint', 'token_endpoint'])
      for (const at of [undefined, 'http://login.example.com/', 'nowhere'])
        await assert.rejects(check({ [name]: at }), (error) => {
          assert.ok(error instanceof IssuerUnreachable);
          assert.ok(error.message.includes(name), error.message);
          return true;
        });
  });
});
