/**
 * Records histories of commands at the moments in which they wait: `npm run histories`. Do it only for workflows that
 * are new; the recorded ones stand for commands that are open while a new version is installed.
 */
import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { historyToJSON } from '@temporalio/common/lib/proto-utils.js';
import { deliverAnswer, sealed } from '../../commands/answer.ts';
import type { CommandSnapshot } from '../../commands/commands.ts';
import { type Harness, startReadback } from '../harness/readback.ts';

const OPERATOR = { kind: 'operator' } as const;
const heater = { state: { power: 'off', temperature: 20 }, follows: '3s' };
const names = ['verified', 'settling', 'cancelled', 'waiting-for-approval', 'approved', 'stubborn'];
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
approvals:
  - { for: { device: waiting-for-approval }, by: operator }
  - { for: { device: approved }, by: operator }
`;

const readback = await startReadback({
  devices: {
    ...Object.fromEntries(names.map((id) => [id, heater])),
    stubborn: { state: { power: 'off', temperature: 20 }, ignores: true },
  },
  catalogue: CATALOGUE,
});
try {
  await record(readback);
} finally {
  await readback.close();
}

async function record({ submit, ended, commands, sealKey, temporal }: Harness): Promise<void> {
  const until = async (
    commandId: string,
    condition: (snapshot: CommandSnapshot) => boolean,
  ): Promise<CommandSnapshot> => {
    const snapshot = await commands.wait(commandId, OPERATOR, { timeoutMs: 30_000, until: condition });
    if (snapshot === undefined || !condition(snapshot)) throw new Error(`${commandId} did not get there`);
    return snapshot;
  };

  const verified = await submit('verified', { power: 'on', temperature: 25 });
  const resent = await submit('resent', { temperature: 25 });
  const waiting = await submit('waiting-for-approval', { temperature: 25 });
  await until(waiting, ({ view }) => view.approval !== null);
  await save('waiting-for-approval', waiting);

  const approved = await submit('approved', { temperature: 25 });
  const asking = await until(approved, ({ view }) => view.approval !== null);
  if (asking.view.approval !== null) {
    await deliverAnswer(
      temporal.client,
      approved,
      sealed(sealKey, approved, asking.view.approval, {
        decision: 'approved',
        by: 'ann',
        via: 'cli',
        comment: null,
      }),
    );
  }

  const settling = await submit('settling', { temperature: 25 });
  await until(settling, ({ view }) => view.phase === 'settling');
  await save('settling', settling);
  const queued = await submit('settling', { power: 'on' });
  await new Promise((resolve) => setTimeout(resolve, 500));
  await save('waiting-for-turn', queued);

  const cancelled = await submit('cancelled', { temperature: 25 });
  await until(cancelled, ({ view }) => view.phase === 'settling');
  await commands.cancel(cancelled, OPERATOR);
  for (const [name, id] of Object.entries({ verified, resent, approved, cancelled })) {
    await ended(id);
    await save(name, id);
  }
  await save('lane', 'lane/settling');

  async function save(name: string, workflowId: string): Promise<void> {
    const history = await temporal.client.workflow.getHandle(workflowId).fetchHistory();
    const folder = join(import.meta.dirname, 'histories');
    mkdirSync(folder, { recursive: true });
    writeFileSync(join(folder, `${name}.json`), `${historyToJSON(history)}\n`);
    console.log(`${name}: ${history.events?.length} events`);
  }
}
