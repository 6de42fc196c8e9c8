/** How a command ends for every way in which its sends and readbacks can go. */
import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import type { Outcome } from '../../domain/outcome.ts';
import {
  type Played,
  type Script,
  type ScriptedCommands,
  startScriptedCommands,
} from './scripted-command.ts';

const SET = { kind: 'set', repeatable: false } as const;
const REPEATABLE = { kind: 'set', repeatable: true } as const;
const TOGGLE = { kind: 'toggle', repeatable: false } as const;
const SENT_ONLY = {
  // biome-ignore lint/suspicious/noThenProperty: the catalogue's own word
  then: { kind: 'sent' },
} as const;

describe('a command', () => {
  let commands: ScriptedCommands;
  before(async () => {
    commands = await startScriptedCommands();
  });
  after(() => commands.stop());

  const play = (script: Script): Promise<Played> => commands.play(script);

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
    [
      'refused since it is so already',
      { replies: ['refused'], soAlready: true, unseen: true },
      ['already', 1, 1, true],
    ],
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
    assert.match(result.detail, /; not sent again: could not be delivered in time/);
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
});
