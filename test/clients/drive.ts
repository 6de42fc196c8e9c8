/** Takes one client through every situation, and tells what it got, next to what really happened. */
import assert from 'node:assert/strict';
import { setTimeout as sleep } from 'node:timers/promises';
import type { CommandSnapshot } from '../../commands/commands.ts';
import type { Ask, CallHints, MatrixClient, Shown } from './client.ts';
import type { Conversation } from './conversation.ts';
import { deviceOf, type MatrixHouse, type Patience, type Situation } from './house.ts';
import { openClient } from './open-client.ts';
import type { Row } from './rows.ts';
import { type Declared, declaredIn, handleIn, type Step, storyOf } from './story.ts';

/** No faster than a person: what comes within a second counts as answered by the client itself. */
const PERSON_TAKES_MS = 1_200;
const OPERATOR = { kind: 'operator' } as const;
const HINTS: Partial<Record<Situation, CallHints>> = { cancelled: { willBeCancelled: true } };

export interface Driven {
  readonly row: Row;
  readonly declared: Declared;
  readonly situations: Readonly<Record<Situation, Observed>>;
}

export interface Observed {
  readonly steps: readonly Step[];
  /** What the client handed to its caller, last. */
  readonly shown: Shown;
  /** Requests that may have moved the device, counted by the device. */
  readonly sends: number;
  /** From Temporal. */
  readonly outcome: string;
}

/** Two at a time of each client: one whose calls are kept waiting for as long as need be, one for what takes longer. */
export async function drive(house: MatrixHouse, row: Row): Promise<Driven> {
  const tracks = await Promise.all([
    driveTrack(house, row, 'patient', ['quick', 'requester', 'operator', 'missing', 'dead']),
    driveTrack(house, row, 'hasty', ['slow', 'cancelled']),
  ]);
  const [{ declared }] = tracks;
  const observed = Object.assign({}, ...tracks.map((track) => track.observed)) as Driven['situations'];
  return { row, declared, situations: observed };
}

async function driveTrack(
  house: MatrixHouse,
  row: Row,
  patience: Patience,
  situations: readonly Situation[],
): Promise<{ declared: Declared; observed: Partial<Driven['situations']> }> {
  const server = await house.serve(row, patience);
  const questions: any[] = [];
  const ask: Ask = async (params) => {
    questions.push(params);
    await sleep(PERSON_TAKES_MS);
    return { action: 'accept', content: filledIn(params) };
  };
  const client = await openClient({ row, endpoint: server.endpoint, ask });
  try {
    const observed: Partial<Record<Situation, Observed>> = {};
    for (const situation of situations) {
      const askedBefore = questions.length;
      observed[situation] = await observe(house, row, client, server.conversation, situation);
      assert.equal(questions.length - askedBefore, questionsFor(row, situation), `questions: ${situation}`);
    }
    return { declared: declaredIn(server.conversation.said), observed };
  } finally {
    await client.close();
    await server.close();
  }
}

/** The person sees every question that the client can show, and no other client is asked anything. */
const questionsFor = ({ person }: Row, situation: Situation): number =>
  person === 'form' && (situation === 'requester' || situation === 'missing') ? 1 : 0;

/** Yes, and 25 to whatever is asked for. */
function filledIn({ requestedSchema }: any): Record<string, unknown> {
  return Object.fromEntries(
    Object.entries<any>(requestedSchema.properties).map(([name, { type }]) => [
      name,
      type === 'boolean' ? true : 25,
    ]),
  );
}

async function observe(
  house: MatrixHouse,
  row: Row,
  client: MatrixClient,
  conversation: Conversation,
  situation: Situation,
): Promise<Observed> {
  const device = deviceOf(row, situation);
  const start = conversation.said.length;
  const call = client.call('set_device_state', { device, desired: { low: 20 } }, HINTS[situation]);
  let shown = (
    await Promise.all([call, meanwhile(house, client, conversation, start, situation, device)])
  )[0];
  assert.notEqual(shown.text, '', `an empty ${shown.how}`);
  const held = handleIn(conversation.said.slice(start));
  if (held === undefined && situation === 'missing') {
    assert.match(shown.text, /high/);
    await client.call('set_device_state', { device, desired: { low: 20, high: 25 } });
  } else if (held?.step === 'a handle' || held?.step === 'queue') {
    assert.match(shown.text, held.step === 'queue' ? /^NOTHING SENT YET\./ : /^NOT DONE\./);
    shown = await client.call('get_command', { commandId: held.commandId, waitSeconds: 45 });
  }
  const [command, ...others] = await house.harness.commands.list(OPERATOR, { device, limit: 10 });
  assert.ok(command, `no command for ${device}`);
  assert.equal(others.length, 0, 'one command');
  const { status, view } = await house.harness.ended(command.commandId);
  const { sends, dropped } = (await house.harness.admin('GET', `/devices/${device}`)).counters;
  const counted = sends.arrived + sends.turnedAway + dropped;
  assert.equal(view.sent.count, counted, 'sends that Temporal knows of are those that the device counted');
  const steps = storyOf(conversation.said.slice(start));
  const outcome = view.result?.outcome ?? status;
  assert.equal(/^DONE\b/.test(shown.text), outcome === 'verified' && held !== undefined, shown.text);
  assert.ok(row.era === 'modern' || !steps.includes('a task'), 'an older client was given a task');
  return { steps, shown, sends: counted, outcome };
}

/** What somebody else does while the call is under way: the device moves at last, an operator decides, the caller cancels. */
async function meanwhile(
  house: MatrixHouse,
  client: MatrixClient,
  conversation: Conversation,
  start: number,
  situation: Situation,
  device: string,
): Promise<void> {
  const held = () => conversation.until(start, handleIn);
  switch (situation) {
    case 'slow':
      await sent(house, (await held()).commandId);
      await house.harness.admin('PATCH', `/devices/${device}/state`, { low: 20 });
      return;
    case 'operator':
    case 'requester': {
      const { commandId, step } = await held();
      if (step !== 'queue') return;
      const yes = { decision: 'approved', by: 'ann', via: 'console', comment: null } as const;
      assert.deepEqual(await house.harness.commands.decide(commandId, yes), { kind: 'taken' });
      return;
    }
    case 'cancelled': {
      const { commandId, step } = await held();
      await sent(house, commandId);
      if (step === 'a task' && client.cancelTask !== null) await client.cancelTask(commandId);
      else await client.call('cancel_command', { commandId });
      return;
    }
    case 'quick':
    case 'missing':
    case 'dead':
      return;
  }
}

async function sent({ harness }: MatrixHouse, commandId: string): Promise<void> {
  const until = ({ view }: CommandSnapshot) => view.sent.count > 0;
  await harness.commands.wait(commandId, OPERATOR, { timeoutMs: 60_000, until });
}
