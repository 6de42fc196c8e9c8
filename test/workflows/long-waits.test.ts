/** Waits of days, in skipped time: only the activities are stubs, and they say what they stand for. */
import assert from 'node:assert/strict';
import { randomUUID } from 'node:crypto';
import { after, before, describe, it } from 'node:test';
import { ApplicationFailure } from '@temporalio/common';
import type { TestWorkflowEnvironment } from '@temporalio/testing';
import { DefaultLogger, Runtime, Worker, type WorkflowBundle } from '@temporalio/worker';
import type { CommandRequest, CommandResult } from '../../domain/command.ts';
import type { SendResult } from '../../domain/exchange.ts';
import { type Activities, type Look } from '../../workflows/activity-types.ts';
import { FAILURE, TASK_QUEUE, TURNS_TASK_QUEUE, WORKFLOW_TYPE } from '../../workflows/messages.ts';
import { startTimeSkippingTemporal } from '../time-skipping.ts';
import { testWorkflowBundle } from '../workflow-bundle.ts';

const HOUR_MS = 3_600_000;

const request: CommandRequest = {
  device: 'heater',
  deviceName: 'Heater',
  desired: { temperature: 21 },
  units: { temperature: '°C' },
  reason: null,
  caller: { subject: 'local', client: null, transport: 'http', unattended: false },
  requestId: null,
  resendOf: null,
  contentKey: 'content',
  definitionDigest: 'definition',
  deliverWithinMs: 72 * HOUR_MS,
};

const look: Look = {
  at: 0,
  readings: { temperature: { kind: 'value', value: 20 } },
  deviceAt: null,
  trouble: null,
  before: null,
  previous: { temperature: 20 },
  already: [],
  // biome-ignore lint/suspicious/noThenProperty: the catalogue's own word
  steps: [
    {
      index: 0,
      fields: ['temperature'],
      kind: 'set',
      repeatable: false,
      then: { kind: 'verify' },
      verifiable: ['temperature'],
      timeoutMs: 10_000,
    },
  ],
  policy: {
    firstMs: 1000,
    everyMs: 60_000,
    withinMs: 48 * HOUR_MS,
    stableMs: 2000,
    reads: 2,
    lagMs: 0,
    lagReason: null,
    maxSends: 1,
  },
  readWithinMs: 30_000,
  definitionDigest: 'definition',
  objection: null,
  asleep: false,
  wake: null,
};

const reply = (result: Partial<SendResult>): SendResult => ({
  class: 'accepted',
  acknowledged: true,
  at: 0,
  reply: { status: 200, body: 'ok' },
  detail: 'HTTP 200',
  retryAfterMs: null,
  kept: {},
  ...result,
});

describe('in skipped time', () => {
  let temporal: TestWorkflowEnvironment;
  let workflowBundle: WorkflowBundle;
  before(async () => {
    const logger = new DefaultLogger('ERROR');
    Runtime.install({ logger });
    [temporal, workflowBundle] = await Promise.all([startTimeSkippingTemporal(), testWorkflowBundle()]);
  });
  after(() => temporal?.teardown());

  /** Carries the command out with these activities in place of the real ones; result, sends, events, days that passed. */
  async function carryOut(activities: Partial<Activities>) {
    let sends = 0;
    const stubs: Partial<Activities> = {
      takeTurn: async () => ({ kind: 'ready', look }),
      settle: async () => ({
        fields: {
          temperature: {
            verdict: 'verified',
            observed: { value: 21, at: 0 },
            adjusted: false,
            detail: 'reads 21 °C',
          },
        },
        samples: [],
      }),
      ...activities,
      send: async (input) => {
        sends += 1;
        return await (activities.send ?? (async () => reply({})))(input);
      },
    };
    const shared = { connection: temporal.nativeConnection, activities: stubs };
    const worker = await Worker.create({ ...shared, taskQueue: TASK_QUEUE, workflowBundle });
    const turns = await Worker.create({ ...shared, taskQueue: TURNS_TASK_QUEUE });
    const workflowId = randomUUID();
    const result = await worker.runUntil(
      turns.runUntil(
        async () =>
          (await temporal.client.workflow.execute(WORKFLOW_TYPE.deviceCommand, {
            workflowId,
            taskQueue: TASK_QUEUE,
            args: [request],
          })) as CommandResult,
      ),
    );
    const handle = temporal.client.workflow.getHandle(workflowId);
    const [{ events }, { startTime }] = await Promise.all([handle.fetchHistory(), handle.describe()]);
    const hours = (result.endedAt - startTime.getTime()) / HOUR_MS;
    return { result, sends, events: events?.length ?? 0, hours };
  }

  it('an approval that nobody gives for 24 hours expires, and nothing is sent', async () => {
    const requirement = {
      by: 'operator',
      reason: null,
      expiresMs: 24 * HOUR_MS,
      bindings: ['rule'],
      digest: 'digest',
    } as const;
    const { result, sends, hours } = await carryOut({
      takeTurn: async () => ({ kind: 'needsApproval', requirement, before: {}, rings: false }),
    });
    assert.deepEqual([result.outcome, sends], ['expired', 0]);
    assert.ok(hours >= 24 && hours < 25, `${hours} h`);
  });

  it('a device that sleeps for 48 hours costs no more history than one that answers at once', async () => {
    let reads = 0;
    const { result, sends, events } = await carryOut({
      settle: async () => {
        reads += 1;
        if (reads < 48)
          throw ApplicationFailure.create({
            message: 'asleep',
            type: FAILURE.notSettled,
            nextRetryDelay: HOUR_MS,
          });
        return {
          fields: {
            temperature: {
              verdict: 'verified',
              observed: { value: 21, at: 0 },
              adjusted: false,
              detail: 'reads 21 °C',
            },
          },
          samples: [],
        };
      },
    });
    assert.deepEqual([result.outcome, sends, reads], ['verified', 1, 48]);
    assert.ok(events <= 40, `${events} events`);
  });

  it('a device that is not reached for three days is undelivered then, after fewer than 2,000 events', async () => {
    const { result, sends, events, hours } = await carryOut({
      send: async () =>
        reply({ class: 'unreached', acknowledged: false, reply: null, detail: 'connection refused' }),
    });
    assert.equal(result.outcome, 'undelivered');
    assert.ok(hours > 70 && hours < 72.1, `${hours} h`);
    assert.ok(sends > 50 && events < 2000, `${sends} sends, ${events} events`);
  });
});
