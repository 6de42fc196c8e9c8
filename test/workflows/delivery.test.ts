/**
 * How a command ends for every way in which its sends and readbacks can go: the real workflow, with activities that
 * answer from a script, in skipped time.
 */
import assert from 'node:assert/strict';
import { randomUUID } from 'node:crypto';
import { after, before, describe, it } from 'node:test';
import { ApplicationFailure } from '@temporalio/common';
import type { TestWorkflowEnvironment } from '@temporalio/testing';
import { DefaultLogger, Runtime, Worker } from '@temporalio/worker';
import fc from 'fast-check';
import type { CommandRequest, CommandResult } from '../../domain/command.ts';
import type { SendClass, SendResult } from '../../domain/exchange.ts';
import type { Outcome, Verdict } from '../../domain/outcome.ts';
import type { FieldVerdict } from '../../domain/settle.ts';
import { bundleWorkflows } from '../../worker/worker.ts';
import {
  type Activities,
  type Look,
  type StepPlan,
  TASK_QUEUE,
  TURNS_TASK_QUEUE,
  WORKFLOW_TYPE,
} from '../../workflows/messages.ts';
import { startTimeSkippingTemporal } from '../time-skipping.ts';

/** `died`: the worker dies while it sends. `maybe` is a 503; `soft` a 200 whose body doubts itself. */
type Reply = SendClass | 'soft' | 'died';

interface Script {
  readonly steps?: readonly Partial<StepPlan>[];
  readonly maxSends?: number;
  /** One a send, in order; the last one again and again. */
  readonly replies: readonly Reply[];
  /** One a readback, in order, for every field that it judges; the last one again and again. */
  readonly verdicts?: readonly Verdict[];
  /** Looked at again, everything reads as asked. */
  readonly soAlready?: boolean;
  /** The look finds the device asleep. */
  readonly asleep?: boolean;
  readonly wake?: Look['wake'];
  /** Whether a wake works, one each; the last one again and again. */
  readonly wakes?: readonly boolean[];
}

interface Played {
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
const REACHING: readonly Reply[] = ['accepted', 'already', 'maybe', 'soft', 'refused', 'lost', 'died'];
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

const SET = { kind: 'set', repeatable: false } as const;
const REPEATABLE = { kind: 'set', repeatable: true } as const;
const TOGGLE = { kind: 'toggle', repeatable: false } as const;
const SENT_ONLY = {
  // biome-ignore lint/suspicious/noThenProperty: the catalogue's own word
  then: { kind: 'sent' },
} as const;

describe('a command', () => {
  let temporal: TestWorkflowEnvironment;
  let stop: () => Promise<void>;
  const plays = new Map<string, ReturnType<typeof playFrom>>();

  before(async () => {
    const logger = new DefaultLogger('ERROR');
    Runtime.install({ logger });
    const [environment, workflowBundle] = await Promise.all([
      startTimeSkippingTemporal(),
      bundleWorkflows(logger),
    ]);
    temporal = environment;
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
    const shared = { connection: environment.nativeConnection, activities };
    const workers = [
      await Worker.create({ ...shared, taskQueue: TASK_QUEUE, workflowBundle }),
      await Worker.create({ ...shared, taskQueue: TURNS_TASK_QUEUE }),
    ];
    const running = workers.map((worker) => worker.run());
    stop = async () => {
      for (const worker of workers) worker.shutdown();
      await Promise.all(running);
      await environment.teardown();
    };
  });
  after(() => stop());

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

  type Row = readonly [
    name: string,
    script: Script,
    expected: readonly [Outcome, attempts: number, counted: number, safe: boolean],
  ];

  const rows: readonly Row[] = [
    ['accepted and verified', { replies: ['accepted'], verdicts: ['verified'] }, ['verified', 1, 1, true]],
    [
      'accepted and unchanged',
      { replies: ['accepted'], verdicts: ['unchanged'] },
      ['unchanged', 1, 1, false],
    ],
    [
      'unchanged although it may be repeated, and was',
      { steps: [REPEATABLE], maxSends: 2, replies: ['accepted'], verdicts: ['unchanged'] },
      ['unchanged', 2, 2, true],
    ],
    [
      'unchanged at first, and verified when it was repeated',
      { steps: [REPEATABLE], maxSends: 3, replies: ['accepted'], verdicts: ['unchanged', 'verified'] },
      ['verified', 2, 2, true],
    ],
    ...(['different', 'unsettled', 'superseded', 'unreadable', 'fault'] as const).map(
      (verdict): Row => [
        `${verdict}, which is never repeated however often it may be`,
        { steps: [REPEATABLE], maxSends: 5, replies: ['accepted'], verdicts: [verdict, 'verified'] },
        [verdict === 'fault' ? 'different' : verdict, 1, 1, verdict === 'unreadable'],
      ],
    ),
    [
      'lost, and verified by the readback',
      { replies: ['lost'], verdicts: ['verified'] },
      ['verified', 1, 1, true],
    ],
    ['lost, and unchanged', { replies: ['lost'], verdicts: ['unchanged'] }, ['unknown', 1, 1, false]],
    ['sent by a worker that died', { replies: ['died'], verdicts: ['unchanged'] }, ['unknown', 1, 1, false]],
    ['lost, and unreadable', { replies: ['lost'], verdicts: ['unreadable'] }, ['unknown', 1, 1, false]],
    [
      'lost, unchanged, repeated and verified',
      {
        steps: [REPEATABLE],
        maxSends: 2,
        replies: ['lost', 'accepted'],
        verdicts: ['unchanged', 'verified'],
      },
      ['verified', 2, 2, true],
    ],
    [
      'answered with 503, and unchanged',
      { replies: ['maybe'], verdicts: ['unchanged'] },
      ['unknown', 1, 1, false],
    ],
    [
      'answered with 200 that doubts itself, and unchanged',
      { replies: ['soft'], verdicts: ['unchanged'] },
      ['unchanged', 1, 1, false],
    ],
    ['refused', { replies: ['refused'] }, ['refused', 1, 1, true]],
    ['refused since it is so already', { replies: ['refused'], soAlready: true }, ['already', 1, 1, true]],
    [
      'called so already, and verified',
      { replies: ['already'], verdicts: ['verified'] },
      ['already', 1, 1, true],
    ],
    ['not signed in', { replies: ['signedOut'] }, ['refused', 1, 0, true]],
    [
      'unreachable twice, then accepted',
      { replies: ['unreached', 'unreached', 'accepted'], verdicts: ['verified'] },
      ['verified', 3, 1, true],
    ],
    [
      'over the limit, then accepted',
      { replies: ['limited', 'accepted'], verdicts: ['verified'] },
      ['verified', 2, 1, true],
    ],
    [
      'a toggle, lost and unchanged: never again',
      { steps: [TOGGLE], replies: ['lost'], verdicts: ['unchanged'] },
      ['unknown', 1, 1, false],
    ],
    [
      'unchanged, and out of reach when it is repeated: what was sent stays sent',
      { steps: [REPEATABLE], maxSends: 2, replies: ['accepted', 'signedOut'], verdicts: ['unchanged'] },
      ['unchanged', 2, 1, true],
    ],
    [
      'verified in its first step, refused in its second',
      { steps: [SET, SET], replies: ['accepted', 'refused'], verdicts: ['verified'] },
      ['partial', 2, 2, false],
    ],
    [
      'unchanged in its first step: the second is not sent',
      { steps: [SET, SET], replies: ['accepted'], verdicts: ['unchanged'] },
      ['unchanged', 1, 1, false],
    ],
  ];
  for (const [name, script, expected] of rows) {
    it(`that is ${name} ends ${expected[0]}`, async () => {
      const { result, attempts, counted } = await play(script);
      assert.deepEqual([result.outcome, attempts.length, counted, result.safeToSendAgain], expected);
    });
  }

  it('that is not reached within its time ends undelivered, and is not sent after it', async () => {
    const { result, attempts, counted } = await play({ replies: ['unreached'] });
    assert.deepEqual([result.outcome, counted, result.safeToSendAgain], ['undelivered', 0, true]);
    assert.ok(attempts.length > 5 && attempts.length < 30, `${attempts.length} attempts`);
  });

  it('out of reach when it is to be repeated is not undelivered: it had been sent', async () => {
    const { result } = await play({
      steps: [REPEATABLE],
      maxSends: 2,
      replies: ['accepted', 'unreached'],
      verdicts: ['unchanged'],
    });
    assert.equal(result.outcome, 'unchanged');
    assert.match(result.detail, /sent again: could not be delivered in time/);
  });

  it('whose first step is only sent is read back with the second', async () => {
    const { result, reads } = await play({
      steps: [{ ...SET, ...SENT_ONLY }, SET],
      replies: ['accepted'],
      verdicts: ['verified'],
    });
    assert.deepEqual([result.outcome, reads], ['verified', [['field-0', 'field-1']]]);
  });

  it('whose first step is only sent is read back also where the second is refused', async () => {
    const { result, verdicts, reads } = await play({
      steps: [{ ...SET, ...SENT_ONLY }, SET],
      replies: ['accepted', 'refused'],
      verdicts: ['unchanged'],
    });
    assert.deepEqual([result.outcome, reads], ['unchanged', [['field-0']]]);
    assert.deepEqual(verdicts, { 'field-0': 'unchanged', 'field-1': 'refused' });
  });

  it('whose first send was lost does not get an acknowledgement from its second', async () => {
    const { verdicts } = await play({
      steps: [{ ...SET, ...SENT_ONLY }, SET],
      replies: ['lost', 'accepted'],
      verdicts: ['unchanged'],
    });
    assert.deepEqual(verdicts, { 'field-0': 'unknown', 'field-1': 'unchanged' });
  });

  it('without a readback is unverifiable when it was acknowledged, and unknown when it was not', async () => {
    for (const [reply, outcome] of [
      ['accepted', 'unverifiable'],
      ['lost', 'unknown'],
    ] as const) {
      const { result, reads } = await play({ steps: [{ ...SET, verifiable: [] }], replies: [reply] });
      assert.deepEqual([result.outcome, reads], [outcome, []]);
    }
  });

  it('for a sleeping device wakes it as often as is allowed, and then sends', async () => {
    const wake = { atMost: 2, withinMs: 90_000 };
    const { result, wakes, counted, attempts } = await play({
      replies: ['asleep', 'accepted'],
      verdicts: ['verified'],
      wake,
      wakes: [false, true],
    });
    assert.deepEqual([result.outcome, wakes, counted], ['verified', 2, 1]);
    assert.deepEqual(attempts, ['asleep', 'accepted']);
  });

  it('for a device that turns out to be as asked once it is awake sends nothing', async () => {
    const { result, attempts, counted } = await play({
      steps: [TOGGLE],
      replies: ['asleep', 'accepted'],
      soAlready: true,
      wake: { atMost: 1, withinMs: 90_000 },
      wakes: [true],
    });
    assert.deepEqual([result.outcome, attempts, counted], ['already', ['asleep'], 0]);
  });

  it('for a device that sleeps on is undelivered', async () => {
    for (const asleep of [false, true]) {
      const { result, wakes, counted } = await play({
        replies: ['asleep'],
        asleep,
        wake: { atMost: 2, withinMs: 90_000 },
        wakes: [false],
      });
      assert.deepEqual([result.outcome, wakes, counted, result.safeToSendAgain], ['undelivered', 2, 0, true]);
      assert.match(result.detail, /did not wake within 90 s of being asked 2 times/);
    }
  });

  it('for a device that says it is awake and answers as if asleep is tried until its time for waking is over', async () => {
    const { result, wakes, attempts } = await play({
      replies: ['asleep'],
      wake: { atMost: 1, withinMs: 90_000 },
      wakes: [true],
    });
    assert.deepEqual([result.outcome, wakes], ['undelivered', 1]);
    assert.ok(attempts.length > 3 && attempts.length < 12, `${attempts.length} attempts`);
  });

  it('never sends twice what may not be repeated, and never claims more than was read, whatever is answered', async () => {
    const reply = fc.constantFrom<Reply>(
      'accepted',
      'already',
      'maybe',
      'soft',
      'refused',
      'limited',
      'asleep',
      'signedOut',
      'unreached',
      'lost',
      'died',
    );
    const verdict = fc.constantFrom<Verdict>(
      'verified',
      'unchanged',
      'different',
      'unsettled',
      'unreadable',
      'superseded',
      'fault',
      'notApplicable',
    );
    const script = fc.record({
      steps: fc.array(
        fc.record({
          kind: fc.constantFrom('set', 'toggle', 'pulse'),
          repeatable: fc.boolean(),
          // biome-ignore lint/suspicious/noThenProperty: the catalogue's own word
          then: fc.constantFrom({ kind: 'verify' as const }, { kind: 'sent' as const }),
        }),
        { minLength: 1, maxLength: 2 },
      ),
      maxSends: fc.integer({ min: 1, max: 3 }),
      replies: fc.array(reply, { minLength: 1, maxLength: 6 }),
      verdicts: fc.array(verdict, { minLength: 1, maxLength: 4 }),
      soAlready: fc.boolean(),
      wake: fc.option(fc.record({ atMost: fc.integer({ min: 1, max: 2 }), withinMs: fc.constant(90_000) })),
      wakes: fc.array(fc.boolean(), { minLength: 1, maxLength: 3 }),
    });
    await fc.assert(
      fc.asyncProperty(script, async ({ steps, ...rest }) => {
        // As the catalogue is checked: only a set may be repeatable.
        const sane = steps.map((step) => ({ ...step, repeatable: step.repeatable && step.kind === 'set' }));
        assertHonest({ ...rest, steps: sane }, await play({ ...rest, steps: sane }));
      }),
      { numRuns: 60, endOnFailure: true },
    );
  });
});

function assertHonest(
  script: Script,
  { result, verdicts, attempts, keys, counted, wakes, reads }: Played,
): void {
  const reached = keys.filter((_, index) => REACHING.includes(attempts[index] ?? 'unreached'));
  for (const [index, step] of (script.steps ?? []).entries()) {
    const ofStep = reached.filter((key) => key.split(':')[1] === String(index));
    assert.ok(
      ofStep.length <= (step.repeatable ? (script.maxSends ?? 1) : 1),
      `step ${index}: ${ofStep.join(' ')}`,
    );
  }
  assert.equal(counted, reached.length);
  assert.ok(wakes <= (script.wake?.atMost ?? 0));
  const { outcome, safeToSendAgain } = result;
  if (outcome === 'verified') assert.ok(reads.length > 0, 'nobody has read it');
  if (outcome === 'undelivered') assert.equal(reached.length, 0);
  if (outcome === 'unverifiable') assert.fail('every field here has a readback');
  const read = new Set(reads.flat());
  for (const [field, verdict] of Object.entries(verdicts)) {
    if (verdict === 'verified') assert.ok(read.has(field), `${field} was never read back`);
    if (verdict === 'unchanged') assert.ok(reached.length > 0);
  }
  const onceOnlyActed = keys.some((key, index) => {
    const reply = attempts[index] ?? 'unreached';
    const step = script.steps?.[Number(key.split(':')[1])];
    return REACHING.includes(reply) && reply !== 'refused' && step?.repeatable !== true;
  });
  if (safeToSendAgain && onceOnlyActed)
    assert.ok(['verified', 'already'].includes(outcome), `${outcome} is called safe to send again`);
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

function lookFor({ steps = [SET], maxSends = 1, asleep = false, wake = null }: Script): Look {
  const fields = steps.map((_, index) => `field-${index}`);
  return {
    at: 0,
    readings: Object.fromEntries(fields.map((field) => [field, { kind: 'value', value: 20 }])),
    deviceAt: null,
    trouble: null,
    before: null,
    previous: Object.fromEntries(fields.map((field) => [field, 20])),
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
    requesterCanAnswer: false,
  };
}
