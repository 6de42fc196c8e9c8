/** Approvals by the requester for clients that can do no more than open a page, where people can sign in to it. */
import assert from 'node:assert/strict';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, before, describe, it } from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';
import { type Approvers, openApprovers } from '../../commands/approvers.ts';
import { mountConsole } from '../../console/console.ts';
import { subjectAt } from '../../domain/approval/person.ts';
import { openIdConnect } from '../../identity/openid-connect.ts';
import { createHttpApp, serveHttp } from '../../mcp-server/http.ts';
import { DEFAULT_OPTIONS } from '../../mcp-server/options.ts';
import { requestStateKey } from '../../mcp-server/request-state-key.ts';
import { APPLICATION } from '../oauth/authorization-server.ts';
import { cookieBrowser, type Page } from '../oauth/browser.ts';
import { modernClient, taskSession } from './clients.ts';
import { type House, openHouse, setting } from './serving.ts';
import { bearer, by, type SigningIn, startSigningIn } from './signing-in.ts';
import { answerCall, callTool, isEnded, startTask, TASKS, taskRequest, untilTask } from './wire.ts';

const PAGES = { elicitation: { url: {} } };
const TASKS_AND_PAGES = { ...TASKS, ...PAGES };
const A_PERSONS_TIME_MS = 1_100;

describe('an approval by the requester, decided on a page that the client opens', () => {
  let house: House;
  let signing: SigningIn;
  let url: string;
  let approvers: Approvers;
  let anna: string;
  const closing: (() => Promise<void> | void)[] = [];
  before(async () => {
    [house, signing] = await Promise.all([openHouse(), startSigningIn()]);
    const folder = mkdtempSync(join(tmpdir(), 'readback-pages-'));
    approvers = openApprovers(join(folder, 'approvers.json'));
    closing.push(() => rmSync(folder, { recursive: true }));
    url = await serveBoth(true);
    signing.isAt(url);
    signing.server.allowRedirectTo(`${url}/sign-in/callback`);
    anna = await signing.tokenOf('anna');
  });
  after(async () => {
    for (const close of closing) await close();
    await house.close();
    await signing.close();
  });

  /** MCP server and console on one port, as `readback serve` has them. */
  async function serveBoth(canSignIn: boolean): Promise<string> {
    const { commands, catalogue, sealKey } = house.harness;
    let at = '';
    const onError = (error: Error): void => assert.fail(error);
    const options = {
      ...DEFAULT_OPTIONS,
      stateKey: requestStateKey(sealKey),
      consoleIssuer: canSignIn ? signing.server.issuer : null,
      get consoleUrl() {
        return `${at}/`;
      },
    };
    const http = createHttpApp({ commands, options, onError, auth: signing.auth });
    const openId = openIdConnect({ issuer: signing.auth.issuer, ...APPLICATION });
    const console = mountConsole(http.app, {
      commands,
      approvers,
      catalogue: () => catalogue,
      catalogueTrouble: () => null,
      sessionKey: sealKey,
      signIn: canSignIn ? openId : null,
      consoleUrl: () => at,
      loopback: true,
      temporalUi: null,
      onError,
    });
    const served = await serveHttp(http, { host: '127.0.0.1', port: 0 });
    at = served.url;
    closing.push(() => console.close(), served.close);
    return at;
  }

  /** As somebody who follows a link in a fresh browser: signing in, and then the page. */
  async function opened(page: string, person: string) {
    signing.server.signInAs(person, { name: person });
    const browser = cookieBrowser();
    const form = await browser.open(page);
    const link = /href="(\/sign-in\/issuer[^"]*)"/.exec(form.text)?.[1]?.replaceAll('&amp;', '&') ?? '/';
    return { browser, page: await browser.open(new URL(link, form.url)) };
  }
  async function decided(page: string, person: string, decision: 'approve' | 'decline'): Promise<Page> {
    const { browser, page: shown } = await opened(page, person);
    const csrf = /name="csrf" value="([^"]+)"/.exec(shown.text)?.[1] ?? '';
    const id = shown.url.pathname.split('/').at(-1) ?? '';
    return await browser.post(shown, '/decide', { csrf, id, decision, comment: 'as asked' });
  }
  const show = async (taskId: string, capabilities: object = TASKS_AND_PAGES) =>
    (await taskRequest(url, 'get', taskId, {}, by(anna, capabilities))).result ?? {};
  const pageIn = ({ inputRequests }: Readonly<Record<string, any>>): { key: string; params: any } => {
    const [[key, request] = []] = Object.entries<any>(inputRequests ?? {});
    assert.ok(key !== undefined, 'a page is asked for');
    assert.equal(request.method, 'elicitation/create');
    return { key, params: request.params };
  };
  const answer = (taskId: string, key: string, response: unknown, capabilities: object = TASKS_AND_PAGES) =>
    taskRequest(url, 'update', taskId, { inputResponses: { [key]: response } }, by(anna, capabilities));
  const sends = () => house.sends('night-lamp');

  it('asks a task’s client to open the page of that very approval, and to nobody tells more than there is in the question', async () => {
    const before = await sends();
    const args = setting('night-lamp');
    const task = await startTask(url, args, by(anna, TASKS_AND_PAGES));
    assert.equal(task['status'], 'input_required');
    const { params } = pageIn(await show(task['taskId']));
    assert.deepEqual(Object.keys(params).sort(), ['message', 'mode', 'url']);
    assert.deepEqual([params.mode, params.url], ['url', `${url}/commands/${task['taskId']}`]);
    assert.match(params.message, /"Night lamp".*Nothing has been sent/);
    assert.match(params.message, /Opening it sends nothing/);

    const { page } = await opened(params.url, 'anna');
    assert.equal(page.url.href, params.url, 'signing in comes back to it');
    assert.match(
      page.text,
      new RegExp(`Readback sends brightness ${args.desired['brightness']} % to Night lamp`),
    );
    assert.equal(await sends(), before);
    assert.match((await decided(params.url, 'anna', 'approve')).text, /approved/);
    const { result } = await untilTask(url, task['taskId'], isEnded, by(anna, TASKS_AND_PAGES));
    const { outcome, decidedBy } = result.structuredContent;
    assert.deepEqual([outcome, decidedBy], ['verified', subjectAt(signing.server.issuer, 'anna')]);
    assert.equal(await sends(), before + 1);
  });

  it('takes an accept for no more than that the page was opened, whatever it says besides, and asks no second time', async () => {
    const before = await sends();
    const { taskId } = await startTask(url, setting('night-lamp'), by(anna, TASKS_AND_PAGES));
    const { key, params } = pageIn(await show(taskId));
    await answer(taskId, key, { action: 'accept', content: { approve: true } });
    const shown = await show(taskId);
    assert.deepEqual([shown['status'], shown['inputRequests']], ['working', undefined]);
    assert.match(shown['statusMessage'], /the page to decide on was opened/);
    await answer(taskId, key, { action: 'accept', content: { approve: true } });
    assert.equal((await show(taskId))['status'], 'working');
    assert.equal(await sends(), before, 'the page decides');
    const again = await callTool(url, 'get_command', { commandId: taskId }, by(anna));
    assert.match(again.result?.['structuredContent'].message, /NOTHING SENT YET/);
    await decided(params.url, 'anna', 'decline');
    const { result } = await untilTask(url, taskId, isEnded, by(anna, TASKS_AND_PAGES));
    assert.equal(result.structuredContent.outcome, 'declined');
    assert.equal(await sends(), before);
  });

  it('takes a no for a no, but for one that no person can have given so fast', async () => {
    const { taskId } = await startTask(url, setting('night-lamp'), by(anna, TASKS_AND_PAGES));
    const first = pageIn(await show(taskId));
    await answer(taskId, first.key, { action: 'decline' });
    const second = pageIn(await show(taskId));
    assert.notEqual(second.key, first.key);
    await answer(taskId, second.key, { action: 'cancel' });
    const third = pageIn(await show(taskId));
    await sleep(A_PERSONS_TIME_MS);
    await answer(taskId, third.key, { action: 'decline' });
    const { result } = await untilTask(url, taskId, isEnded, by(anna, TASKS_AND_PAGES));
    assert.deepEqual(
      [result.structuredContent.outcome, result.structuredContent.sent.count],
      ['declined', 0],
    );
  });

  it('shows the page to nobody but who asked and approvers: to others it is as for an id that nobody has', async () => {
    const { taskId } = await startTask(url, setting('night-lamp'), by(anna, TASKS_AND_PAGES));
    const { params } = pageIn(await show(taskId));
    const { browser, page } = await opened(params.url, 'ben');
    assert.equal(page.status, 404);
    assert.equal(page.text, (await browser.ask(`${url}/commands/${'0'.repeat(32)}`)).text);
    assert.match((await decided(params.url, 'ben', 'approve')).text, /out of date|no such command/);
    assert.equal((await show(taskId))['status'], 'input_required');
    await taskRequest(url, 'cancel', taskId, {}, by(anna, TASKS));
  });

  it('prefers a form where both can be shown, and never sends anybody to a page for an operator’s approval', async () => {
    const both = { ...TASKS, elicitation: { form: {}, url: {} } };
    const { taskId } = await startTask(url, setting('night-lamp'), by(anna, both));
    assert.equal(pageIn(await show(taskId, both)).params.mode, 'form');
    assert.equal(pageIn(await show(taskId)).params.mode, 'url', 'asked by a client of the other kind');
    await taskRequest(url, 'cancel', taskId, {}, by(anna, TASKS));

    const { result } = await callTool(url, 'set_device_state', setting('boiler'), by(anna, TASKS_AND_PAGES));
    assert.equal(result?.['resultType'], 'complete');
    const { state, commandId } = result['structuredContent'];
    assert.equal(state, 'waiting_for_approval');
    assert.equal((await show(commandId))['inputRequests'], undefined);
    await taskRequest(url, 'cancel', commandId, {}, by(anna, TASKS));
  });

  it('leaves it to the queue where nobody can sign in, and where the client is unattended', async () => {
    const without = await serveBoth(false);
    const attended = by(anna, TASKS_AND_PAGES);
    const unattended = { ...attended, headers: { ...bearer(anna), 'readback-approval': 'queue' } };
    for (const [at, options] of [
      [without, attended],
      [url, unattended],
    ] as const) {
      const { result } = await callTool(at, 'set_device_state', setting('night-lamp'), options);
      const { state, commandId, message } = result?.['structuredContent'] ?? {};
      assert.equal(state, 'waiting_for_approval');
      assert.match(message, /NOTHING SENT YET/);
      await taskRequest(url, 'cancel', commandId, {}, by(anna, TASKS));
    }
  });

  it('asks within the call where the client takes no tasks, and waits there for what is decided', async () => {
    const args = setting('night-lamp');
    const asked = (await callTool(url, 'set_device_state', args, by(anna, PAGES))).result ?? {};
    assert.equal(asked['resultType'], 'input_required');
    const { params } = pageIn(asked);
    const accepted = answerCall(
      url,
      args,
      asked,
      { action: 'accept', content: { approve: true } },
      by(anna, PAGES),
    );
    const early = await Promise.race([accepted, sleep(1_500)]);
    assert.equal(early, undefined, 'not decided by the answer');
    await decided(params.url, 'anna', 'approve');
    assert.equal((await accepted).result?.['structuredContent'].outcome, 'verified');
    const used = await answerCall(url, args, asked, { action: 'accept' }, by(anna, PAGES));
    assert.equal(
      used.result?.['structuredContent'].outcome,
      'verified',
      'answered too late, told what was decided',
    );
  });

  it('works with real clients, whose person opens the page and decides there', async () => {
    const questions: any[] = [];
    const person = async (params: any) => {
      questions.push(params);
      await decided(params.url, 'anna', 'approve');
      return { action: 'accept' as const };
    };
    const ways = { shows: 'url', headers: bearer(anna) } as const;
    const client = await modernClient(url, {}, person, ways);
    const result: any = await client.callTool({ name: 'set_device_state', arguments: setting('night-lamp') });
    assert.equal(result.structuredContent.outcome, 'verified');
    await client.close();

    const { session, close } = await taskSession(url, person, ways);
    const execution = await session.callTool('set_device_state', setting('night-lamp'));
    const { outcome } = await execution.settle();
    assert.equal((outcome as any).result.structuredContent.outcome, 'verified');
    await close();
    assert.deepEqual(
      questions.map(({ mode }) => mode),
      ['url', 'url'],
    );
  });
});
