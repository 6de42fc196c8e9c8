import assert from 'node:assert/strict';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, before, describe, it } from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';
import { StdioClientTransport } from '@modelcontextprotocol/sdk/client/stdio.js';
import type { Transport } from '@modelcontextprotocol/sdk/shared/transport.js';
import { legacyClient, type OnQuestion } from './clients.ts';
import { CATALOGUE, type House, openHouse, setting } from './serving.ts';

const A_PERSONS_TIME_MS = 1_100;
const YES = { action: 'accept', content: { approve: true } };
const OPERATOR = { kind: 'operator' } as const;
const aPersonSays =
  (response: unknown): OnQuestion =>
  async () => {
    await sleep(A_PERSONS_TIME_MS);
    return response;
  };

describe('an approval by the requester, asked of a client of 2025-11-25', () => {
  let house: House;
  let url: string;
  let folder: string;
  before(async () => {
    house = await openHouse();
    url = (await house.serve()).url;
    folder = await mkdtemp(join(tmpdir(), 'readback-dialog-'));
    await writeFile(join(folder, 'readback.yaml'), CATALOGUE);
  });
  after(async () => {
    await house.close();
    await rm(folder, { recursive: true });
  });

  /** `readback stdio` as a host starts it. */
  const stdio = (...flags: string[]): Transport => {
    const { temporal, simulatorUrl, sealKey } = house.harness;
    const program = join(import.meta.dirname, '../../bin/readback.mjs');
    const places = ['--temporal', temporal.address, '--data-dir', folder, '--simulator-url', simulatorUrl];
    return new StdioClientTransport({
      command: process.execPath,
      args: [program, 'stdio', ...places, '--catalogue', join(folder, 'readback.yaml'), ...flags],
      env: {
        PATH: process.env['PATH'] ?? '',
        HOME: folder,
        READBACK_SEAL_KEY: Buffer.from(sealKey).toString('base64'),
      },
    });
  };
  const set = async (
    args: Readonly<Record<string, unknown>>,
    onQuestion: OnQuestion | undefined,
    transport?: Transport,
    at = url,
  ) => {
    const client = await legacyClient(at, onQuestion, transport);
    try {
      const result: any = await client.callTool({ name: 'set_device_state', arguments: args });
      assert.equal(result.content[0].text, result.structuredContent?.message ?? result.content[0].text);
      return { ...result.structuredContent, isError: result.isError, text: result.content[0].text };
    } finally {
      await client.close();
    }
  };
  const viewOf = async (commandId: string) => {
    const snapshot = await house.harness.commands.get(commandId, OPERATOR);
    assert.ok(snapshot);
    return snapshot.view;
  };
  const cancel = (commandId: string) => house.harness.commands.cancel(commandId, OPERATOR);

  for (const [over, transport] of [
    ['an HTTP session', () => undefined],
    ['stdio', () => stdio()],
  ] as const) {
    it(`is sent the form during the call, and goes on after a yes, over ${over}`, async () => {
      const before = await house.sends('night-lamp');
      const questions: any[] = [];
      const ended = await set(
        setting('night-lamp'),
        async (question) => {
          questions.push(question);
          await sleep(A_PERSONS_TIME_MS);
          assert.equal(await house.sends('night-lamp'), before);
          return YES;
        },
        transport(),
      );
      assert.deepEqual([ended.outcome, ended.sent.count, questions.length], ['verified', 1, 1]);
      assert.match(questions[0].message, /"Night lamp".*Nothing has been sent.*Somebody may be asleep/s);
      assert.deepEqual(Object.keys(questions[0].requestedSchema.properties), ['approve']);
      const { via, latencyMs } = (await viewOf(ended.commandId)).decidedBy ?? {};
      assert.deepEqual([via, (latencyMs ?? 0) >= A_PERSONS_TIME_MS], ['form', true]);
    });

    it(`A1: keeps it open in the queue where the client declines by itself, over ${over}`, async () => {
      const before = await house.sends('night-lamp');
      const told = await set(setting('night-lamp'), () => ({ action: 'decline' }), transport());
      assert.deepEqual([told.state, told.isError], ['waiting_for_approval', undefined]);
      assert.match(
        told.message,
        /^NOTHING SENT YET\..*answered by the client after \d+ ms; perhaps no person saw it/,
      );
      const { approval } = await viewOf(told.commandId);
      assert.deepEqual(
        approval?.attempts?.map(({ how, via, latencyMs }) => [how, via, latencyMs < 1_000]),
        [['tooFast', 'form', true]],
      );
      await cancel(told.commandId);
      assert.equal(await house.sends('night-lamp'), before);
    });
  }

  it('A2: takes a person’s decline and accept with false for a no, and nothing else for anything', async () => {
    const before = await house.sends('night-lamp');
    const cases: [unknown, string | undefined][] = [
      [{ action: 'decline' }, 'declined'],
      [{ action: 'accept', content: { approve: false } }, 'declined'],
      [{ action: 'cancel' }, undefined],
      [{ action: 'accept', content: { approve: 'true' } }, undefined],
      [{ action: 'accept', content: {} }, undefined],
    ];
    await Promise.all(
      cases.map(async ([response, outcome]) => {
        const told = await set(setting('night-lamp'), aPersonSays(response));
        assert.deepEqual([told.outcome, told.sent.count], [outcome, 0], JSON.stringify(response));
        await cancel(told.commandId);
      }),
    );
    assert.equal(await house.sends('night-lamp'), before);
  });

  it('waits only so long, tells of the queue, and lets the client’s failing decide nothing', async () => {
    const impatient = await house.serve({ syncWaitMs: 700 });
    const cases: OnQuestion[] = [
      () => new Promise(() => {}),
      () => {
        throw new Error('no dialog today');
      },
      () => ({ action: 'maybe' }),
    ];
    for (const onQuestion of cases) {
      const startedAt = Date.now();
      const told = await set(setting('night-lamp'), onQuestion, undefined, impatient.url);
      assert.deepEqual([told.state, told.isError], ['waiting_for_approval', undefined]);
      assert.match(told.message, /^NOTHING SENT YET\./);
      assert.ok(Date.now() - startedAt < 20_000);
      const { approval } = await viewOf(told.commandId);
      assert.deepEqual([approval?.key, approval?.attempts], ['approve-1', undefined]);
      await cancel(told.commandId);
    }
  });

  it('is told of the queue where it declares no forms, or is unattended', async () => {
    const askedNobody: OnQuestion = () => assert.fail('it must not be asked');
    const cases: [OnQuestion | undefined, Transport | undefined][] = [
      [undefined, undefined],
      [askedNobody, stdio('--approval', 'queue')],
    ];
    for (const [onQuestion, transport] of cases) {
      const told = await set(setting('night-lamp'), onQuestion, transport);
      assert.equal(told.state, 'waiting_for_approval');
      assert.match(told.message, /needs a yes from .*in the approval queue, until/);
      await cancel(told.commandId);
    }
  });

  it('is never asked about a rule for operators', async () => {
    const told = await set(setting('boiler'), () => assert.fail('it must not be asked'));
    assert.match(told.message, /an operator \(not you, not this user\)/);
    await cancel(told.commandId);
    assert.equal(await house.sends('boiler'), 0);
  });

  it('is asked for values that are missing, one question at a time, and then for its approval', async () => {
    const before = await house.sends('floor');
    const asked: string[][] = [];
    const ended = await set({ device: 'floor', desired: { low: 20 } }, async ({ requestedSchema }) => {
      const fields = Object.keys(requestedSchema.properties);
      asked.push(fields);
      await sleep(fields[0] === 'approve' ? A_PERSONS_TIME_MS : 0);
      const values: Record<string, unknown> = { high: 24, program: 'eco', boost: 'on', approve: true };
      const content = Object.fromEntries(fields.map((field) => [field, values[field]]));
      assert.equal(await house.sends('floor'), before);
      return { action: 'accept', content };
    });
    assert.deepEqual(asked, [['high', 'program'], ['boost'], ['approve']]);
    assert.deepEqual(ended.requested, { low: 20, high: 24, program: 'eco', boost: 'on' });
    assert.deepEqual([ended.outcome, ended.sent.count], ['verified', 1]);
  });

  it('is told which values are missing where its user gives none', async () => {
    for (const onQuestion of [
      () => ({ action: 'cancel' }),
      () => ({ action: 'accept', content: {} }),
      undefined,
    ]) {
      const told = await set({ device: 'floor', desired: { program: 'comfort' } }, onQuestion);
      assert.equal(told.isError, true);
      assert.match(
        told.text,
        /program of floor must be given together with boost \(onoff: on \| off\)\. Nothing was sent/,
      );
    }
  });
});
