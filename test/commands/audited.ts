/** Commands of every kind that an audit has to tell of, on the real thing. By device: the command's id. */
import assert from 'node:assert/strict';
import { randomUUID } from 'node:crypto';
import { setTimeout as sleep } from 'node:timers/promises';
import { deliverAnswer, sealed } from '../../commands/answer.ts';
import type { PendingApproval } from '../../domain/command.ts';
import { answerSignal, answerUpdate } from '../../workflows/messages.ts';
import { type Harness, type HarnessOptions, LOCAL } from '../harness/readback.ts';
import { plain, thermostatCatalogue, thermostats } from '../harness/thermostats.ts';

const OPERATOR = { kind: 'operator' } as const;

const ids = plain('free', 'guarded', 'declined', 'expiring', 'asking', 'offline', 'junk', 'racing', 'reset');
const { devices, entries } = thermostats(ids, '300ms');
const CATALOGUE = thermostatCatalogue(
  `${entries}
  stubborn: { profile: thermostat, with: { id: stubborn }, settle: { within: 2s, maxSends: 2 } }`,
  `approvals:
  - { for: { device: guarded }, by: operator, expires: 2m }
  - { for: { device: declined }, by: operator, expires: 2m }
  - { for: { device: offline }, by: operator, expires: 2m }
  - { for: { device: junk }, by: operator, expires: 2m }
  - { for: { device: racing }, by: operator, expires: 2m }
  - { for: { device: expiring }, by: operator, expires: 1s }
  - { for: { device: asking }, by: requester, expires: 2m }`,
);

export const HOUSE: HarnessOptions = {
  devices: { ...devices, stubborn: { state: { power: 'off', temperature: 20 }, ignores: true } },
  catalogue: CATALOGUE,
};

async function waiting({ commands }: Harness, id: string, key = 'approve-1'): Promise<PendingApproval> {
  const snapshot = await commands.wait(id, OPERATOR, {
    timeoutMs: 20_000,
    until: ({ view }) => view.approval?.key === key,
  });
  assert.ok(snapshot?.view.approval, JSON.stringify(snapshot?.view));
  return snapshot.view.approval;
}

/** Commands that need nobody, are approved, declined, expire, and are sent again; the last one is still under way. */
export async function playFirst(readback: Harness): Promise<Record<string, string>> {
  const { submit, ended, commands } = readback;
  const free = await submit('free', { temperature: 25 }, { reason: 'it is cold' });
  const guarded = await submit('guarded', { temperature: 25 });
  const declined = await submit('declined', { temperature: 25 });
  const expiring = await submit('expiring', { temperature: 25 });
  await waiting(readback, guarded);
  await commands.decide(guarded, {
    decision: 'approved',
    by: 'ann',
    subject: 'https://issuer.example#ann',
    via: 'console',
    comment: 'checked by phone',
  });
  await waiting(readback, declined);
  await commands.decide(declined, {
    decision: 'declined',
    by: 'bob',
    via: 'cli',
    comment: 'somebody is in the cellar',
  });
  const stubborn = await submit('stubborn', { temperature: 25 });
  for (const id of [free, guarded, declined, expiring]) await ended(id);
  return { free, guarded, declined, expiring, stubborn };
}

/** Answers in every odd way in which they may come. All have ended. */
export async function playSecond(readback: Harness): Promise<Record<string, string>> {
  const { commands, submit, ended, sealKey } = readback;
  const { client } = readback.temporal;
  const way = { via: 'form', askedAt: null } as const;
  const mine = { kind: 'owner', subject: LOCAL.subject } as const;

  const asking = await submit('asking', { temperature: 25 });
  await waiting(readback, asking);
  await commands.answer(asking, mine, { 'approve-1': { action: 'decline' } }, way);
  await waiting(readback, asking, 'approve-2');
  await sleep(1100);
  await commands.answer(asking, mine, { 'approve-2': { action: 'cancel' } }, way);
  await waiting(readback, asking, 'approve-3');
  await sleep(1100);
  await commands.answer(asking, mine, { 'approve-3': { action: 'accept', content: { approve: true } } }, way);

  const junk = await submit('junk', { temperature: 25 });
  const pending = await waiting(readback, junk);
  const right = sealed(sealKey, junk, pending, { decision: 'approved', by: 'x', via: 'cli', comment: null });
  const forged = { ...right, by: 'mallory', seal: { nonce: right.seal?.nonce ?? '', mac: 'forged-mac' } };
  await deliverAnswer(client, junk, forged);
  await client.workflow
    .getHandle(junk)
    .executeUpdate(answerUpdate, { args: [{ ...right, by: 'eve', seal: null }] });
  await client.workflow.getHandle(junk).signal(answerSignal, { ...forged, at: forged.at + 1 });
  await client.workflow.getHandle(junk).signal(answerSignal.name, 'yes please');
  await sleep(500);
  await commands.cancel(junk, OPERATOR);

  const racing = await submit('racing', { temperature: 25 });
  const question = await waiting(readback, racing);
  const yes = sealed(sealKey, racing, question, {
    decision: 'approved',
    by: 'ann',
    via: 'cli',
    comment: null,
  });
  await Promise.all([deliverAnswer(client, racing, yes), commands.cancel(racing, OPERATOR)]);

  const offline = await submit('offline', { temperature: 25 });
  const asked = await waiting(readback, offline);
  await readback.stopWorker();
  const late = sealed(sealKey, offline, asked, {
    decision: 'approved',
    by: 'ann',
    via: 'console',
    comment: 'while it was down',
  });
  await client.workflow.getHandle(offline).signal(answerSignal, late);
  await readback.startWorker();
  await deliverAnswer(client, offline, late);

  const reset = await submit('reset', { temperature: 25 });
  await ended(reset);
  await resetAtStart(readback, reset);

  const played = { asking, junk, racing, offline, reset };
  for (const id of Object.values(played)) await ended(id);
  return played;
}

/** As an operator may do in the Temporal UI: a new run that begins with a copy of the old one's history. */
async function resetAtStart({ temporal }: Harness, workflowId: string): Promise<void> {
  const { client } = temporal;
  const { events } = await client.workflow.getHandle(workflowId).fetchHistory();
  const at = events?.find((event) => event.workflowTaskCompletedEventAttributes)?.eventId;
  assert.ok(at);
  await client.workflowService.resetWorkflowExecution({
    namespace: client.options.namespace,
    workflowExecution: { workflowId },
    reason: 'once more',
    workflowTaskFinishEventId: at,
    requestId: randomUUID(),
  });
}
