import assert from 'node:assert/strict';
import { randomUUID } from 'node:crypto';
import { after, before, describe, it } from 'node:test';
import { acceptedView, type CommandRequest, type CommandView } from '../../domain/command.ts';
import { MEMO_KEY, SEARCH_ATTRIBUTE, WORKFLOW_TYPE } from '../../workflows/messages.ts';
import { LOCAL } from '../harness/readback.ts';
import { type Operating, operate } from './operating.ts';

const COUNT = 1000;
const PAGE = 100;
const AT_ONCE = 20;

/** As a command looks in Temporal while it waits, without the work of getting there. */
function waitingView(index: number): CommandView {
  const request: CommandRequest = {
    device: `boiler-${index % 20}`,
    deviceName: `Boiler ${index % 20}`,
    desired: { temperature: 45 },
    units: { temperature: '°C' },
    reason: `Reason number ${index}, with as many words as an agent likes to spend on such things.`,
    caller: LOCAL,
    requestId: null,
    resendOf: null,
    contentKey: String(index),
    definitionDigest: 'x',
    deliverWithinMs: 900_000,
  };
  const now = Date.now();
  return {
    ...acceptedView(request, now),
    phase: 'waiting_for_approval',
    approval: {
      by: 'operator',
      reason: 'Hot water scalds.',
      askedAt: now,
      expiresAt: now + 3_600_000 + ((index * 7919) % COUNT) * 1000,
      digest: 'x',
      key: 'approve-1',
      before: { temperature: 40 },
    },
  };
}

describe(`with ${COUNT} pending approvals`, () => {
  let operating: Operating;
  before(async () => {
    operating = await operate();
    const { client } = operating.harness.temporal;
    const start = (index: number) =>
      client.workflow.start(WORKFLOW_TYPE.deviceCommand, {
        workflowId: randomUUID(),
        taskQueue: 'nobody-works-here',
        args: [],
        memo: { [MEMO_KEY]: waitingView(index) },
        typedSearchAttributes: [{ key: SEARCH_ATTRIBUTE.approval, value: 'pending' }],
      });
    for (let index = 0; index < COUNT; index += AT_ONCE)
      await Promise.all(Array.from({ length: AT_ONCE }, (_, offset) => start(index + offset)));
  });
  after(() => operating.close());

  /** The median of some runs, in milliseconds. */
  async function median(act: () => Promise<unknown>): Promise<number> {
    const times: number[] = [];
    for (let run = 0; run < 9; run += 1) {
      const startedAt = performance.now();
      await act();
      times.push(performance.now() - startedAt);
    }
    return times.sort((a, b) => a - b)[4] ?? Number.NaN;
  }

  it('a page of the list takes at most five times as long as a bare page of visibility', async () => {
    const { commands, temporal } = operating.harness;
    const query = `WorkflowType = "${WORKFLOW_TYPE.deviceCommand}" AND ${SEARCH_ATTRIBUTE.approval.name} = "pending"`;
    const bare = await median(() =>
      temporal.client.workflowService.listWorkflowExecutions({ namespace: 'default', query, pageSize: PAGE }),
    );
    const page = await median(() => commands.pendingApprovals({ limit: PAGE }));
    assert.ok(page <= 5 * bare, `${page.toFixed(1)} ms against ${bare.toFixed(1)} ms`);
  });

  it('pages through all of them once each', async () => {
    const seen = new Set<string>();
    let cursor: string | null | undefined;
    do {
      const page = await operating.harness.commands.pendingApprovals({
        limit: PAGE,
        ...(cursor == null ? {} : { cursor }),
      });
      assert.equal(page.total, COUNT);
      for (const { commandId } of page.items) seen.add(commandId);
      ({ cursor } = page);
    } while (cursor !== null);
    assert.equal(seen.size, COUNT);
  });

  it('the console shows the most urgent of all first, page by page, and stays quick', async () => {
    const ann = await operating.signIn(operating.approvers.add('Ann'));
    const page = async (number: number): Promise<{ deadlines: number[]; tookMs: number; text: string }> => {
      const startedAt = performance.now();
      const { text, status } = await ann.get(`/?page=${number}`);
      assert.equal(status, 200);
      const deadlines = [...text.matchAll(/data-until="(\d+)"/g)].map(([, at]) => Number(at));
      return { deadlines, tookMs: performance.now() - startedAt, text };
    };
    const first = await page(1);
    assert.match(first.text, /Approvals \(1000\)/);
    assert.match(first.text, /Page 1 of 20/);
    const all = [...first.deadlines];
    for (let number = 2; number <= 20; number += 1) {
      const { deadlines, tookMs } = await page(number);
      all.push(...deadlines);
      assert.ok(tookMs < 2000, `page ${number} took ${tookMs} ms`);
    }
    assert.equal(all.length, COUNT);
    // They were started within seconds of each other, and their deadlines are a second apart, in another order.
    const inversions = all.filter((at, index) => index > 0 && at < (all[index - 1] ?? 0));
    assert.equal(inversions.length, 0);
  });
});
