import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import { legacyClient, modernClient, taskSession } from './clients.ts';
import { type House, openHouse, setting } from './serving.ts';
import { TASKS } from './wire.ts';

describe('client libraries', () => {
  let house: House;
  let url: string;
  before(async () => {
    house = await openHouse();
    url = (await house.serve({ taskGraceMs: 0, syncWaitMs: 3_000 })).url;
  });
  after(() => house.close());

  describe('a session of the Tasks extension', () => {
    it('drives a command to its verified end', async () => {
      const { session, close } = await taskSession(url);
      try {
        const execution = await session.callTool('set_device_state', setting('bedroom-ac'));
        assert.equal(execution.kind, 'task');
        const { outcome } = await execution.settle();
        assert.equal(outcome.status, 'completed');
        assert.equal((outcome.result as any).structuredContent.outcome, 'verified');
      } finally {
        await close();
      }
    });

    it('asks its user for an approval by the requester, once, and goes on after a yes', async () => {
      const questions: string[] = [];
      const { session, close } = await taskSession(url, async ({ message }) => {
        questions.push(message);
        await new Promise((resolve) => setTimeout(resolve, 1_200));
        return { action: 'accept', content: { approve: true } };
      });
      try {
        const execution = await session.callTool('set_device_state', setting('night-lamp'));
        const { outcome } = await execution.settle();
        assert.equal((outcome as any).result.structuredContent.outcome, 'verified');
        assert.equal(questions.length, 1);
      } finally {
        await close();
      }
    });

    it('cancels a command', async () => {
      const { session, close } = await taskSession(url);
      try {
        const execution = await session.callTool('set_device_state', setting('slow-ac'));
        assert.equal(execution.kind, 'task');
        await session.cancelTask((execution as any).handle.taskId);
        assert.equal((await execution.settle()).outcome.status, 'cancelled');
      } finally {
        await close();
      }
    });

    it('hands a command over to another session, by a reference of a few bytes', async () => {
      const [first, second] = [await taskSession(url), await taskSession(url)];
      try {
        const execution: any = await first.session.callTool('set_device_state', setting('slow-ac'));
        let reference: any;
        await execution.handoff((handle: unknown) => {
          reference = JSON.parse(JSON.stringify(handle));
        });
        const { outcome } = await (await second.session.resumeTask(reference)).settle();
        assert.equal((outcome as any).result.structuredContent.outcome, 'verified');
      } finally {
        await first.close();
        await second.close();
      }
    });
  });

  describe('a client of 2026-07-28 without the extension', () => {
    it('never gets a task: an answer within the sync wait, else a handle', async () => {
      const client = await modernClient(url);
      try {
        const quick: any = await client.callTool({
          name: 'set_device_state',
          arguments: setting('bedroom-ac'),
        });
        assert.equal(quick.structuredContent.outcome, 'verified');
        const slow: any = await client.callTool({
          name: 'set_device_state',
          arguments: setting('slow-ac'),
        });
        assert.deepEqual(
          [slow.structuredContent.done, slow.structuredContent.next.tool],
          [false, 'get_command'],
        );
        const ended: any = await client.callTool({
          name: 'get_command',
          arguments: slow.structuredContent.next.arguments,
        });
        assert.equal(ended.structuredContent.outcome, 'verified');
      } finally {
        await client.close();
      }
    });

    it('reads the extension from the server’s capabilities', async () => {
      const client = await modernClient(url);
      try {
        assert.deepEqual(client.getServerCapabilities()?.extensions, TASKS.extensions);
      } finally {
        await client.close();
      }
    });
  });

  describe('a client of 2025-11-25 over an HTTP session', () => {
    it('lists, commands, and waits by get_command', async () => {
      const client = await legacyClient(url);
      try {
        assert.deepEqual(Object.keys(client.getServerCapabilities() ?? {}).sort(), [
          'completions',
          'resources',
          'tools',
        ]);
        assert.equal((await client.listTools()).tools.length, 5);
        const quick: any = await client.callTool({
          name: 'set_device_state',
          arguments: setting('bedroom-ac'),
        });
        assert.equal(quick.structuredContent.outcome, 'verified');
        const slow: any = await client.callTool({
          name: 'set_device_state',
          arguments: setting('slow-ac'),
        });
        assert.match(slow.content[0].text, /^NOT DONE\./);
        const ended: any = await client.callTool({
          name: 'get_command',
          arguments: slow.structuredContent.next.arguments,
        });
        assert.equal(ended.structuredContent.outcome, 'verified');
      } finally {
        await client.close();
      }
    });

    it('is shown errors of input as tool errors', async () => {
      const client = await legacyClient(url);
      try {
        const result: any = await client.callTool({
          name: 'set_device_state',
          arguments: { device: 'spaceship', desired: { temperature: 1 } },
        });
        assert.equal(result.isError, true);
        assert.match(result.content[0].text, /"spaceship"/);
      } finally {
        await client.close();
      }
    });

    it('has sessions that don’t mix: ending one leaves the other', async () => {
      const [one, other] = [await legacyClient(url), await legacyClient(url)];
      try {
        await (one.transport as any).terminateSession();
        await assert.rejects(one.listTools());
        assert.equal((await other.listTools()).tools.length, 5);
      } finally {
        await one.close();
        await other.close();
      }
    });
  });
});
