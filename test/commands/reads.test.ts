import assert from 'node:assert/strict';
import { it } from 'node:test';
import { EngineUnreachable } from '../../commands/commands.ts';
import { startReadback } from '../harness/readback.ts';

it('a look is waited for as long as its device may take, and then said to have found no worker', async () => {
  const readback = await startReadback({
    devices: { heater: { state: { temperature: 20 } } },
    catalogue: `
version: 1
connections: { sim: { kind: http, baseUrl: "simulator:", timeout: 100ms } }
devices:
  heater:
    connection: sim
    send: PUT /devices/heater
    read: GET /devices/heater
    fields: { temperature: { type: celsius, min: 5, max: 30 } }
`,
  });
  try {
    const { commands } = readback;
    const read = await commands.readState('heater');
    assert.equal((read.fields['temperature'] as { value?: unknown }).value, 20);
    await readback.stopWorker();
    await assert.rejects(commands.readState('heater'), (error) => {
      assert.ok(error instanceof EngineUnreachable);
      assert.match(error.message, /^No worker took the read within 10\.3 s\./);
      return true;
    });
  } finally {
    await readback.close();
  }
});
