import assert from 'node:assert/strict';
import { randomUUID } from 'node:crypto';
import { after, before, describe, it } from 'node:test';
import type { McpOptions } from '../../mcp-server/options.ts';
import { type Serving, serve } from './serving.ts';
import { callTool, TASKS, TASKS_AND_FORMS, type WireOptions } from './wire.ts';

describe('set_device_state', () => {
  let serving: Serving;
  before(async () => {
    serving = await serve({ taskGraceMs: 2_000, syncWaitMs: 1_000 });
  });
  after(() => serving.close());

  const set = async (args: Readonly<Record<string, unknown>>, options: WireOptions = {}) => {
    const { result, error } = await callTool(
      serving.url,
      'set_device_state',
      { device: 'bedroom-ac', desired: { temperature: 26 }, ...args },
      options,
    );
    assert.ok(result, JSON.stringify(error));
    return result;
  };
  const recent = async () =>
    (await callTool(serving.url, 'get_command', {})).result?.['structuredContent'].commands as {
      commandId: string;
    }[];

  it('answers inline when the command ends within the grace, also a client with tasks', async () => {
    const result = await set({}, { capabilities: TASKS });
    assert.equal(result['resultType'], 'complete');
    const { message, state, done, outcome, undo } = result['structuredContent'];
    assert.equal(message, result['content'][0].text);
    assert.deepEqual([state, done, outcome], ['ended', true, 'verified']);
    assert.deepEqual(undo, {
      tool: 'set_device_state',
      arguments: { device: 'bedroom-ac', desired: { temperature: 24 } },
    });
  });

  it('answers a client without tasks after the sync wait with a handle, and joins the same call', async () => {
    const desired = { temperature: 19 };
    const result = await set({ device: 'slow-ac', desired });
    assert.equal(result['isError'], undefined);
    const { message, done, commandId, next, retryAfterSeconds } = result['structuredContent'];
    assert.equal(done, false);
    assert.match(message, /^NOT DONE\./);
    assert.deepEqual(next, { tool: 'get_command', arguments: { commandId, waitSeconds: 45 } });
    assert.ok(Number.isInteger(retryAfterSeconds));
    assert.equal((await set({ device: 'slow-ac', desired }))['structuredContent'].commandId, commandId);
    const ended = await callTool(serving.url, 'get_command', { commandId, waitSeconds: '45' });
    assert.equal(ended.result?.['structuredContent'].outcome, 'verified');
  });

  it('reports progress while it waits inline, where the client gave a token', async () => {
    const slow = await serve({ syncWaitMs: 20_000 });
    try {
      const args = { device: 'slow-ac', desired: { temperature: 18 }, requestId: randomUUID() };
      const { result, notifications } = await callTool(slow.url, 'set_device_state', args, {
        meta: { progressToken: 'p1' },
      });
      assert.equal(result?.['structuredContent'].outcome, 'verified');
      assert.ok(notifications.length >= 1);
      for (const { method, params } of notifications) {
        assert.deepEqual([method, params.progressToken], ['notifications/progress', 'p1']);
        assert.ok(params.progress > 0 && params.message.length > 0);
      }
    } finally {
      await slow.close();
    }
  });

  it('goes on when the client goes away', async () => {
    const requestId = randomUUID();
    const gone = callTool(
      serving.url,
      'set_device_state',
      { device: 'slow-ac', desired: { temperature: 17 }, requestId },
      { signal: AbortSignal.timeout(500) },
    );
    await assert.rejects(gone, { name: 'TimeoutError' });
    const [latest] = await recent();
    const ended = await callTool(serving.url, 'get_command', {
      commandId: latest?.commandId,
      waitSeconds: 45,
    });
    assert.equal(ended.result?.['structuredContent'].outcome, 'verified');
  });

  it('answers at once, with an ordinary result, what waits for an operator', async () => {
    for (const capabilities of [{}, TASKS, TASKS_AND_FORMS]) {
      const startedAt = Date.now();
      const result = await set({ device: 'front-door', requestId: randomUUID() }, { capabilities });
      assert.ok(Date.now() - startedAt < 1_500);
      assert.equal(result['resultType'], 'complete');
      const { message, state, done, next, sent } = result['structuredContent'];
      assert.match(message, /^NOTHING SENT YET\./);
      assert.deepEqual([state, done, next, sent.count], ['waiting_for_approval', false, undefined, 0]);
    }
  });

  it('answers so also without a grace, and what waits for a requester who cannot be asked', async () => {
    const cases: [Partial<McpOptions>, string, WireOptions][] = [
      [{ taskGraceMs: 0 }, 'front-door', { capabilities: TASKS_AND_FORMS }],
      [{}, 'night-lamp', { capabilities: TASKS }],
      [{}, 'night-lamp', { capabilities: { elicitation: {} } }],
      [{ unattended: true }, 'night-lamp', { capabilities: TASKS_AND_FORMS }],
      [{}, 'night-lamp', { capabilities: TASKS_AND_FORMS, headers: { 'readback-approval': 'queue' } }],
    ];
    for (const [options, device, wire] of cases) {
      const server = await serve(options);
      try {
        const { result } = await callTool(
          server.url,
          'set_device_state',
          { device, desired: { temperature: 26 } },
          wire,
        );
        assert.equal(
          result?.['structuredContent'].state,
          'waiting_for_approval',
          `${device} ${JSON.stringify(options)}`,
        );
      } finally {
        await server.close();
      }
    }
  });

  it('takes desired as JSON text too, and says what it coerced', async () => {
    const result = await set({ desired: '{"temperature":"26"}', requestId: randomUUID() });
    assert.equal(result['structuredContent'].requested.temperature, 26);
    assert.match(result['structuredContent'].message, /Understood: temperature/);
  });

  it('names in an error what is wrong and what is allowed, and starts nothing', async () => {
    const before = (await recent()).length;
    const cases: [Record<string, unknown>, RegExp][] = [
      [{ device: 'bedroom' }, /no device "bedroom"/],
      [{ device: undefined }, /device is missing.*text of 1 to 200/],
      [{ device: 7 }, /device is not valid/],
      [{ desired: undefined }, /desired is missing.*\{"temperature": 22\}/],
      [{ desired: {} }, /desired is empty/],
      [{ desired: 'warm' }, /desired must be an object.*\{"temperature": 22\}/],
      [{ desired: '[1]' }, /desired must be an object/],
      [{ desired: { temperature: 'warm' } }, /temperature "warm"/],
      [{ temperature: 26 }, /no argument "temperature"; allowed: device, desired/],
      [{ dryRun: 'perhaps' }, /dryRun is not valid. It must be true or false/],
      [{ requestId: 'x'.repeat(300) }, /requestId is not valid/],
    ];
    for (const [args, expected] of cases) {
      const result = await set(args);
      assert.equal(result['isError'], true, JSON.stringify(args));
      assert.match(result['content'][0].text, expected);
      assert.match(result['content'][0].text, /Nothing was sent\./);
      assert.equal(result['structuredContent'].message, result['content'][0].text);
    }
    assert.equal((await recent()).length, before);
  });

  it('refuses to repeat blindly what is not safe to repeat, with the old evidence, unless told to', async () => {
    const first = await set({ device: 'stuck-gate' });
    const { commandId, outcome } = first['structuredContent'];
    const again = await set({ device: 'stuck-gate' });
    assert.equal(again['isError'], true);
    assert.deepEqual(
      [again['structuredContent'].commandId, again['structuredContent'].outcome],
      [commandId, outcome],
    );
    assert.match(
      again['structuredContent'].message,
      new RegExp(`^Nothing was sent now.*resendOf="${commandId}"`),
    );
    const anyway = await set({ device: 'stuck-gate', resendOf: commandId });
    assert.notEqual(anyway['structuredContent'].commandId, commandId);
  });

  it('shows in a dry run what would be sent, and starts nothing', async () => {
    const before = (await recent()).length;
    const result = await set({ dryRun: true });
    assert.match(result['structuredContent'].message, /^DRY RUN, nothing was sent\..*would send PUT http/);
    assert.equal(result['structuredContent'].requests.length, 1);
    assert.equal((await recent()).length, before);
  });

  it('says that Temporal is unreachable as a protocol error', async () => {
    serving.commands.reachable = false;
    try {
      const { status, error } = await callTool(serving.url, 'set_device_state', {
        device: 'bedroom-ac',
        desired: { temperature: 26 },
      });
      assert.deepEqual([status, error?.code], [200, -32603]);
    } finally {
      serving.commands.reachable = true;
    }
  });
});
