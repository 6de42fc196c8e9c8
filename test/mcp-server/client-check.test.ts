import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';
import { reportJson, reportText } from '../../mcp-server/client-check/report.ts';
import type { Seen } from '../../mcp-server/client-check/seen.ts';
import { clientCheckService } from '../../mcp-server/client-check/service.ts';
import { createMcpApp, serveHttp } from '../../mcp-server/http.ts';
import { legacyClient, modernClient, taskSession } from './clients.ts';

const CHECK = 'check_client';
const A_PERSON_TAKES_MS = 1_100;

describe('the check of a client', { concurrency: true }, () => {
  let url: string;
  let close: () => Promise<void>;
  const page = 'http://127.0.0.1:9/opened';
  const seen = new Set<Seen>();
  before(async () => {
    const service = clientCheckService({
      pages: { url: page, openedAt: () => null },
      patienceMs: 2_000,
      changed: (one) => void seen.add(one),
      onError: (error) => assert.fail(error),
    });
    ({ url, close } = await serveHttp(createMcpApp(service), { host: '127.0.0.1', port: 0 }));
  });
  after(() => close());

  /** What was seen of the one client that declares this over this protocol. */
  const reportOf = (protocol: string, ...capabilities: string[]) => {
    const [one, ...others] = [...seen].filter(
      ({ declared }) =>
        declared.protocol === protocol && declared.capabilities.join() === capabilities.join(),
    );
    assert.ok(one !== undefined && others.length === 0);
    return { ...reportJson(one), text: reportText(one) };
  };
  const person = (content: { seen: boolean }) => async () => {
    await sleep(A_PERSON_TAKES_MS);
    return { action: 'accept', content } as const;
  };

  it('finds that a form was shown to a person, and what the model is given', async () => {
    const client = await modernClient(url, {}, person({ seen: true }));
    try {
      const first: any = await client.callTool({ name: CHECK, arguments: {} });
      assert.match(first.content[0].text, /maple/);
      assert.match(first.structuredContent.message, /willow/);
      const last: any = await client.callTool({ name: CHECK, arguments: { words: 'Maple, Willow' } });
      const report = reportOf('2026-07-28', 'elicitation.form');
      assert.deepEqual([report.reads, report.form?.answer, report.formSeenByAPerson], ['both', 'yes', true]);
      assert.deepEqual(report.gets, {
        slow: 'handle',
        requester: 'formInAnswer',
        operator: 'queue',
        missing: 'formInAnswer',
      });
      assert.equal(report.patience?.gaveUp, false);
      assert.equal(last.content[0].text, `Done. Show this to the user, whole:\n\n${report.text}`);
    } finally {
      await client.close();
    }
  });

  it('finds that a form was answered by the client itself', async () => {
    const client = await legacyClient(url, () => ({ action: 'decline' }));
    try {
      await client.callTool({ name: CHECK, arguments: { words: 'willow' } });
      const { formSeenByAPerson, reads, gets, text } = reportOf('2025-11-25', 'elicitation.form');
      assert.deepEqual(
        [formSeenByAPerson, reads, gets.requester],
        [false, 'structuredContent', 'formDuringCall'],
      );
      assert.match(text, /No person saw it/);
    } finally {
      await client.close();
    }
  });

  it('finds that a task is asked for, its form answered, and its result fetched', async () => {
    const { session, close: end } = await taskSession(url, person({ seen: false }));
    try {
      const execution = await session.callTool(CHECK, { words: 'maple' });
      assert.equal(execution.kind, 'task');
      await execution.settle();
      const { task, form, gets } = reportOf(
        '2026-07-28',
        'extensions.io.modelcontextprotocol/tasks',
        'elicitation.form',
      );
      assert.ok(task !== null && task.polls > 0 && task.resultFetched);
      assert.deepEqual([form?.answer, gets.slow, gets.requester], ['no', 'task', 'formInTask']);
    } finally {
      await end();
    }
  });

  it('finds that a page was opened, and doesn’t take the client’s word for it', async () => {
    const client = await modernClient(url, { elicitation: { url: {} } });
    try {
      const asked: any[] = [];
      client.setRequestHandler('elicitation/create', ({ params }) => {
        asked.push(params);
        return { action: 'accept' };
      });
      await client.callTool({ name: CHECK, arguments: { words: 'nothing' } });
      assert.equal(asked[0].url, page);
      const { reads, page: seenPage, text } = reportOf('2026-07-28', 'elicitation.url');
      assert.deepEqual([reads, seenPage?.answer, seenPage?.openedAfterMs], ['neither', 'yes', null]);
      assert.match(text, /said to be opened, but nobody opened it/);
    } finally {
      await client.close();
    }
  });

  it('finds when a client gives up on a call', async () => {
    const client = await modernClient(url);
    try {
      const call = client.callTool({ name: CHECK, arguments: { words: 'maple' } }, { timeout: 500 });
      await assert.rejects(call);
      const report = () => reportOf('2026-07-28');
      while (report().patience === null) await sleep(20);
      assert.equal(report().patience?.gaveUp, true);
      assert.match(
        report().text,
        /gave up on a call after \d+ ms: start Readback with a shorter --sync-wait/,
      );
    } finally {
      await client.close();
    }
  });
});
