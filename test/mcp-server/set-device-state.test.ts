import assert from 'node:assert/strict';
import { randomUUID } from 'node:crypto';
import { after, before, describe, it } from 'node:test';
import type { McpOptions } from '../../mcp-server/options.ts';
import { type House, openHouse, setting } from './serving.ts';
import { callTool, TASKS, TASKS_AND_FORMS, type WireOptions } from './wire.ts';

describe('set_device_state', () => {
  let house: House;
  let url: string;
  before(async () => {
    house = await openHouse();
    url = (await house.serve({ taskGraceMs: 10_000, syncWaitMs: 1_000 })).url;
  });
  after(() => house.close());

  const set = async (args: Readonly<Record<string, unknown>>, options: WireOptions = {}, at = url) => {
    const { result, error } = await callTool(at, 'set_device_state', args, options);
    assert.ok(result, JSON.stringify(error));
    assert.equal(result['structuredContent']?.message, result['content']?.[0].text);
    return result;
  };
  const waitFor = async (commandId: string) =>
    (await callTool(url, 'get_command', { commandId, waitSeconds: '45' })).result?.['structuredContent'];
  const recent = async () =>
    (await callTool(url, 'get_command', {})).result?.['structuredContent'].commands as {
      commandId: string;
    }[];

  it('answers inline when the command ends within the grace, also a client with tasks', async () => {
    const args = setting('bedroom-ac');
    const result = await set(args, { capabilities: TASKS });
    assert.equal(result['resultType'], 'complete');
    const { state, done, outcome, safeToSendAgain, fields, previous, undo } = result['structuredContent'];
    assert.deepEqual([state, done, outcome, safeToSendAgain], ['ended', true, 'verified', true]);
    const { temperature } = args.desired;
    assert.deepEqual(fields, {
      temperature: { requested: temperature, observed: temperature, verdict: 'verified' },
    });
    assert.deepEqual(undo, {
      tool: 'set_device_state',
      arguments: { device: 'bedroom-ac', desired: previous },
    });
    const undone = await set(undo.arguments, { capabilities: TASKS });
    assert.deepEqual(
      [undone['structuredContent'].outcome, undone['structuredContent'].previous],
      ['verified', args.desired],
    );
  });

  it('answers a client without tasks after the sync wait with a handle, and joins the same call', async () => {
    const args = setting('slow-ac');
    const result = await set(args);
    assert.equal(result['isError'], undefined);
    const { message, done, commandId, next, retryAfterSeconds } = result['structuredContent'];
    assert.equal(done, false);
    assert.match(message, /^NOT DONE\. "slow-ac": asked temperature/);
    assert.deepEqual(next, { tool: 'get_command', arguments: { commandId, waitSeconds: 45 } });
    assert.ok(Number.isInteger(retryAfterSeconds));
    const again = (await set(args))['structuredContent'];
    assert.equal(again.commandId, commandId);
    assert.match(again.message, /^Joined your same command/);
    const ended = await waitFor(commandId);
    assert.deepEqual([ended.outcome, ended.sent.count], ['verified', 1]);
  });

  it('takes the same call, repeated within milliseconds, for one command', async () => {
    const args = setting('slow-ac');
    const [one, other] = await Promise.all([set(args), set(args)]);
    assert.equal(one['structuredContent'].commandId, other['structuredContent'].commandId);
    const ended = await waitFor(one['structuredContent'].commandId);
    assert.deepEqual([ended.outcome, ended.sent.count], ['verified', 1]);
  });

  it('reports progress while it waits inline, where the client gave a token', async () => {
    const patient = await house.serve({ syncWaitMs: 30_000 });
    const args = { name: 'set_device_state', arguments: setting('slow-ac') };
    const { result, notifications } = await callTool(patient.url, args.name, args.arguments, {
      meta: { progressToken: 'p1' },
    });
    assert.equal(result?.['structuredContent'].outcome, 'verified');
    assert.ok(notifications.length >= 1);
    const progress = notifications.map(({ method, params }) => {
      assert.deepEqual([method, params.progressToken], ['notifications/progress', 'p1']);
      assert.ok(params.message.length > 0);
      return params.progress;
    });
    assert.deepEqual(
      progress,
      [...new Set(progress)].sort((a, b) => a - b),
      'it only grows',
    );
  });

  it('goes on when the client goes away', async () => {
    const patient = await house.serve({ syncWaitMs: 30_000 });
    const args = setting('slow-ac');
    const gone = callTool(patient.url, 'set_device_state', args, { signal: AbortSignal.timeout(1_000) });
    await assert.rejects(gone, { name: 'TimeoutError' });
    const joined = (await set(args))['structuredContent'];
    const ended = await waitFor(joined.commandId);
    assert.deepEqual([ended.outcome, ended.sent.count], ['verified', 1]);
  });

  it('answers at once, with an ordinary result, what waits for an operator', async () => {
    const patient = await house.serve({ taskGraceMs: 40_000 });
    for (const capabilities of [{}, TASKS, TASKS_AND_FORMS]) {
      const startedAt = Date.now();
      const result = await set(setting('boiler'), { capabilities }, patient.url);
      assert.ok(Date.now() - startedAt < 20_000, 'it does not wait for the grace to be over');
      assert.equal(result['resultType'], 'complete');
      const { message, state, done, next, sent } = result['structuredContent'];
      assert.match(message, /^NOTHING SENT YET\..*an operator \(not you, not this user\)/);
      assert.deepEqual([state, done, next, sent.count], ['waiting_for_approval', false, undefined, 0]);
    }
    assert.equal((await house.harness.admin('GET', '/devices/boiler')).counters.sends.arrived, 0);
  });

  it('answers so without a grace too, and what waits for a requester who cannot be asked', async () => {
    const forms = { capabilities: TASKS_AND_FORMS };
    const cases: [Partial<McpOptions>, 'boiler' | 'night-lamp', WireOptions][] = [
      [{ taskGraceMs: 0 }, 'boiler', forms],
      [{}, 'night-lamp', { capabilities: TASKS }],
      [{}, 'night-lamp', { capabilities: { ...TASKS, elicitation: { url: {} } } }],
      [{}, 'night-lamp', { capabilities: {} }],
      [{ stateKey: null }, 'night-lamp', { capabilities: { elicitation: {} } }],
      [{ unattended: true }, 'night-lamp', forms],
      [{}, 'night-lamp', { ...forms, headers: { 'Readback-Approval': 'queue' } }],
    ];
    for (const [options, device, wire] of cases) {
      const { url: at } = await house.serve({ ...options, consoleUrl: 'http://127.0.0.1:8484/' });
      const { state, message } = (await set(setting(device), wire, at))['structuredContent'];
      assert.equal(state, 'waiting_for_approval', `${device} ${JSON.stringify(options)}`);
      assert.match(message, /http:\/\/127\.0\.0\.1:8484\//);
    }
  });

  it('takes desired as JSON text too, and says what it coerced', async () => {
    const { device, desired } = setting('bedroom-ac');
    const text = JSON.stringify({ temperature: String(desired['temperature']) });
    const { requested, message } = (await set({ device, desired: text }, { capabilities: TASKS }))[
      'structuredContent'
    ];
    assert.deepEqual(requested, desired);
    assert.match(message, /^Understood: desired was given as JSON text .*temperature: "[\d.]+" was taken as/);
  });

  it('names in an error what is wrong and what is allowed, and starts nothing', async () => {
    const before = await recent();
    const good = { device: 'bedroom-ac', desired: { temperature: 26 } };
    const cases: [Record<string, unknown>, RegExp][] = [
      [{ ...good, device: 'bedroom' }, /no device "bedroom".*bedroom-ac/s],
      [{ desired: good.desired }, /device is missing.*text of 1 to 200/],
      [{ ...good, device: 7 }, /device is not valid/],
      [{ device: 'bedroom-ac' }, /desired is missing.*\{"temperature": 22\}/],
      [{ ...good, desired: {} }, /temperature/],
      [
        { ...good, desired: 'warm' },
        /desired is "warm", not an object.*Nothing was sent.*\{"temperature":35\}/,
      ],
      [{ ...good, desired: '[1]' }, /desired is "\[1\]", not an object/],
      [{ ...good, desired: [26] }, /desired/],
      [{ ...good, desired: { temperature: 'warm' } }, /temperature.*"warm"/],
      [{ ...good, desired: { temperature: 82 } }, /temperature 82 is outside 5–35 °C/],
      [{ ...good, desired: { humidity: 40 } }, /humidity.*temperature/s],
      [{ ...good, temperature: 26 }, /no argument "temperature"; allowed: device, desired/],
      [{ ...good, dryRun: 'perhaps' }, /dryRun is not valid. It must be true or false/],
      [{ ...good, requestId: 'x'.repeat(300) }, /requestId is not valid/],
    ];
    for (const [args, expected] of cases) {
      const result = await set(args);
      assert.equal(result['isError'], true, JSON.stringify(args));
      assert.match(result['content'][0].text, expected);
      assert.match(result['content'][0].text, /Nothing was sent\./);
    }
    assert.deepEqual(await recent(), before);
  });

  it('keeps one requestId for one content', async () => {
    const args = { ...setting('bedroom-ac'), requestId: randomUUID() };
    const first = (await set(args, { capabilities: TASKS }))['structuredContent'];
    const again = (await set(args, { capabilities: TASKS }))['structuredContent'];
    assert.equal(again.commandId, first.commandId);
    const other = await set({ ...args, ...setting('bedroom-ac') });
    assert.equal(other['isError'], true);
    assert.match(other['content'][0].text, /requestId .* was used for another command/);
  });

  it('refuses to repeat blindly what is not safe to repeat, with the old evidence, unless told to', async () => {
    const args = { device: 'stuck-gate', desired: { door: 'open' } };
    const wire = { capabilities: TASKS };
    const first = await set(args, wire);
    const { commandId, outcome, safeToSendAgain, next } = first['structuredContent'];
    assert.deepEqual([first['isError'], outcome, safeToSendAgain], [true, 'unchanged', false]);
    assert.deepEqual(next, { tool: 'get_device_state', arguments: { device: 'stuck-gate' } });
    const again = await set(args, wire);
    assert.equal(again['isError'], true);
    assert.deepEqual(
      [again['structuredContent'].commandId, again['structuredContent'].outcome],
      [commandId, outcome],
    );
    assert.match(
      again['structuredContent'].message,
      new RegExp(`^Nothing was sent now.*resendOf="${commandId}"`),
    );
    const sends = async () =>
      (await house.harness.admin('GET', '/devices/stuck-gate')).counters.sends.arrived;
    assert.equal(await sends(), 1);
    const anyway = await set({ ...args, resendOf: commandId }, wire);
    assert.notEqual(anyway['structuredContent'].commandId, commandId);
    assert.equal(await sends(), 2);
  });

  it('shows in a dry run what would be sent and who has to agree, and starts nothing', async () => {
    const before = await recent();
    const { device, desired } = setting('boiler');
    const { message, requests, previous, approval, sent } = (await set({ device, desired, dryRun: true }))[
      'structuredContent'
    ];
    assert.match(
      message,
      /^DRY RUN, nothing was sent\..*After a yes from an operator \(Hot water\.\) it would send PUT http/,
    );
    assert.deepEqual(
      requests.map(({ body }: { body: unknown }) => body),
      [desired],
    );
    assert.deepEqual(Object.keys(previous), Object.keys(desired));
    for (const [field, value] of Object.entries(previous)) {
      assert.equal(typeof value, 'number');
      assert.notEqual(value, desired[field]);
    }
    assert.deepEqual([approval.by, sent.count], ['operator', 0]);
    assert.deepEqual(await recent(), before);
  });

  it('shows names of devices as data: no control or direction characters', async () => {
    const { message } = (await set(setting('bedroom-ac'), { capabilities: TASKS }))['structuredContent'];
    assert.match(message, /"Bedroom air conditioner"/);
    assert.doesNotMatch(message, /[\p{Cc}\p{Cf}]/u);
  });
});
