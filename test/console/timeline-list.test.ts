import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import type { CommandSnapshot, TimelineEntry } from '../../commands/commands.ts';
import { sendsOf, timelineList } from '../../console/pages/timeline-list.ts';
import type { SendResult } from '../../domain/exchange.ts';

type Send = Extract<TimelineEntry, { kind: 'send' }>;

function send(sendClass: SendResult['class'] | null, detail = 'the detail'): Send {
  const result =
    sendClass === null
      ? null
      : ({
          class: sendClass,
          at: 2000,
          reply: null,
          detail,
          retryAfterMs: null,
          kept: {},
        } as unknown as SendResult);
  return { kind: 'send', at: 1000, endedAt: 2000, result };
}

const told = async (...timeline: TimelineEntry[]): Promise<string> =>
  String(await timelineList(timeline, { createdAt: 0 } as CommandSnapshot, 5000));

describe('the timeline of a command', () => {
  it('calls nothing sent that has not left, and nothing certain that may not have arrived', async () => {
    assert.match(await told(send('accepted', 'HTTP 200')), /Sent; HTTP 200 after 1 s/);
    assert.match(await told(send('refused', 'HTTP 400')), /Sent; HTTP 400 after 1 s/);
    assert.match(await told(send('unreached', 'connection refused')), /Nothing was sent: connection refused/);
    assert.match(await told(send('lost', 'time-out')), /Sent, perhaps without arriving: time-out/);
    assert.match(await told(send(null)), /no reply was recorded: it may have arrived/);
    assert.match(await told({ ...send(null), endedAt: null }), /Sending, for 4 s/);
  });

  it('marks in the chart only the sends that arrived, or may have', () => {
    assert.deepEqual(
      sendsOf([send('accepted'), send('unreached'), send('lost'), send(null)]),
      [1000, 1000, 1000],
    );
  });

  it('says which answers did not count, and which nobody was authenticated for', async () => {
    const answer = {
      kind: 'answer',
      at: 10,
      decision: 'approved',
      by: 'Ann',
      via: 'console',
      comment: '<b>',
    } as const;
    assert.match(
      await told({ ...answer, sealed: true, taken: true }),
      /Ann approved <span class="faint">\(console\)<\/span>: <q>&lt;b&gt;/,
    );
    assert.match(await told({ ...answer, sealed: true, taken: false }), /\(console; did not count\)/);
    assert.match(
      await told({ ...answer, sealed: false, taken: null }),
      /by hand in Temporal: nobody has verified who/,
    );
  });
});
