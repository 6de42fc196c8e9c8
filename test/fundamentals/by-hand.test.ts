/** Deciding by hand in the Temporal UI: possible only where the operator allows it, and recorded as what it is. */
import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import type { CommandSnapshot } from '../../commands/commands.ts';
import { type Harness, startReadback } from '../harness/readback.ts';
import { plain, thermostatCatalogue, thermostats } from '../harness/thermostats.ts';

const heaters = thermostats(plain('guarded'));
const catalogue = (settings: string): string =>
  thermostatCatalogue(
    heaters.entries,
    `settings: { ${settings} }\napprovals: [{ for: { device: guarded }, by: operator, expires: 60s }]`,
  );

for (const [allowed, settings] of [
  [true, 'decideInTemporalUi: true'],
  [false, 'decideInTemporalUi: false'],
] as const) {
  describe(`by hand in the Temporal UI, where that is ${allowed ? 'allowed' : 'not allowed'}`, () => {
    let readback: Harness;
    before(async () => {
      readback = await startReadback({ devices: heaters.devices, catalogue: catalogue(settings) });
    });
    after(() => readback.close());

    it(
      allowed
        ? 'a yes counts, and is recorded as nobody having been authenticated'
        : 'a yes counts for nothing',
      async () => {
        const isAsking = ({ view }: CommandSnapshot): boolean => view.approval !== null;
        const id = await readback.submit('guarded', { temperature: 25 });
        await readback.commands.wait(id, { kind: 'operator' }, { timeoutMs: 20_000, until: isAsking });
        const answer = {
          key: 'approve-1',
          decision: 'approved',
          by: 'ann',
          via: 'temporal-ui',
          comment: null,
          at: Date.now(),
          seal: null,
        };
        await readback.temporal.client.workflow.getHandle(id).signal('answer', answer);
        if (allowed) {
          const { view } = await readback.ended(id);
          assert.deepEqual(
            [view.result?.outcome, view.decidedBy?.by, view.decidedBy?.authenticated],
            ['verified', 'ann', false],
          );
          return;
        }
        await new Promise((resolve) => setTimeout(resolve, 1500));
        const shown = await readback.commands.get(id, { kind: 'operator' });
        assert.ok(shown !== undefined && isAsking(shown));
        assert.equal((await readback.admin('GET', '/devices/guarded')).counters.sends.arrived, 0);
      },
    );
  });
}
