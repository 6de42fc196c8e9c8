import assert from 'node:assert/strict';
import { it } from 'node:test';
import { EngineUnreachable } from '../../commands/commands.ts';
import { startReadback } from '../harness/readback.ts';

it('a look that no worker takes says so within seconds, however long its device may take', async () => {
  const readback = await startReadback({
    devices: { heater: { state: { temperature: 20 } } },
    catalogue: `
version: 1
connections: { sim: { kind: http, baseUrl: "simulator:", timeout: 5s } }
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
    const startedAt = Date.now();
    await assert.rejects(commands.readState('heater'), (error) => {
      assert.ok(error instanceof EngineUnreachable);
      assert.match(error.message, /^No worker took the read within 2\.4 s\./);
      return true;
    });
    const waitedMs = Date.now() - startedAt;
    assert.ok(waitedMs < 6000, `${waitedMs} ms`);
    await readback.startWorker();
    await readback.admin('PATCH', '/devices/heater/behaviour', { onRead: { hangs: '3500ms' } });
    const slowly = await commands.readState('heater');
    assert.equal(slowly.trouble, null, 'a device that takes its time is waited for');
  } finally {
    await readback.close();
  }
});
