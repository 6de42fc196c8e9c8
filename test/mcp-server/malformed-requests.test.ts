import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import type { CommandSnapshot, Commands } from '../../commands/commands.ts';
import { type Mutation, mutationsOf } from './mutations.ts';
import { type House, openHouse, type Serving, setting } from './serving.ts';
import { stdioHost } from './stdio-host.ts';
import {
  COMMAND,
  INITIALIZE,
  legacyRequests,
  modernRequests,
  type Subjects,
  type ValidRequest,
} from './valid-requests.ts';
import { ask, envelope } from './wire.ts';

const SEED = 20_260_728;
const MUTATIONS_EACH = 1000;
const OVER_SOCKETS_EACH = 10;
const OVER_STDIO_EACH = 20;
/** Requests under way at once. */
const AT_ONCE = 24;
const ANSWER_WITHIN_MS = 30_000;
const OPERATOR = { kind: 'operator' } as const;
const POSTED = {
  'content-type': 'application/json',
  accept: 'application/json, text/event-stream',
  host: 'localhost',
};
const NO_INTERNALS = /-32603|\.ts:\d|node_modules|\n {4}at |\\n {4}at /;

describe('malformed requests', { timeout: 480_000 }, () => {
  let house: House;
  let serving: Serving;
  let subjects: Subjects;
  let known: ReadonlySet<string>;
  let sends: number;
  /** Commands that the answers name as just taken. */
  const taken = new Set<string>();

  before(async () => {
    house = await openHouse();
    const { harness } = house;
    serving = await house.serve({ taskGraceMs: 0, syncWaitMs: 100 }, sharingReads(harness.commands));
    const asked = setting('night-lamp');
    const waiting = await harness.submit(asked.device, asked.desired);
    const until = ({ view }: CommandSnapshot) => view.approval !== null;
    await harness.commands.wait(waiting, OPERATOR, { timeoutMs: 20_000, until });
    const done = setting('bedroom-ac');
    const { commandId: ended } = await harness.carryOut(done.device, done.desired);
    subjects = { ended, waiting };
    known = new Set([ended, waiting]);
    sends = await allSends();
  });
  after(() => house?.close());

  const allSends = async (): Promise<number> => {
    const devices = Object.keys(house.harness.catalogue.devices);
    const each = await Promise.all(devices.map((device) => house.sends(device)));
    return each.reduce((sum, one) => sum + one, 0);
  };

  /** What came back. Fails the test for a server error, anything internal in it, or no answer at all. */
  async function answerTo(
    { text, message }: Mutation,
    headers: Readonly<Record<string, string>>,
    fetch: (request: Request) => Promise<Response>,
    { streams = false }: { readonly streams?: boolean | undefined } = {},
  ): Promise<string> {
    const request = new Request(`${serving.url}/mcp`, {
      method: 'POST',
      headers: {
        ...POSTED,
        ...headers,
      },
      body: text,
    });
    const answered = async (): Promise<{ status: number; body: string }> => {
      const response = await fetch(request.clone());
      const body = streams ? await begun(response) : await response.text();
      // What a machine with too much to do says, whatever it is asked.
      return body.includes('Temporal does not answer') ? await answered() : { status: response.status, body };
    };
    const { status, body } = await within(ANSWER_WITHIN_MS, answered(), text);
    assert.ok(status < 500, `${status}: ${body} to ${text}`);
    assert.doesNotMatch(body, NO_INTERNALS, text);
    for (const id of startedIn(body)) {
      const calls = Array.isArray(message) ? message : [message];
      assert.ok(calls.some(isAsked), `${id} was started by ${text}`);
      taken.add(id);
    }
    return body;
  }

  async function survives(
    { body, streams }: ValidRequest,
    openHeaders: () => Promise<(message: any) => Readonly<Record<string, string>>>,
  ): Promise<void> {
    const queue = [...mutationsOf(body, MUTATIONS_EACH, SEED)];
    assert.equal(queue.length, MUTATIONS_EACH);
    const client = async () => {
      const headersOf = await openHeaders();
      for (let next = queue.pop(); next !== undefined; next = queue.pop()) {
        await answerTo(next, headersOf(next.message), serving.fetch, { streams });
        // Many are refused without waiting for anything; what comes in from Temporal must get its turn all the same.
        await new Promise(setImmediate);
      }
    };
    await Promise.all(Array.from({ length: AT_ONCE }, client));
    const valid: Mutation = { text: JSON.stringify(body), message: body };
    const headersOf = await openHeaders();
    const answer = await answerTo(valid, headersOf(body), serving.fetch, { streams });
    assert.doesNotMatch(answer, /"error":/, 'the valid one is answered all the same');
  }

  const ANYBODY: Subjects = { ended: 'ended', waiting: 'waiting' };
  for (const [index, { title }] of modernRequests(ANYBODY).entries())
    it(`${title} of 2026-07-28: ${MUTATIONS_EACH} mutations end in an answer`, async () => {
      const request = modernRequests(subjects)[index] as ValidRequest;
      await survives(request, async () => modernHeaders);
    });

  for (const [index, { title }] of legacyRequests(ANYBODY).entries())
    it(`${title} of 2025-11-25: ${MUTATIONS_EACH} mutations end in an answer`, async () => {
      const request = legacyRequests(subjects)[index] as ValidRequest;
      // Each client has one of its own: ids are unique in a session.
      await survives(request, async () => {
        const session = await openSession(serving);
        return (message) => (message?.method === 'initialize' ? {} : session);
      });
    });

  it('reach the server over real sockets in the same way', async () => {
    const requests = modernRequests(subjects).filter(({ streams }) => streams === undefined);
    for (const { body } of requests)
      for (const mutation of mutationsOf(body, OVER_SOCKETS_EACH, SEED + 1))
        await answerTo(mutation, modernHeaders(mutation.message), fetch);
  });

  it("are told what is wrong with a method's params, as invalid params", async () => {
    for (const [method, params, what] of [
      ['resources/read', { uri: 5 }, /^params\.uri: .*string/],
      ['tools/list', { cursor: 5 }, /^params\.cursor: .*string/],
    ] as const) {
      const { error } = await ask(serving.url, method, params);
      assert.equal(error?.code, -32602);
      assert.match(error?.message ?? '', what);
    }
  });

  it('may be 10 MB long, deeper than any stack, or no text at all', async () => {
    const deep = `${'['.repeat(400_000)}${']'.repeat(400_000)}`;
    const call = (args: string) =>
      `{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"set_device_state","arguments":${args},"_meta":${JSON.stringify(envelope({}))}}}`;
    for (const [text, status] of [
      [`{"jsonrpc":"2.0","id":"${'x'.repeat(10_000_000)}","method":"tools/list"}`, 413],
      [deep, 400],
      [call(deep), 200],
      [call(`{"device":"boiler","desired":${deep}}`), 200],
      [call(`{"device":"${'x'.repeat(900_000)}","desired":{}}`), 200],
      [call('{"__proto__":{"device":"boiler","desired":{"temperature":20}}}'), 200],
      [call('{"device":"boiler","device":"attic","desired":{"temperature":20}}'), 200],
    ] as const) {
      for (const send of [serving.fetch, fetch]) {
        const response = await send(
          new Request(`${serving.url}/mcp`, {
            method: 'POST',
            headers: {
              ...POSTED,
              ...modernHeaders({ method: 'tools/call', params: { name: 'set_device_state' } }),
            },
            body: text,
          }),
        );
        const body = await response.text();
        assert.equal(response.status, status, `${text.slice(0, 100)}: ${body.slice(0, 300)}`);
        assert.doesNotMatch(body, NO_INTERNALS);
        assert.deepEqual(startedIn(body), []);
      }
    }
  });

  it('over stdio end in answers, nothing else on stdout, and a process that goes on', async () => {
    const host = await stdioHost(house);
    const server = host.start();
    try {
      const asking = (id: string) =>
        JSON.stringify({ jsonrpc: '2.0', id, method: 'tools/list', params: { _meta: envelope({}) } });
      server.write(asking('first'));
      const requests = modernRequests(subjects).flatMap(({ body }) =>
        mutationsOf(body, OVER_STDIO_EACH, SEED + 2),
      );
      for (const { text } of requests) server.write(text.replaceAll('\n', ' '));
      server.write(asking('last'));
      const answers = await within(30_000, server.until('last'), 'the last request');
      for (const line of answers) {
        assert.equal(JSON.parse(line).jsonrpc, '2.0', line);
        assert.doesNotMatch(line, NO_INTERNALS);
        for (const id of startedIn(line)) taken.add(id);
      }
      assert.doesNotMatch(server.stderr(), /\n {4}at /);
    } finally {
      await server.stop();
      await host.close();
    }
  });

  it('start a command only where they validate, and make no device do anything', async () => {
    const listed = await house.harness.commands.list(OPERATOR, { limit: 5000 });
    const started = listed.filter(({ commandId }) => !known.has(commandId));
    assert.deepEqual(started.map(({ commandId }) => commandId).sort(), [...taken].sort());
    for (const { view } of started) {
      assert.equal(view.device, COMMAND.device);
      assert.deepEqual(Object.keys(view.desired), ['temperature']);
      assert.ok(isTemperature(view.desired['temperature']), JSON.stringify(view.desired));
    }
    assert.equal(await allSends(), sends);
    assert.deepEqual(
      serving.errors.filter(({ stack }) => stack?.includes('TypeError') || stack?.includes('RangeError')),
      [],
      'no fault of ours in the log',
    );
  });
});

/** A valid read costs a workflow, or a search among all of them, and comes after everything that is tested here: equal ones share one. */
function sharingReads(commands: Commands): Commands {
  const made = new Map<string, Promise<any>>();
  const shared =
    <A extends readonly unknown[], T>(read: (...args: A) => Promise<T>) =>
    (...args: A): Promise<T> => {
      const key = `${read.name}${JSON.stringify(args)}`;
      const answer = made.get(key) ?? read(...args);
      made.set(key, answer);
      return answer;
    };
  return { ...commands, readState: shared(commands.readState), list: shared(commands.list) };
}

const isTemperature = (value: unknown): boolean => typeof value === 'number' && value >= 5 && value <= 35;

/** Whether it still asks for the command, however loosely. */
function isAsked(message: any): boolean {
  const { device, desired } = message?.params?.arguments ?? {};
  const wanted = typeof desired === 'string' ? JSON.parse(desired) : desired;
  const sameDevice = typeof device === 'string' && device.toLowerCase() === COMMAND.device;
  return sameDevice && isTemperature(Number(wanted?.temperature));
}

function modernHeaders(message: any): Readonly<Record<string, string>> {
  const fits = (value: unknown): value is string =>
    typeof value === 'string' && /^[\w/.:-]{1,200}$/.test(value);
  const { method, params } = message ?? {};
  const name = params?.name ?? params?.taskId ?? params?.uri;
  return {
    'mcp-protocol-version': '2026-07-28',
    ...(fits(method) && { 'mcp-method': method }),
    ...(fits(name) && { 'mcp-name': name }),
  };
}

async function openSession({ fetch, url }: Serving): Promise<Readonly<Record<string, string>>> {
  const body = JSON.stringify(INITIALIZE);
  const response = await fetch(new Request(`${url}/mcp`, { method: 'POST', headers: POSTED, body }));
  await response.text();
  return { 'mcp-session-id': String(response.headers.get('mcp-session-id')) };
}

/** The ids of commands that set_device_state has taken, in a body of one or more messages. */
function startedIn(body: string): readonly string[] {
  const taken =
    /"resultType":"task","taskId":"([0-9a-f]{32})"|"taskId":"([0-9a-f]{32})"[^}]*"resultType":"task"/g;
  const told = /"state":"(?!ended)\w+","done":false,"commandId":"([0-9a-f]{32})"/g;
  return [...body.matchAll(taken), ...body.matchAll(told)].flatMap(([, ...ids]) => ids.find(Boolean) ?? []);
}

/** The first event of a stream, or all of what isn't one; then the client leaves. */
async function begun(response: Response): Promise<string> {
  if (!response.headers.get('content-type')?.startsWith('text/event-stream')) return await response.text();
  const reader = response.body?.getReader();
  const first = await reader?.read();
  await reader?.cancel();
  return new TextDecoder().decode(first?.value);
}

async function within<T>(ms: number, promise: Promise<T>, what: string): Promise<T> {
  let timer: NodeJS.Timeout | undefined;
  const late = new Promise<never>((_, reject) => {
    timer = setTimeout(() => reject(new Error(`no answer within ${ms} ms to ${what}`)), ms);
  });
  return await Promise.race([promise, late]).finally(() => clearTimeout(timer));
}
