/** Two workers, each a process of its own, at one account of a vendor that counts requests. */
import assert from 'node:assert/strict';
import type { ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { after, before, describe, it } from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';
import { EngineUnreachable } from '../../commands/commands.ts';
import { budgetWorkflowId } from '../../workflows/messages.ts';
import { start, temporaryFolder } from '../cli/readback.ts';
import { type Harness, startReadback } from '../harness/readback.ts';

const UNITS = Array.from({ length: 40 }, (_, index) => `unit-${index + 1}`);
/** 30 requests in 5 minutes, 1:100. */
const WINDOW_S = 3;
const CATALOGUE = `
version: 1
connections:
  account: { kind: http, baseUrl: "simulator:", timeout: 2s, limits: [{ requests: 30, per: ${WINDOW_S}s, keepForReads: 4 }] }
defaults: { settle: { first: 100ms, every: 500ms, within: 5s, stable: 500ms } }
profiles:
  unit:
    connection: account
    params: { id: required }
    send: "PUT /devices/{id}"
    read: "GET /devices/{id}"
    fields: { temperature: { type: celsius, min: 5, max: 30, step: 0.5 } }
devices:
${UNITS.map((id) => `  ${id}: { profile: unit, with: { id: ${id} } }`).join('\n')}
`;

describe('a limit that two workers share', { timeout: 5 * 60_000 }, () => {
  const folder = temporaryFolder();
  let readback: Harness;
  let workers: ChildProcess[];

  before(async () => {
    const unit = { state: { temperature: 20 }, limit: 'account' };
    readback = await startReadback({
      devices: Object.fromEntries(UNITS.map((id) => [id, unit])),
      limits: { account: { requests: 30, per: `${WINDOW_S}s` } },
      catalogue: CATALOGUE,
    });
    // Two processes take its place.
    await readback.stopWorker();
    const file = join(folder.path, 'readback.yaml');
    writeFileSync(file, CATALOGUE.replace('simulator:', readback.simulatorUrl));
    workers = [0, 1].map((number) =>
      start(['worker', '--json', '--catalogue', file, '--data-dir', join(folder.path, `data-${number}`)], {
        env: {
          TEMPORAL_ADDRESS: readback.temporal.address,
          READBACK_SEAL_KEY: Buffer.from(readback.sealKey).toString('base64'),
        },
      }),
    );
    await Promise.all(workers.map(ready));
  });
  after(async () => {
    await Promise.all(workers.map(ended));
    await readback.close();
    folder.remove();
  });

  /** Requests that got through, and those that were turned away, since the last reset. */
  async function requests(): Promise<{ readonly made: number; readonly turnedAway: number }> {
    const all = await Promise.all(UNITS.map((id) => readback.admin('GET', `/devices/${id}`)));
    const kinds = all.flatMap(({ counters: { sends, reads } }) => [sends, reads]);
    const sum = (counts: readonly number[]) => counts.reduce((total, count) => total + count, 0);
    return {
      made: sum(kinds.map(({ arrived }) => arrived)),
      turnedAway: sum(kinds.map(({ turnedAway }) => turnedAway)),
    };
  }

  async function submitted(units: readonly string[], temperature: number): Promise<string[]> {
    const ids: string[] = [];
    for (const id of units) ids.push(await patiently(() => readback.submit(id, { temperature })));
    return ids;
  }

  async function endsVerified(commandIds: readonly string[]): Promise<void> {
    const ends = await Promise.all(commandIds.map((id) => readback.ended(id, 120_000)));
    const outcomes = ends.map(({ view }) => [view.result?.outcome, view.sent.count, view.result?.detail]);
    assert.deepEqual(
      outcomes.filter(([outcome, sends]) => outcome !== 'verified' || sends !== 1),
      [],
    );
  }

  const asks = async () => {
    const types = await readback.history(budgetWorkflowId('account'));
    return types.filter((type) => type === 'workflowExecutionUpdateAcceptedEventAttributes').length;
  };

  it('is never exceeded by 40 commands at once, all of which end verified, and costs few asks', async () => {
    const ids = await submitted(UNITS, 21);
    await endsVerified(ids);
    const { made, turnedAway } = await requests();
    const asked = await asks();
    assert.equal(turnedAway, 0);
    assert.ok(made >= 160, `${made} requests`);
    // The shorter the window, the more asks: with one of minutes it is about one for five requests.
    assert.ok(asked <= made * 0.75, `${asked} asks for ${made} requests`);
  });

  it('is not exceeded either when one of them is killed in the middle: the other one ends what it began', async () => {
    const ids = await submitted(UNITS.slice(0, 12), 22);
    const [victim] = workers;
    assert.ok(victim);
    const { made: before } = await requests();
    const middle = before + 15;
    while ((await requests()).made < middle) await sleep(50);
    victim.kill('SIGKILL');
    const ends = await Promise.all(ids.map((id) => patiently(() => readback.ended(id, 120_000))));
    // Of what it was just sending nobody knows more than the device shows; and the places that were lent to it are lost until
    // the window is over, so that a second reading may come too late to call a device steady.
    const cut = ends.filter(({ view }) => view.result?.outcome !== 'verified');
    const isHonest = ({ view: { result, sent } }: (typeof cut)[number]): boolean =>
      result?.outcome === 'unknown' ? !sent.certain : /^(unsettled|unreadable)$/.test(result?.outcome ?? '');
    assert.deepEqual(
      cut.filter((end) => !isHonest(end)),
      [],
    );
    assert.ok(cut.length <= 6, `${cut.length} were cut off`);
    assert.equal((await requests()).turnedAway, 0);
  });
});

/** On a busy machine Temporal may be slow to answer; that is not what is tested here. */
async function patiently<T>(ask: () => Promise<T>): Promise<T> {
  for (let tries = 1; ; tries += 1) {
    try {
      return await ask();
    } catch (error) {
      if (!(error instanceof EngineUnreachable) || tries === 10) throw error;
    }
  }
}

async function ready(worker: ChildProcess): Promise<void> {
  worker.stderr?.resume();
  const [line] = (await once(worker.stdout ?? worker, 'data')) as [Buffer];
  assert.match(line.toString(), /"ready":true/);
}

async function ended(worker: ChildProcess): Promise<void> {
  if (worker.exitCode !== null || worker.signalCode !== null) return;
  worker.kill('SIGTERM');
  await once(worker, 'close');
}
