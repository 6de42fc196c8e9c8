/** The audit, made from the histories of real commands. */
import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';
import type { AuditRecord } from '../../commands/audit/record.ts';
import type { AuditOptions } from '../../commands/audit.ts';
import { type Harness, startReadback } from '../harness/readback.ts';
import { HOUSE, playFirst, playSecond } from './audited.ts';

/** The export leaves out what happened in the last ten seconds. */
const SETTLED_MS = 10_500;

describe('the audit', { timeout: 170_000 }, () => {
  let readback: Harness;
  /** By device. */
  let done: Record<string, string>;
  let middle: number;
  let end: number;

  before(async () => {
    readback = await startReadback(HOUSE);
    const first = await playFirst(readback);
    middle = Date.now();
    await sleep(50);
    done = { ...first, ...(await playSecond(readback)) };
    end = Date.now();
    await sleep(SETTLED_MS);
  });
  after(() => readback?.close());

  const exported = async (options: Partial<AuditOptions> = {}): Promise<AuditRecord[]> => {
    const found = await readback.commands.audit({ since: null, until: end, ...options });
    const records: AuditRecord[] = [];
    for await (const record of found.records()) records.push(record);
    return records;
  };
  const of = async (device: string): Promise<AuditRecord[]> =>
    (await exported()).filter(({ workflowId }) => workflowId === done[device]);
  const kinds = (records: readonly AuditRecord[]): string[] => records.map(({ kind }) => kind);

  it('tells of a command that needed nobody who asked for what, what was sent, and how it ended', async () => {
    const [accepted, send, ended, ...rest] = await of('free');
    assert.ok(accepted?.kind === 'accepted' && send?.kind === 'send' && ended?.kind === 'ended');
    assert.deepEqual(rest, []);
    assert.deepEqual(accepted.requested, { temperature: { value: 25, unit: '°C' } });
    assert.deepEqual(
      [accepted.subject, accepted.client, accepted.transport, accepted.unattended],
      ['local', 'test', 'http', false],
    );
    assert.equal(accepted.reason, 'it is cold');
    assert.deepEqual([send.class, send.replyStatus, send.fields], ['accepted', 200, ['temperature']]);
    assert.ok(send.latencyMs >= 0 && Date.parse(send.beganAt) <= Date.parse(send.at));
    assert.deepEqual(
      [ended.status, ended.outcome, ended.sends, ended.certain],
      ['completed', 'verified', 1, true],
    );
    assert.deepEqual(ended.fields, { temperature: { observed: 25, verdict: 'verified' } });
  });

  it('tells of a decision whose it was, which way it came, after how long, and what exactly it was about', async () => {
    const records = await of('guarded');
    assert.deepEqual(kinds(records), ['accepted', 'decision', 'send', 'ended']);
    const [, decision, send] = records;
    assert.ok(decision?.kind === 'decision');
    assert.deepEqual(
      [
        decision.decision,
        decision.by,
        decision.bySubject,
        decision.via,
        decision.authenticated,
        decision.byHand,
      ],
      ['approved', 'ann', 'https://issuer.example#ann', 'console', true, false],
    );
    assert.equal(decision.comment, 'checked by phone');
    assert.ok(decision.latencyMs !== null && decision.latencyMs >= 0 && decision.latencyMs < 20_000);
    assert.match(String(decision.approvalDigest), /^[\w-]{20,}$/);
    assert.equal(send?.approvalDigest, decision.approvalDigest);
  });

  it('tells of a decline and its reason, and of no send', async () => {
    const [, decision, ended, ...rest] = await of('declined');
    assert.ok(decision?.kind === 'decision' && ended?.kind === 'ended');
    assert.deepEqual(rest, []);
    assert.deepEqual(
      [decision.decision, decision.by, decision.via, decision.comment],
      ['declined', 'bob', 'cli', 'somebody is in the cellar'],
    );
    assert.deepEqual([ended.outcome, ended.sends, ended.decidedBy], ['declined', 0, 'bob']);
  });

  it('tells of an approval that expired that nobody decided it', async () => {
    const records = await of('expiring');
    assert.deepEqual(kinds(records), ['accepted', 'ended']);
    const ended = records.at(-1);
    assert.ok(ended?.kind === 'ended' && ended.outcome === 'expired' && ended.decidedBy === null);
  });

  it('tells of each send of a command that was sent again', async () => {
    const records = await of('stubborn');
    assert.deepEqual(kinds(records), ['accepted', 'send', 'send', 'ended']);
    const keys = records.flatMap((record) => (record.kind === 'send' ? [record.idempotencyKey] : []));
    assert.equal(new Set(keys).size, 2);
  });

  it('tells of answers through the client that were no decision apart from the one that was', async () => {
    const records = await of('asking');
    assert.deepEqual(kinds(records), ['accepted', 'attempt', 'attempt', 'decision', 'send', 'ended']);
    const [, tooFast, dismissed, decision] = records;
    assert.ok(tooFast?.kind === 'attempt' && dismissed?.kind === 'attempt' && decision?.kind === 'decision');
    assert.deepEqual([tooFast.said, tooFast.why], ['declined', 'tooFast']);
    assert.ok(tooFast.latencyMs !== null && tooFast.latencyMs < 1000);
    assert.deepEqual([dismissed.said, dismissed.why], ['dismissed', 'dismissed']);
    assert.deepEqual([decision.by, decision.via], ['local', 'form']);
  });

  it('tells once of a decision that came as an update and as a signal', async () => {
    const records = await of('offline');
    assert.deepEqual(kinds(records), ['accepted', 'decision', 'send', 'ended']);
    const [, decision] = records;
    assert.ok(decision?.kind === 'decision');
    assert.deepEqual(
      [decision.by, decision.authenticated, decision.comment],
      ['ann', true, 'while it was down'],
    );
  });

  it('tells of forged answers and of ones by hand that they did not count, with nothing of their seals', async () => {
    const records = await of('junk');
    assert.deepEqual(kinds(records), ['accepted', 'attempt', 'attempt', 'attempt', 'attempt', 'ended']);
    const attempts = records.flatMap((record) => (record.kind === 'attempt' ? [record] : []));
    assert.ok(attempts.every(({ why, authenticated }) => why === 'notCounted' && authenticated !== true));
    const forged = attempts.find(({ by }) => by === 'mallory');
    assert.deepEqual([forged?.said, forged?.authenticated, forged?.byHand], ['approved', false, false]);
    const byHand = attempts.find(({ by }) => by === 'eve');
    assert.deepEqual([byHand?.authenticated, byHand?.byHand], [false, true]);
    assert.ok(!/"(mac|seal|nonce)"|forged-mac/.test(JSON.stringify(records)));
  });

  it('tells of a yes given in the moment of a cancel', async () => {
    const records = await of('racing');
    const ended = records.at(-1);
    assert.ok(ended?.kind === 'ended');
    // Once; or never, where the cancel came first and the answer was refused at the door, before it was part of the history.
    const answers = records.filter(({ kind }) => kind === 'decision' || kind === 'attempt');
    assert.ok(answers.length <= 1, JSON.stringify(answers));
    if (answers.length === 0) assert.equal(ended.sends, 0);
    assert.equal(records.filter(({ kind }) => kind === 'send').length, ended.sends);
  });

  it('tells of a command that was reset in Temporal what each of its runs did, and of what both share once', async () => {
    const records = await of('reset');
    const runs = [...new Set(records.map(({ runId }) => runId))];
    assert.equal(runs.length, 2);
    assert.deepEqual(kinds(records.filter(({ runId }) => runId === runs[0])), ['accepted', 'send', 'ended']);
    assert.equal(records.at(-1)?.kind, 'ended');
    assert.equal(kinds(records).filter((kind) => kind === 'accepted').length, 1);
  });

  it('gives the same lines twice, each with an id of its own that leads to an event in Temporal', async () => {
    const [once, again] = [await exported(), await exported()];
    assert.deepEqual(once, again);
    assert.equal(new Set(once.map(({ id }) => id)).size, once.length);
    for (const { id, workflowId, runId, eventId } of once)
      assert.equal(id, `${workflowId}/${runId}/${eventId}`);
    const send = once.find(({ kind }) => kind === 'send');
    assert.ok(send);
    const handle = readback.temporal.client.workflow.getHandle(send.workflowId, send.runId);
    const event = (await handle.fetchHistory()).events?.find(
      ({ eventId }) => Number(eventId) === send.eventId,
    );
    assert.equal(event?.activityTaskScheduledEventAttributes?.activityType?.name, 'send');
  });

  it('is ordered by the start of commands, and within each by what happened', async () => {
    const records = await exported();
    const starts = records.filter(({ kind }) => kind === 'accepted').map(({ at }) => at);
    assert.deepEqual(starts, [...starts].sort());
    for (const device of Object.keys(done)) {
      const times = (await of(device)).map(({ at }) => at);
      assert.deepEqual(times, [...times].sort());
    }
  });

  it('joins from ranges without a gap or a double, wherever they are cut', async () => {
    const whole = await exported();
    const times = whole.map(({ at }) => Date.parse(at));
    // Also in the very moment of a record, which then belongs to the later range.
    for (const cut of [middle, times[2] ?? 0, (times[5] ?? 0) + 1]) {
      const [earlier, later] = [await exported({ until: cut }), await exported({ since: cut })];
      assert.ok(earlier.length > 0 && later.length > 0);
      assert.ok(
        earlier.every(({ at }) => Date.parse(at) < cut) && later.every(({ at }) => Date.parse(at) >= cut),
      );
      const joined = [...earlier, ...later].map(({ id }) => id).sort();
      assert.deepEqual(joined, whole.map(({ id }) => id).sort());
    }
  });

  it('of one device holds that device and nothing else', async () => {
    const records = await exported({ device: 'guarded' });
    assert.deepEqual(kinds(records), ['accepted', 'decision', 'send', 'ended']);
    assert.deepEqual(await exported({ device: 'guarded" OR WorkflowType = "lane' }), []);
  });

  it('ends some seconds ago at the latest, and says how long histories are kept', async () => {
    const found = await readback.commands.audit({ since: null, until: Date.now() + 60_000 });
    assert.ok(found.until <= Date.now() - 10_000);
    // One of them has two runs.
    assert.equal(found.commands, Object.keys(done).length + 1);
    const oldest = Math.min(
      ...(await exported()).flatMap(({ kind, at }) => (kind === 'ended' ? [Date.parse(at)] : [])),
    );
    assert.ok(found.oldestEndAt !== null && Math.abs(found.oldestEndAt - oldest) < 2500);
    assert.ok(found.retentionMs >= 3_600_000);
  });

  it('refuses a range in which nothing can be', async () => {
    await assert.rejects(readback.commands.audit({ since: end, until: end }), /range is empty/);
    await assert.rejects(
      readback.commands.audit({ since: Date.now(), until: null }),
      /left to the next export/,
    );
  });
});
