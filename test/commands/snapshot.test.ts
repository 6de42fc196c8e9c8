import assert from 'node:assert/strict';
import { it } from 'node:test';
import type { Client, WorkflowExecutionDescription } from '@temporalio/client';
import { msToTs } from '@temporalio/common/lib/time.js';
import { snapshotOf } from '../../commands/snapshot.ts';
import { acceptedView } from '../../domain/command.ts';
import { ACTIVITY } from '../../workflows/activity-types.ts';
import { MEMO_KEY, WORKFLOW_TYPE } from '../../workflows/messages.ts';

const OPERATOR = { kind: 'operator' } as const;
const ACCEPTED_AT = 1_700_000_000_000;
const SCHEDULED_AT = ACCEPTED_AT + 1_000;
const TAKEN_AT = ACCEPTED_AT + 9_000;

/** Of a running command with one send pending. */
async function snapshot(lastStartedTime: ReturnType<typeof msToTs> | null) {
  const view = acceptedView(
    {
      device: 'heater',
      deviceName: 'Heater',
      desired: { temperature: 25 },
      units: { temperature: '°C' },
      reason: null,
      caller: { subject: 'local', client: 'test', transport: 'cli', unattended: false },
      requestId: null,
      resendOf: null,
      contentKey: 'a',
      definitionDigest: 'b',
      deliverWithinMs: 60_000,
    },
    ACCEPTED_AT,
  );
  const send = {
    activityType: { name: ACTIVITY.send },
    scheduledTime: msToTs(SCHEDULED_AT),
    lastStartedTime,
  };
  const description = {
    type: WORKFLOW_TYPE.deviceCommand,
    workflowId: 'c1',
    memo: { [MEMO_KEY]: view },
    status: { name: 'RUNNING', code: 1 },
    startTime: new Date(ACCEPTED_AT),
    raw: { pendingActivities: [send] },
  } as unknown as WorkflowExecutionDescription;
  const taken = await snapshotOf({} as Client, description, OPERATOR, 0);
  assert.ok(taken);
  return taken.view;
}

it('a send that waits for a worker is not being sent', async () => {
  const { phase, sent } = await snapshot(null);
  assert.deepEqual([phase, sent.count], ['waiting_for_turn', 0]);
});

it('a send that a worker has taken is being sent since then', async () => {
  const { phase, phaseAt, note } = await snapshot(msToTs(TAKEN_AT));
  assert.deepEqual([phase, phaseAt, note], ['sending', TAKEN_AT, 'sending temperature']);
});
