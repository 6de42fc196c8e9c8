import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';
import { modernClient, taskSession } from './clients.ts';
import { type House, openHouse } from './serving.ts';
import { answerCall, callTool, FORMS, TASKS, TASKS_AND_FORMS, type WireOptions } from './wire.ts';

const ASKING = { capabilities: FORMS };
const A_PERSONS_TIME_MS = 1_100;

describe('values that are missing', () => {
  let house: House;
  let url: string;
  before(async () => {
    house = await openHouse();
    url = (await house.serve()).url;
  });
  after(() => house.close());

  const args = { device: 'floor', desired: { low: 20 } };
  const call = async (theirs: Readonly<Record<string, unknown>>, options: WireOptions) => {
    const { result, error } = await callTool(url, 'set_device_state', theirs, options);
    assert.ok(result, JSON.stringify(error));
    return result;
  };
  const started = async () =>
    (await house.harness.commands.list({ kind: 'operator' }, { limit: 50, device: 'floor' })).length;

  it('are asked for by a form with their units and ranges, without defaults, before anything starts', async () => {
    const before = await started();
    for (const capabilities of [FORMS, TASKS_AND_FORMS, { elicitation: {} }]) {
      const { resultType, inputRequests } = await call(args, { capabilities });
      assert.equal(resultType, 'input_required');
      const [{ method, params }] = Object.values<any>(inputRequests) as [any];
      assert.deepEqual([method, params.mode], ['elicitation/create', 'form']);
      assert.match(
        params.message,
        /^"Floor heating" can't be commanded without: high, program\. Nothing has been sent/,
      );
      assert.deepEqual(params.requestedSchema, {
        type: 'object',
        properties: {
          high: {
            type: 'number',
            title: 'high (°C)',
            description: '10–35 °C, step 0.5. Never more than the floor bears.',
            minimum: 10,
            maximum: 35,
          },
          program: {
            type: 'string',
            title: 'program',
            description: 'comfort | eco',
            enum: ['comfort', 'eco'],
          },
        },
        required: ['high', 'program'],
      });
    }
    assert.equal(await started(), before);
  });

  it('are named with type, unit and range in an error where no form can be shown', async () => {
    const before = await started();
    const cases: WireOptions[] = [
      {},
      { capabilities: TASKS },
      { capabilities: { elicitation: { url: {} } } },
      { ...ASKING, headers: { 'Readback-Approval': 'queue' } },
    ];
    for (const options of cases) {
      const { isError, content } = await call(args, options);
      assert.equal(isError, true);
      assert.match(
        content[0].text,
        /low of floor must be given together with high \(celsius: 10–35 °C, step 0\.5\)/,
      );
      assert.match(content[0].text, /program \(enum: comfort \| eco\)\. Nothing was sent\./);
    }
    assert.equal(await started(), before);
  });

  it('are asked for over several rounds, and those given before are kept', async () => {
    const asked: string[][] = [];
    const client = await modernClient(url, {}, async ({ requestedSchema }) => {
      const fields = Object.keys(requestedSchema.properties);
      asked.push(fields);
      if (fields[0] === 'approve') await sleep(A_PERSONS_TIME_MS);
      const values: Record<string, unknown> = { high: 24.5, program: 'eco', boost: 'on', approve: true };
      return { action: 'accept', content: Object.fromEntries(fields.map((field) => [field, values[field]])) };
    });
    try {
      const result: any = await client.callTool({ name: 'set_device_state', arguments: args });
      const { outcome, requested, sent } = result.structuredContent;
      assert.deepEqual(asked, [['high', 'program'], ['boost'], ['approve']]);
      assert.deepEqual([outcome, sent.count], ['verified', 1]);
      assert.deepEqual(requested, { low: 20, high: 24.5, program: 'eco', boost: 'on' });
    } finally {
      await client.close();
    }
  });

  it('are asked of a client with tasks too, which then gets its task', async () => {
    const { session, close } = await taskSession(url, async ({ requestedSchema }) => {
      const values: Record<string, any> = { high: 26, program: 'eco', boost: 'on', approve: true };
      const fields = Object.keys(requestedSchema.properties);
      if (fields[0] === 'approve') await sleep(A_PERSONS_TIME_MS);
      return { action: 'accept', content: Object.fromEntries(fields.map((field) => [field, values[field]])) };
    });
    try {
      const execution = await session.callTool('set_device_state', args);
      assert.equal(execution.kind, 'task');
      const { outcome } = await execution.settle();
      const { requested, outcome: how } = (outcome as any).result.structuredContent;
      assert.deepEqual([requested.high, how], [26, 'verified']);
    } finally {
      await close();
    }
  });

  it('that are given are checked like all others, and only those that were asked for are taken', async () => {
    const question = await call(args, ASKING);
    const before = await started();
    const give = async (content: Record<string, unknown>) =>
      (await answerCall(url, args, question, { action: 'accept', content }, ASKING)).result ?? {};
    const outside = await give({ high: 80, program: 'comfort' });
    assert.equal(outside['isError'], true);
    assert.match(outside['content'][0].text, /high 80 is outside 10–35 °C/);
    const more = await give({ high: 24, program: 'comfort', low: 5, boost: 'on' });
    assert.equal(more['resultType'], 'input_required', 'boost was not asked for yet');
    assert.equal(await started(), before);
  });

  it('that nobody gives end in the error that names them, and nothing starts', async () => {
    const question = await call(args, ASKING);
    const before = await started();
    const nothing = [
      { action: 'decline' },
      { action: 'cancel' },
      { action: 'accept' },
      { action: 'accept', content: { other: 1 } },
      'high',
      null,
    ];
    for (const response of nothing) {
      const { result } = await answerCall(url, args, question, response, ASKING);
      assert.equal(result?.['isError'], true, JSON.stringify([response, result]));
      assert.match(result?.['content'][0].text, /must be given together with high/);
    }
    assert.equal(await started(), before);
  });

  it('are bound to the call that lacked them', async () => {
    const question = await call(args, ASKING);
    const response = { action: 'accept', content: { high: 24, program: 'comfort' } };
    const { error } = await answerCall(url, { ...args, desired: { low: 21 } }, question, response, ASKING);
    assert.equal(error?.code, -32602);
  });
});
