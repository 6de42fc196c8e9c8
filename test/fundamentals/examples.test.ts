/** The catalogues in examples/ that are not about homes, on the devices that come with them: each does what its comments say. */
import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { after, before, describe, it } from 'node:test';
import { parse } from 'yaml';
import { type Harness, type HarnessOptions, startReadback } from '../harness/readback.ts';

const example = (name: string): string =>
  readFileSync(join(import.meta.dirname, '..', '..', 'examples', `${name}.yaml`), 'utf8');

const startExample = (name: string): Promise<Harness> =>
  startReadback({ ...(parse(example(`${name}-devices`)) as HarnessOptions), catalogue: example(name) });

describe('a deployment API: accepted, then rolled out', { timeout: 120_000 }, () => {
  let readback: Harness;
  before(async () => {
    readback = await startExample('deployments');
  });
  after(() => readback.close());

  it('is verified when the replicas really run, not when they were accepted', async () => {
    const { view } = await readback.carryOut('shop-staging', { replicas: 4 });
    assert.equal(view.result?.outcome, 'verified');
    assert.deepEqual(
      view.result.samples.map(({ value }) => value).filter((value) => value !== 2),
      [3, 4],
    );
  });

  it('is unsettled where the rollout is stuck, and sent once', async () => {
    const { view } = await readback.carryOut('reports', { replicas: 6 });
    assert.equal(view.result?.outcome, 'unsettled');
    assert.equal(view.result.fields['replicas']?.observed?.value, 3);
    assert.equal((await readback.admin('GET', '/devices/reports')).counters.sends.arrived, 1);
  });

  it('sends nothing to production before an operator has said yes', async () => {
    const commandId = await readback.submit('shop-production', { version: '2.1.0' });
    const waiting = await readback.commands.wait(
      commandId,
      { kind: 'operator' },
      { timeoutMs: 15_000, until: ({ view }) => view.approval !== null },
    );
    assert.equal(waiting?.view.approval?.by, 'operator');
    assert.equal((await readback.admin('GET', '/devices/shop-production')).counters.sends.arrived, 0);
    await readback.commands.decide(commandId, {
      decision: 'approved',
      by: 'Ann',
      via: 'console',
      comment: null,
    });
    const { view } = await readback.ended(commandId);
    assert.equal(view.result?.outcome, 'verified');
    assert.equal((await readback.admin('GET', '/devices/shop-production')).counters.sends.arrived, 1);
  });
});

describe("a vendor's cloud of air conditioners", { timeout: 120_000 }, () => {
  let readback: Harness;
  before(async () => {
    readback = await startExample('vendor-cloud');
  });
  after(() => readback.close());

  it('is verified once the cloud shows it at last; sent once, with the settings that were not asked for as they were', async () => {
    const { view } = await readback.carryOut('office', { temperature: 22 });
    assert.equal(view.result?.outcome, 'verified');
    const { counters, received } = await readback.admin('GET', '/devices/office');
    assert.equal(counters.sends.arrived, 1);
    const sent = received.find(({ method }) => method === 'POST');
    assert.equal(sent?.body, 'button=power-on&operation_mode=cool&temp=22');
  });

  it('refuses a setpoint where a unit only blows, with nothing sent', async () => {
    const { view } = await readback.carryOut('lobby', { temperature: 22 });
    assert.equal(view.result?.outcome, 'refused');
    assert.equal((await readback.admin('GET', '/devices/lobby')).counters.sends.arrived, 0);
  });

  it('sends no whole state to a unit that is offline, since nobody knows the rest of it', async () => {
    const { view } = await readback.carryOut('archive', { power: 'on' });
    assert.equal(view.result?.outcome, 'undelivered', view.result?.detail);
    assert.equal((await readback.admin('GET', '/devices/archive')).counters.sends.arrived, 0);
  });
});
