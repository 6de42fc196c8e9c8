/** What becomes of a command when sending is the hard part: the cases S1 to S10, each on a device that behaves as reported. */
import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';
import { type House, like, openHouse, SIDE_BY_SIDE } from './house.ts';

const LAMPS = Array.from({ length: 12 }, (_, index) => `s6-lamp-${index + 1}`);
/** One account, one budget. */
const ACCOUNT = Array.from({ length: 40 }, (_, index) => `s8-unit-${index + 1}`);

describe('sending', { concurrency: SIDE_BY_SIDE }, () => {
  let house: House;
  before(async () => {
    house = await openHouse(
      (cases) => ({
        // Longer than in the simulator's own tests, so that a busy machine changes nothing: the ratios stay.
        ...like(cases, 's1-relay', 's1-relay', { onSend: { hangs: '4s' } }),
        ...like(cases, 's7-valve', 's7-valve', { onSend: [{ times: 1, hangs: '4s', acts: 'late' }] }),
        ...like(cases, 's1-relay-torn', 's1-relay-dropped', { onSend: { drops: true } }),
        ...like(cases, 's2-gate', 's2-gate-elsewhere'),
        ...like(cases, 's3-thermostat', 's3-thermostat-repeatable'),
        ...like(cases, 's4-preset', 's4-preset-unseen', { onRead: [{ times: 1, status: 503 }] }),
        ...like(cases, 's7-valve', 's7-valve-late', { onSend: [{ times: 1, hangs: '4s', acts: 'never' }] }),
        ...like(cases, 's9-car', 's9-car-unread', {
          sleeps: { untilWoken: true, wakingTakes: '500ms', awakeFor: '60s', status: 408 },
        }),
        ...like(cases, 's10-ac', 's10-ac-half-way', {
          fields: {
            mode: { follows: '300ms' },
            temperature: {
              refuses: [{ outside: [99, 100], status: 409, body: { error: 'setpoint locked' } }],
            },
          },
        }),
        ...like(cases, 's10-ac', 's10-ac-stuck', { fields: { mode: { ignores: true } } }),
        ...Object.assign({}, ...ACCOUNT.map((id) => like(cases, 's8-ac-1', id, { limit: 's8-account' }))),
      }),
      ACCOUNT.map((id) => `  ${id}: { profile: account-ac, with: { id: ${id} } }`),
    );
  });
  after(() => house.readback.close());

  it('S8: 40 commands against 30 requests a window are paced to its end, and none fails that could wait', async () => {
    const { readback } = house;
    const ids = await Promise.all(ACCOUNT.map((device) => readback.submit(device, { temperature: 21 })));
    const turnedAway: number[] = [];
    const shown = await Promise.all(
      ids.map(async (id, index) => {
        const device = ACCOUNT[index] ?? '';
        const one = await house.shown(device, id);
        const { counters } = await readback.admin('GET', `/devices/${device}`);
        turnedAway.push(counters.sends.turnedAway + counters.reads.turnedAway);
        return one;
      }),
    );
    assert.deepEqual(
      shown.map(({ outcome, sends, counted }) => [outcome, sends, counted]),
      shown.map(() => ['verified', 1, 1]),
      shown.find(({ outcome }) => outcome !== 'verified')?.message ?? '',
    );
    assert.deepEqual(
      turnedAway.filter((count) => count > 0),
      [],
      'no request was over the limit',
    );
  });

  it('S1: a pulse whose acknowledgement never comes is sent once, and the readback tells that it acted', async () => {
    for (const relay of ['s1-relay', 's1-relay-torn']) {
      const { outcome, sends, counted, certain } = await house.show(relay, { pulse: true });
      assert.deepEqual([outcome, sends, counted, certain], ['verified', 1, 1, false], relay);
    }
  });

  it('S1: where the readback does not tell either it is unknown, and must not be sent again blindly', async () => {
    const { outcome, counted, certain, safeToSendAgain, message } = await house.show('s1-relay-dropped', {
      pulse: true,
    });
    assert.deepEqual([outcome, counted, certain, safeToSendAgain], ['unknown', 1, false, false]);
    assert.match(message, /Look first, and do not send it again without that/);
  });

  it('S2: the same toggle twice within milliseconds is one send, and both callers get the same command', async () => {
    const { readback } = house;
    const first = readback.submit('s2-gate', { door: 'open' });
    await sleep(3);
    const ids = await Promise.all([first, readback.submit('s2-gate', { door: 'open' })]);
    assert.equal(ids[0], ids[1]);
    const { outcome, sends, safeToSendAgain } = await house.shown('s2-gate', ids[0]);
    assert.deepEqual([outcome, sends, safeToSendAgain], ['verified', 1, true]);
    const again = await readback.submit('s2-gate', { door: 'open' });
    assert.notEqual(again, ids[0], 'after a safe end the same call is a new command');
    assert.deepEqual([(await house.shown('s2-gate', again)).outcome, sends], ['already', 1]);
  });

  it('S2: at two servers it is one send too, and the second caller is told which command it joined', async () => {
    const { readback } = house;
    const elsewhere = await readback.otherCommands();
    const submission = {
      device: 's2-gate-elsewhere',
      desired: { door: 'open' },
      caller: { subject: 'local', client: null, transport: 'http', unattended: false },
    } as const;
    const taken = await Promise.all([readback.commands.submit(submission), elsewhere.submit(submission)]);
    const ids = [...new Set(taken.map(({ commandId }) => commandId))];
    const shown = await Promise.all(ids.map((id) => house.shown('s2-gate-elsewhere', id)));
    assert.deepEqual(
      shown.map(({ outcome, sends }) => [outcome, sends]),
      shown.map(() => ['verified', 1]),
    );
    const joined = shown.map(({ snapshot }) => snapshot.view.result?.joined ?? null);
    if (ids.length === 2) {
      assert.equal(joined.filter((id) => id !== null && ids.includes(id)).length, 1);
      assert.match(shown.map(({ message }) => message).join(), /joined command [0-9a-f]{32}/);
    }
  });

  it('S3: an API that always says yes does not make a device changed that never moves', async () => {
    const { outcome, sends, verdicts, safeToSendAgain, detail } = await house.show('s3-thermostat', {
      setpoint: 21,
    });
    assert.deepEqual([outcome, sends, safeToSendAgain], ['unchanged', 1, true]);
    assert.deepEqual(verdicts, { setpoint: 'unchanged' });
    assert.match(detail, /acknowledged, but still 19 °C after \d+ reads/);
  });

  it('S3: it is sent again only as often as the catalogue allows', async () => {
    const { outcome, sends, counted } = await house.show('s3-thermostat-repeatable', { setpoint: 21 });
    assert.deepEqual([outcome, sends, counted], ['unchanged', 2, 2]);
  });

  it('S4: a preset that is set already is not sent', async () => {
    const { outcome, sends } = await house.show('s4-preset', { preset: 'eco' });
    assert.deepEqual([outcome, sends], ['already', 0]);
  });

  it('S4: a refusal of what is so already is no failure', async () => {
    const { outcome, sends, safeToSendAgain, detail } = await house.show('s4-preset-unseen', {
      preset: 'eco',
    });
    assert.deepEqual([outcome, sends, safeToSendAgain], ['already', 1, true]);
    assert.match(detail, /HTTP 400 .*preset already active.* since it is so already/);
  });

  it('S5: a soft error in a 200 reply decides nothing; the lamp does', async () => {
    const lazy = await house.show('s5-lamp', { power: 'on' });
    assert.deepEqual([lazy.outcome, lazy.sends, lazy.certain], ['unchanged', 1, true]);
    const { outcome, sends } = await house.show('s5-lamp-obeys', { power: 'on' });
    assert.deepEqual([outcome, sends], ['verified', 1]);
  });

  it('S6: of twelve lamps sent singly the dead one alone is not verified, and only it is touched by a rerun', async () => {
    const all = await Promise.all(LAMPS.map((lamp) => house.show(lamp, { power: 'on' })));
    const bad = all.filter(({ outcome }) => outcome !== 'verified');
    assert.deepEqual(
      bad.map(({ snapshot, outcome, sends, safeToSendAgain }) => [
        snapshot.view.device,
        outcome,
        sends,
        safeToSendAgain,
      ]),
      [['s6-lamp-7', 'unknown', 1, false]],
    );
    const { message, snapshot } = bad[0] ?? {};
    assert.match(message ?? '', /s6-lamp-7.*HTTP 503/);
    const rerun = await Promise.all(
      LAMPS.map((lamp) =>
        house.show(lamp, { power: 'on' }, lamp === 's6-lamp-7' ? { resendOf: snapshot?.commandId } : {}),
      ),
    );
    assert.deepEqual(
      rerun.map(({ outcome, sends }) => [outcome, sends]),
      LAMPS.map((lamp) => (lamp === 's6-lamp-7' ? ['unknown', 2] : ['already', 1])),
    );
  });

  it('S7: a send that hangs beyond its time-out is not repeated, and acts late for all to see', async () => {
    const { outcome, sends, counted, certain } = await house.show('s7-valve', { pulse: true });
    assert.deepEqual([outcome, sends, counted, certain], ['verified', 1, 1, false]);
  });

  it('S7: what it does after the command has ended changes nothing about that', async () => {
    const { outcome, safeToSendAgain, snapshot } = await house.show('s7-valve-late', { pulse: true });
    assert.deepEqual([outcome, safeToSendAgain], ['unknown', false]);
    await house.readback.admin('PATCH', '/devices/s7-valve-late/state', { count: 1 });
    const late = await house.shown('s7-valve-late', snapshot.commandId);
    assert.deepEqual([late.outcome, late.sends, late.counted], ['unknown', 1, 1]);
  });

  it('S9: a sleeping car is woken once, and then sent to', async () => {
    const { outcome, sends, counted } = await house.show('s9-car', { limit: 90 });
    assert.deepEqual([outcome, sends, counted], ['verified', 1, 1]);
    assert.equal((await house.readback.admin('GET', '/devices/s9-car')).counters.wakes, 1);
  });

  it('S9: one that says when it is read that it sleeps is woken before anything is sent', async () => {
    const { outcome, sends, snapshot } = await house.show('s9-car-unread', { limit: 90 });
    assert.deepEqual([outcome, sends], ['verified', 1]);
    assert.equal(snapshot.view.previous['limit'], 80, 'its baseline is read once it is awake');
    const { counters } = await house.readback.admin('GET', '/devices/s9-car-unread');
    assert.deepEqual([counters.wakes, counters.sends.turnedAway], [1, 0]);
  });

  it('S9: one that nothing wakes is undelivered after the one wake that is allowed', async () => {
    const { outcome, sends, counted, safeToSendAgain, message } = await house.show('s9-car-asleep-for-good', {
      limit: 90,
    });
    assert.deepEqual([outcome, sends, counted, safeToSendAgain], ['undelivered', 0, 0, true]);
    assert.match(message, /sleeps, and did not wake within 2 s of being asked once/);
    assert.equal((await house.readback.admin('GET', '/devices/s9-car-asleep-for-good')).counters.wakes, 1);
  });

  it('S10: the mode is sent and read before the temperature that depends on it', async () => {
    const { outcome, sends, verdicts } = await house.show('s10-ac', { temperature: 22, mode: 'cool' });
    assert.deepEqual([outcome, sends], ['verified', 2]);
    assert.deepEqual(verdicts, { temperature: 'verified', mode: 'verified' });
    const { received } = await house.readback.admin('GET', '/devices/s10-ac');
    assert.deepEqual(
      received.filter(({ purpose }) => purpose === 'send').map(({ path }) => path),
      ['/s10-ac/mode', '/s10-ac/setpoint'],
    );
  });

  it('S10: stopping half-way is partial, and every field is named', async () => {
    const { outcome, sends, verdicts, safeToSendAgain, message } = await house.show('s10-ac-half-way', {
      temperature: 22,
      mode: 'cool',
    });
    assert.deepEqual([outcome, sends, safeToSendAgain], ['partial', 2, false]);
    assert.deepEqual(verdicts, { temperature: 'refused', mode: 'verified' });
    assert.match(message, /temperature refused: .*setpoint locked.*mode verified: reads cool/);
  });

  it('S10: where the mode does not change the temperature is not sent at all', async () => {
    const { outcome, sends, verdicts } = await house.show('s10-ac-stuck', { temperature: 22, mode: 'cool' });
    assert.deepEqual([outcome, sends], ['unchanged', 1]);
    assert.deepEqual(verdicts, { temperature: 'notSent', mode: 'unchanged' });
  });
});
