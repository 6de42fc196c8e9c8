/** The real command workflow in skipped time, with activities that answer from a script. */
import assert from 'node:assert/strict';
import { randomUUID } from 'node:crypto';
import { ApplicationFailure } from '@temporalio/common';
import { DefaultLogger, Runtime, Worker } from '@temporalio/worker';
import type { CommandRequest, CommandResult } from '../../domain/command.ts';
import type { SendClass, SendResult } from '../../domain/exchange.ts';
import type { Verdict } from '../../domain/outcome.ts';
import type { FieldVerdict } from '../../domain/settle.ts';
import { type Activities, type Look, type StepPlan } from '../../workflows/activity-types.ts';
import { TASK_QUEUE, TURNS_TASK_QUEUE, WORKFLOW_TYPE } from '../../workflows/messages.ts';
import { startTimeSkippingTemporal } from '../time-skipping.ts';
import { testWorkflowBundle } from '../workflow-bundle.ts';

/** `died`: the worker dies while it sends. `maybe` is a 503; `soft` a 200 whose body doubts itself. */
export type Reply = SendClass | 'soft' | 'died';

export interface Script {
  readonly steps?: readonly Partial<StepPlan>[];
  readonly maxSends?: number;
  /** One a send, in order; the last one again and again. */
  readonly replies: readonly Reply[];
  /** One a readback, in order, for every field that it judges; the last one again and again. */
  readonly verdicts?: readonly Verdict[];
  /** Looked at again, everything reads as asked. */
  readonly soAlready?: boolean;
  /** What it showed before is not known. */
  readonly unseen?: boolean;
  /** The look finds the device asleep. */
  readonly asleep?: boolean;
  readonly wake?: Look['wake'];
  /** Whether a wake works, one each; the last one again and again. */
  readonly wakes?: readonly boolean[];
}

export interface Played {
  readonly result: CommandResult;
  readonly verdicts: Readonly<Record<string, Verdict>>;
  /** Every attempt, also those that reached nothing. */
  readonly attempts: readonly Reply[];
  /** Idempotency keys of the attempts. */
  readonly keys: readonly string[];
  readonly counted: number;
  readonly wakes: number;
  readonly reads: readonly (readonly string[])[];
}

/** What reached the device, or may have. */
export const REACHING: readonly Reply[] = ['accepted', 'already', 'maybe', 'soft', 'refused', 'lost', 'died'];
const STATUS: Partial<Record<Reply, number>> = {
  accepted: 200,
  soft: 200,
  already: 400,
  maybe: 503,
  refused: 400,
  limited: 429,
  signedOut: 401,
  asleep: 408,
};
const DELIVER_WITHIN_MS = 10 * 60_000;

export interface ScriptedCommands {
  /** Carries one command out as its script says. */
  play(script: Script): Promise<Played>;
  stop(): Promise<void>;
}

export async function startScriptedCommands(): Promise<ScriptedCommands> {
  const plays = new Map<string, ReturnType<typeof playFrom>>();
  const logger = new DefaultLogger('ERROR');
  Runtime.install({ logger });
  const [temporal, workflowBundle] = await Promise.all([startTimeSkippingTemporal(), testWorkflowBundle()]);
  const of = ({ request }: { readonly request: CommandRequest }) => {
    const play = plays.get(request.device);
    assert.ok(play);
    return play;
  };
  const activities: Partial<Activities> = {
    takeTurn: async (input) => ({ kind: 'ready', look: of(input).look }),
    send: async (input) => of(input).send(input.idempotencyKey),
    settle: async (input) => of(input).settle(input.fields),
    lookAgain: async (input) => of(input).lookAgain(),
    wake: async (input) => of(input).wake(),
  };
  const shared = { connection: temporal.nativeConnection, activities };
  const workers = [
    await Worker.create({ ...shared, taskQueue: TASK_QUEUE, workflowBundle }),
    await Worker.create({ ...shared, taskQueue: TURNS_TASK_QUEUE }),
  ];
  const running = workers.map((worker) => worker.run());
  const stop = async () => {
    for (const worker of workers) worker.shutdown();
    await Promise.all(running);
    await temporal.teardown();
  };
  async function play(script: Script): Promise<Played> {
    const id = randomUUID();
    const played = playFrom(script);
    plays.set(id, played);
    const result = (await temporal.client.workflow.execute(WORKFLOW_TYPE.deviceCommand, {
      workflowId: id,
      taskQueue: TASK_QUEUE,
      args: [requestFor(id, played.look)],
    })) as CommandResult;
    const description = await temporal.client.workflow.getHandle(id).describe();
    const view = description.memo?.['readback'] as { readonly sent: { readonly count: number } };
    const verdicts = Object.entries(result.fields).map(([name, field]): [string, Verdict] => [
      name,
      field.verdict,
    ]);
    return { result, verdicts: Object.fromEntries(verdicts), counted: view.sent.count, ...played.seen() };
  }
  return { play, stop };
}

/** The activities of one command, as its script says, and what they were asked. */
function playFrom(script: Script) {
  const attempts: Reply[] = [];
  const keys: string[] = [];
  const reads: (readonly string[])[] = [];
  let wakes = 0;
  const look = lookFor(script);
  const soAlready = () => (script.soAlready === true ? Object.keys(look.readings) : []);
  const nth = <Item>(items: readonly Item[], index: number): Item => {
    const item = items[Math.min(index, items.length - 1)];
    assert.ok(item !== undefined);
    return item;
  };
  return {
    look,
    seen: () => ({ attempts, keys, reads, wakes }),
    send(key: string): SendResult {
      const reply = nth(script.replies, attempts.length);
      attempts.push(reply);
      keys.push(key);
      if (reply === 'died') throw ApplicationFailure.nonRetryable('the worker died');
      const status = STATUS[reply];
      return {
        class: reply === 'soft' ? 'maybe' : reply,
        acknowledged: reply === 'soft' || reply === 'accepted' || reply === 'already',
        at: Date.now(),
        reply: status === undefined ? null : { status, body: '' },
        detail: status === undefined ? 'no reply' : `HTTP ${status}`,
        retryAfterMs: reply === 'limited' ? 30_000 : null,
        kept: {},
      };
    },
    settle(fields: readonly string[]) {
      const verdict = nth<Verdict>(script.verdicts ?? ['verified'], reads.length);
      reads.push(fields);
      const found: FieldVerdict = { verdict, observed: null, adjusted: false, detail: verdict };
      return { fields: Object.fromEntries(fields.map((field) => [field, found])), samples: [] };
    },
    lookAgain: () => ({
      at: Date.now(),
      observed: {},
      already: soAlready(),
    }),
    wake() {
      wakes += 1;
      const woken = nth(script.wakes ?? [false], wakes - 1);
      return {
        asked: true,
        look: woken ? { ...look, asleep: false, already: soAlready() } : null,
        detail: 'HTTP 200',
        retryAfterMs: null,
      };
    },
  };
}

function lookFor({ steps = [{}], maxSends = 1, asleep = false, unseen = false, wake = null }: Script): Look {
  const fields = steps.map((_, index) => `field-${index}`);
  return {
    at: 0,
    readings: Object.fromEntries(fields.map((field) => [field, { kind: 'value', value: 20 }])),
    deviceAt: null,
    trouble: null,
    before: null,
    previous: Object.fromEntries(fields.map((field) => [field, unseen ? null : 20])),
    already: [],
    steps: steps.map((step, index) => ({
      index,
      fields: [`field-${index}`],
      kind: 'set',
      repeatable: false,
      // biome-ignore lint/suspicious/noThenProperty: the catalogue's own word
      then: { kind: 'verify' },
      verifiable: [`field-${index}`],
      timeoutMs: 10_000,
      ...step,
    })),
    policy: {
      firstMs: 1000,
      everyMs: 2000,
      withinMs: 60_000,
      stableMs: 2000,
      reads: 2,
      lagMs: 0,
      lagReason: null,
      maxSends,
    },
    readWithinMs: 30_000,
    definitionDigest: 'definition',
    objection: null,
    asleep,
    wake,
  };
}

function requestFor(device: string, look: Look): CommandRequest {
  return {
    device,
    deviceName: 'Device',
    desired: Object.fromEntries(Object.keys(look.readings).map((field) => [field, 21])),
    units: {},
    reason: null,
    caller: { subject: 'local', client: null, transport: 'http', unattended: false },
    requestId: null,
    resendOf: null,
    contentKey: 'content',
    definitionDigest: 'definition',
    deliverWithinMs: DELIVER_WITHIN_MS,
  };
}
