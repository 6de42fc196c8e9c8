/** People and agents that have signed in, in front of a real house: each has commands of their own. */
import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import {
  Client,
  ClientCredentialsProvider,
  StreamableHTTPClientTransport,
} from '@modelcontextprotocol/client';
import { StreamableHTTPClientTransport as LegacyHttpTransport } from '@modelcontextprotocol/sdk/client/streamableHttp.js';
import { AGENT } from '../oauth/authorization-server.ts';
import { legacyClient } from './clients.ts';
import { LISTEN_ID, listen } from './listening.ts';
import { type House, openHouse, type Serving, setting } from './serving.ts';
import { BOTH_SCOPES, bearer, by, type SigningIn, startSigningIn } from './signing-in.ts';
import {
  answerCall,
  ask,
  callTool,
  FORMS,
  isEnded,
  startTask,
  TASKS,
  taskRequest,
  untilTask,
} from './wire.ts';

/** Payloads are bytes, which the history's JSON shows in base64. */
function asText(key: string, value: unknown): unknown {
  return key === 'data' && typeof value === 'string' ? Buffer.from(value, 'base64').toString() : value;
}

describe('whoever has signed in', () => {
  let house: House;
  let signing: SigningIn;
  let serving: Serving;
  let url: string;
  let anna: string;
  let bea: string;
  let agents: string;

  before(async () => {
    [house, signing] = await Promise.all([openHouse(), startSigningIn()]);
    serving = await house.serve({ taskGraceMs: 0 }, undefined, { auth: signing.auth });
    url = serving.url;
    signing.isAt(url);
    anna = await signing.tokenOf('anna');
    bea = await signing.tokenOf('bea');
  });
  after(async () => {
    await house.close();
    await signing.close();
  });

  it('shows a command to nobody but the one who started it, under any method', async () => {
    const { taskId } = await startTask(url, setting('slow-ac'), by(anna, TASKS));
    const unknown = 'b'.repeat(taskId.length);
    const words = (answer: unknown, id: string) => JSON.stringify(answer).replaceAll(id, 'ID');
    for (const attempt of [
      (id: string) => taskRequest(url, 'get', id, {}, by(bea, TASKS)),
      (id: string) => taskRequest(url, 'update', id, { inputResponses: { a: {} } }, by(bea, TASKS)),
      (id: string) => taskRequest(url, 'cancel', id, {}, by(bea, TASKS)),
      (id: string) => callTool(url, 'get_command', { commandId: id }, by(bea)),
      (id: string) => callTool(url, 'cancel_command', { commandId: id }, by(bea)),
      (id: string) => ask(url, 'resources/read', { uri: `readback://commands/${id}` }, by(bea)),
      async (id: string) => {
        const stream = await listen(url, { taskIds: [id] }, by(bea, TASKS));
        await stream.closed;
        return stream.messages;
      },
    ])
      assert.equal(words(await attempt(taskId), taskId), words(await attempt(unknown), unknown));
    const own = await callTool(url, 'get_command', {}, by(bea));
    assert.deepEqual(own.result?.['structuredContent'].commands, []);
    const seen = await taskRequest(url, 'get', taskId, {}, by(anna, TASKS));
    assert.equal(seen.result?.['status'], 'working', 'the stranger’s cancel did nothing');
    await taskRequest(url, 'cancel', taskId, {}, by(anna, TASKS));
    await untilTask(url, taskId, isEnded, by(anna, TASKS));
  });

  it('keeps the same call of two people apart, and joins that of one with two clients', async () => {
    const args = setting('attic-ac');
    const first = await startTask(url, args, by(anna, TASKS));
    const theirs = await startTask(url, args, by(bea, TASKS));
    assert.notEqual(theirs['taskId'], first['taskId']);
    const elsewhere = await signing.sign({ client_id: 'phone', scope: BOTH_SCOPES });
    const again = await startTask(url, args, by(elsewhere, TASKS));
    assert.equal(again['taskId'], first['taskId']);
    const both = [
      [first['taskId'], anna],
      [theirs['taskId'], bea],
    ] as const;
    for (const [taskId, token] of both) await taskRequest(url, 'cancel', taskId, {}, by(token, TASKS));
    for (const [taskId, token] of both) await untilTask(url, taskId, isEnded, by(token, TASKS));
  });

  it('keeps who asked, and with which client as the issuer knows it, with the command', async () => {
    const { result } = await callTool(url, 'set_device_state', setting('bedroom-ac'), by(anna));
    const { commandId } = result?.['structuredContent'] ?? {};
    const kept = await house.harness.commands.get(commandId, { kind: 'operator' });
    assert.deepEqual(kept?.view.caller.subject, `${signing.server.issuer}#anna`);
    assert.deepEqual(kept?.view.caller.client, 'host (wire-test)');
  });

  it('binds a question within a call to the one who was asked', async () => {
    const args = setting('night-lamp');
    const { result } = await callTool(url, 'set_device_state', args, by(anna, FORMS));
    assert.equal(result?.['resultType'], 'input_required');
    const yes = { action: 'accept', content: { approve: true } };
    const stolen = await answerCall(url, args, result ?? {}, yes, by(bea, FORMS));
    assert.match(stolen.error?.message ?? '', /Invalid or expired requestState/);
    assert.equal(await house.sends('night-lamp'), 0);
    const answered = await answerCall(url, args, result ?? {}, yes, by(anna, FORMS));
    assert.equal(answered.result?.['structuredContent'].outcome, 'verified');
    assert.equal(answered.result?.['structuredContent'].decidedBy, `${signing.server.issuer}#anna`);
  });

  it('never asks through a client whose token says that nobody watches', async () => {
    const token = await signing.tokenOf('anna', `${BOTH_SCOPES} unattended`);
    const { result } = await callTool(url, 'set_device_state', setting('night-lamp'), by(token, FORMS));
    const { state, done, commandId } = result?.['structuredContent'] ?? {};
    assert.deepEqual([state, done], ['waiting_for_approval', false]);
    await callTool(url, 'cancel_command', { commandId }, by(token));
  });

  it('takes no decision about an operator’s approval from the one who asked', async () => {
    const { result } = await callTool(url, 'set_device_state', setting('boiler'), by(anna));
    const { commandId } = result?.['structuredContent'] ?? {};
    const { commands } = house.harness;
    const decide = (who: string) =>
      commands.decide(commandId, {
        decision: 'approved',
        by: `${signing.server.issuer}#${who}`,
        via: 'console',
        comment: null,
      });
    await assert.rejects(decide('anna'), /yourself|requester|asked for/i);
    assert.equal(await house.sends('boiler'), 0);
    await decide('bea');
    assert.equal((await house.harness.ended(commandId)).view.result?.outcome, 'verified');
  });

  it('serves the official client, which finds the issuer, gets a token and says who it is', async () => {
    const { clientId, clientSecret } = AGENT;
    const authProvider = new ClientCredentialsProvider({
      clientId,
      clientSecret,
      scope: BOTH_SCOPES,
      expectedIssuer: signing.server.issuer,
    });
    const client = new Client({ name: 'agent', version: '1' }, { versionNegotiation: { mode: 'auto' } });
    await client.connect(new StreamableHTTPClientTransport(new URL(`${url}/mcp`), { authProvider }));
    const { structuredContent } = await client.callTool({
      name: 'set_device_state',
      arguments: setting('bedroom-ac'),
    });
    const { outcome, commandId } = structuredContent as { outcome: string; commandId: string };
    assert.equal(outcome, 'verified');
    const kept = await house.harness.commands.get(commandId, { kind: 'operator' });
    assert.equal(kept?.view.caller.subject, `${signing.server.issuer}#agent`);
    agents = authProvider.tokens()?.access_token ?? assert.fail();
    await client.close();
  });

  it('keeps the session of an older client for the one who opened it', async () => {
    const transport = new LegacyHttpTransport(new URL(`${url}/mcp`), {
      requestInit: { headers: bearer(anna) },
    });
    const client = await legacyClient(url, undefined, transport);
    const { structuredContent } = await client.callTool({
      name: 'set_device_state',
      arguments: setting('bedroom-ac'),
    });
    const { commandId } = structuredContent as { commandId: string };
    const kept = await house.harness.commands.get(commandId, { kind: 'operator' });
    assert.equal(kept?.view.caller.subject, `${signing.server.issuer}#anna`);

    const call = {
      jsonrpc: '2.0',
      id: 1,
      method: 'tools/call',
      params: { name: 'get_command', arguments: {} },
    };
    const inSession = async (session: string, token: string, method: 'POST' | 'GET' | 'DELETE') => {
      const response = await fetch(`${url}/mcp`, {
        method,
        headers: {
          'content-type': 'application/json',
          accept: 'application/json, text/event-stream',
          'mcp-session-id': session,
          ...bearer(token),
        },
        ...(method === 'POST' && { body: JSON.stringify(call) }),
      });
      return [response.status, await response.text()];
    };
    const session = transport.sessionId as string;
    for (const method of ['POST', 'GET', 'DELETE'] as const) {
      const stolen = await inSession(session, bea, method);
      assert.equal(stolen[0], 404);
      assert.deepEqual(stolen, await inSession('no-such-session', bea, method));
    }
    const [status] = await inSession(session, await signing.tokenOf('anna', 'devices:command'), 'POST');
    assert.equal(status, 403);
    assert.equal((await client.listTools()).tools.length, 5);
    await client.close();
  });

  it('ends a stream with the token that it was opened with', async () => {
    const { taskId } = await startTask(url, setting('slow-ac'), by(anna, TASKS));
    // Clocks may differ by 30 s, so this one is good for about a second.
    const exp = Math.floor(Date.now() / 1000) - 28;
    const short = await signing.sign({ scope: BOTH_SCOPES, exp });
    const stream = await listen(url, { taskIds: [taskId] }, by(short, TASKS));
    assert.equal(stream.status, 200);
    await stream.closed;
    assert.ok(
      !stream.messages.some(({ id }) => id === LISTEN_ID),
      'it was not the end of the task that ended it',
    );
    await taskRequest(url, 'cancel', taskId, {}, by(anna, TASKS));
    await untilTask(url, taskId, isEnded, by(anna, TASKS));
  });

  it('tells no token to anybody: not in its log, not in the history of any workflow', async () => {
    const { client } = house.harness.temporal;
    const kept: string[] = serving.errors.map(({ stack, message }) => `${message} ${stack}`);
    for await (const { workflowId } of client.workflow.list()) {
      const { events } = await client.workflow.getHandle(workflowId).fetchHistory();
      kept.push(JSON.stringify(events, asText));
    }
    assert.ok(kept.length > 5 && kept.some((text) => text.includes(`${signing.server.issuer}#anna`)));
    const parts = [...signing.tokens, agents].flatMap((token) => token.split('.'));
    assert.ok(parts.length > 12);
    assert.deepEqual(
      parts.filter((part) => kept.some((text) => text.includes(part))),
      [],
    );
  });
});
