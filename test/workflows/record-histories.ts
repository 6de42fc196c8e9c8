/**
 * Records histories of commands at the moments in which they wait, and of how they end: `npm run histories`. They stand for
 * commands that are open while a new version is installed, so each version has a folder of its own, into which only what is
 * missing is written. `npm run histories -- --again` writes all of this version's anew: only before it is released.
 */
import { randomBytes } from 'node:crypto';
import { existsSync, mkdirSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { historyToJSON } from '@temporalio/common/lib/proto-utils.js';
import { deliverAnswer, sealed } from '../../commands/answer.ts';
import type { CommandSnapshot } from '../../commands/commands.ts';
import packageJson from '../../package.json' with { type: 'json' };
import { type Harness, startReadback } from '../harness/readback.ts';

const OPERATOR = { kind: 'operator' } as const;
const heater = { state: { power: 'off', temperature: 20 }, follows: '3s' };
const names = [
  'verified',
  'settling',
  'cancelled',
  'waiting-for-approval',
  'approved',
  'asked-again',
  'signalled',
  'declined',
  'expired',
  'stubborn',
  'refusing',
];
const CATALOGUE = `
version: 1
connections: { sim: { kind: http, baseUrl: "simulator:", timeout: 4s } }
defaults: { settle: { first: 200ms, every: 400ms, within: 6s, stable: 500ms } }
profiles:
  thermostat:
    connection: sim
    params: { id: required }
    send:
      - { for: power, request: "PUT /devices/{id}", repeatable: true }
      - { for: temperature, request: "PUT /devices/{id}", repeatable: true }
    read: "GET /devices/{id}"
    fields: { power: onoff, temperature: { type: celsius, min: 5, max: 30, step: 0.5 } }
devices:
${names.map((id) => `  ${id}: { profile: thermostat, with: { id: ${id} } }`).join('\n')}
  resent: { profile: thermostat, with: { id: stubborn }, settle: { within: 2s, maxSends: 2 } }
  superseded: { profile: thermostat, with: { id: superseded }, lane: supersede }
approvals:
  - { for: { device: asked-again }, by: requester }
  - { for: { device: signalled }, by: operator }
  - { for: { device: declined }, by: operator }
  - { for: { device: expired }, by: operator, expires: 1s }
  - { for: { device: waiting-for-approval }, by: operator }
  - { for: { device: approved }, by: operator }
`;

const readback = await startReadback({
  devices: {
    ...Object.fromEntries(names.map((id) => [id, heater])),
    stubborn: { state: { power: 'off', temperature: 20 }, ignores: true },
    superseded: heater,
    refusing: { state: { power: 'off', temperature: 20 }, onSend: { status: 422 } },
  },
  catalogue: CATALOGUE,
});
try {
  await record(readback);
} finally {
  await readback.close();
}
await recordRings();

async function until(
  { commands }: Harness,
  commandId: string,
  condition: (snapshot: CommandSnapshot) => boolean,
): Promise<CommandSnapshot> {
  const snapshot = await commands.wait(commandId, OPERATOR, { timeoutMs: 30_000, until: condition });
  if (snapshot === undefined || !condition(snapshot)) throw new Error(`${commandId} did not get there`);
  return snapshot;
}

async function record(harness: Harness): Promise<void> {
  const { submit, ended, commands } = harness;

  const verified = await submit('verified', { power: 'on', temperature: 25 });
  const resent = await submit('resent', { temperature: 25 });
  const waiting = await submit('waiting-for-approval', { temperature: 25 });
  await until(harness, waiting, ({ view }) => view.approval !== null);
  await save(harness, 'waiting-for-approval', waiting);

  const approved = await submit('approved', { temperature: 25 });
  await decide(harness, approved, 'approved');

  const settling = await submit('settling', { temperature: 25 });
  await until(harness, settling, ({ view }) => view.phase === 'settling');
  await save(harness, 'settling', settling);
  const queued = await submit('settling', { power: 'on' });
  await new Promise((resolve) => setTimeout(resolve, 500));
  await save(harness, 'waiting-for-turn', queued);

  const cancelled = await submit('cancelled', { temperature: 25 });
  await until(harness, cancelled, ({ view }) => view.phase === 'settling');
  await commands.cancel(cancelled, OPERATOR);
  for (const [name, id] of Object.entries({ verified, resent, approved, cancelled })) {
    await ended(id);
    await save(harness, name, id);
  }
  await save(harness, 'lane', 'lane/settling');
  await recordOtherEnds(harness);
  await recordAnswers(harness);
}

async function recordOtherEnds(harness: Harness): Promise<void> {
  const { submit, ended } = harness;
  const refused = await submit('refusing', { temperature: 25 });
  const superseded = await submit('superseded', { temperature: 25 });
  await until(harness, superseded, ({ view }) => view.phase === 'settling');
  const newer = await submit('superseded', { temperature: 26 });
  const expired = await submit('expired', { temperature: 25 });
  const declined = await submit('declined', { temperature: 25 });
  await decide(harness, declined, 'declined');
  for (const [name, id] of Object.entries({ refused, superseded, newer, expired, declined })) {
    await ended(id);
    await save(harness, name, id);
  }
}

/** A question that is asked again; and an answer that comes while no worker runs. */
async function recordAnswers(harness: Harness): Promise<void> {
  const asked = await harness.submit('asked-again', { temperature: 25 });
  await until(harness, asked, ({ view }) => view.approval !== null);
  const owner = { kind: 'owner', subject: 'local' } as const;
  const dismissed = { 'approve-1': { action: 'cancel' } };
  await harness.commands.answer(asked, owner, dismissed, { via: 'form', askedAt: null });
  await until(harness, asked, ({ view }) => view.approval?.key === 'approve-2');
  await save(harness, 'asked-again', asked);

  const signalled = await harness.submit('signalled', { temperature: 25 });
  await until(harness, signalled, ({ view }) => view.approval !== null);
  await harness.stopWorker();
  await decide(harness, signalled, 'approved');
  await harness.startWorker();
  await harness.ended(signalled);
  await save(harness, 'signalled', signalled);
}

/** With a webhook, whose receiver takes what the first device has to say, and nothing else. */
async function recordRings(): Promise<void> {
  const receiver = createServer((request, response) => {
    let body = '';
    request.on('data', (chunk) => (body += chunk));
    request.on('end', () => response.writeHead(body.includes('"device":"rung"') ? 204 : 503).end());
  });
  await new Promise<void>((resolve) => receiver.listen(0, '127.0.0.1', resolve));
  const { port } = receiver.address() as AddressInfo;
  const devices = ['rung', 'unheard', 'ringing'];
  const harness = await startReadback({
    devices: Object.fromEntries(devices.map((id) => [id, heater])),
    environment: { PHONE: randomBytes(32).toString('base64') },
    catalogue: `
version: 1
connections:
  sim: { kind: http, baseUrl: "simulator:", timeout: 4s }
  phone: { kind: http, baseUrl: "http://127.0.0.1:${port}", auth: { sign: { preset: standard-webhooks, secret: "\${PHONE}" } } }
defaults: { settle: { first: 200ms, every: 400ms, within: 6s, stable: 500ms } }
devices:
${devices.map((id) => `  ${id}: { connection: sim, send: { request: "PUT /devices/${id}", repeatable: true }, read: "GET /devices/${id}", fields: { temperature: { type: celsius, min: 5, max: 30 } } }`).join('\n')}
approvals: [{ by: operator }]
settings: { webhook: phone }
`,
  });
  try {
    const [rung, unheard, ringing] = await Promise.all(
      ['rung', 'unheard', 'ringing'].map((id) => harness.submit(id, { temperature: 25 })),
    );
    if (rung === undefined || unheard === undefined || ringing === undefined) return;
    await until(harness, ringing, ({ view }) => view.approval !== null);
    // Until what can be taken has been, and what can't is being tried again.
    await new Promise((resolve) => setTimeout(resolve, 1500));
    await save(harness, 'ringing', ringing);
    for (const [name, id] of Object.entries({ rung, unheard })) {
      await decide(harness, id, 'approved');
      await harness.ended(id);
      await save(harness, name, id);
    }
  } finally {
    await harness.close();
    receiver.close();
  }
}

async function decide(harness: Harness, commandId: string, decision: 'approved' | 'declined'): Promise<void> {
  const { view } = await until(harness, commandId, ({ view }) => view.approval !== null);
  if (view.approval === null) return;
  const decider = { decision, by: 'ann', via: 'cli', comment: null } as const;
  const answer = sealed(harness.sealKey, commandId, view.approval, decider);
  await deliverAnswer(harness.temporal.client, commandId, answer);
}

async function save({ temporal }: Harness, name: string, workflowId: string): Promise<void> {
  const folder = join(import.meta.dirname, 'histories', packageJson.version);
  const file = join(folder, `${name}.json`);
  if (existsSync(file) && !process.argv.includes('--again')) return console.log(`${name}: kept as it is`);
  const history = await temporal.client.workflow.getHandle(workflowId).fetchHistory();
  mkdirSync(folder, { recursive: true });
  writeFileSync(file, `${historyToJSON(history)}\n`);
  console.log(`${name}: ${history.events?.length} events`);
}
