/**
 * Every way in which a command can end, each shown on a device that makes it end so. Read this first: it is what
 * Readback is for. Everything is real but the devices, which are simulated over HTTP.
 */
import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import { type Harness, startReadback } from '../harness/readback.ts';

const DEVICES = {
  heater: { state: { power: 'off', temperature: 20 }, follows: '2s' },
  calm: { state: { temperature: 20 } },
  lamp: { state: { power: 'OFF' }, fields: { power: { spelling: { ON: 'On', OFF: 'Off' } } } },
  infrared: { state: { power: 'off' } },
  deaf: { state: { temperature: 20 }, ignores: true },
  stubborn: { state: { temperature: 20 }, ignores: true },
  lazy: { state: { position: 30 }, fields: { position: { settlesAt: 50 } } },
  slow: {
    state: { position: 0, motion: 'stopped' },
    fields: {
      position: {
        ramps: { perSecond: 5, says: { field: 'motion', up: 'opening', down: 'closing', still: 'stopped' } },
      },
    },
  },
  gone: { state: { temperature: 20 }, onRead: [{ times: 1 }, { times: 1000, status: 502 }] },
  contested: { state: { temperature: 20 }, overridden: { after: '3s', to: 19 } },
  strict: {
    state: { temperature: 20 },
    fields: { temperature: { refuses: [{ outside: [16, 25], status: 422, body: { error: 'too hot' } }] } },
  },
  preset: {
    state: { mode: 'eco' },
    refuses: [{ same: true, status: 400, body: { error: 'already active' } }],
    onRead: [{ times: 1, status: 503 }],
  },
  gate: {
    state: { door: 'closed' },
    actions: { press: { toggles: { door: ['open', 'closed'] } } },
    onSend: { drops: true },
  },
  relay: { state: { count: 0 }, actions: { pulse: { counts: 'count' } }, onSend: { losesReply: true } },
  halves: { state: { power: 'off', temperature: 20 }, fields: { temperature: { ignores: true } } },
  unplugged: { state: { temperature: 20 }, port: 0, down: true },
  dimmer: { state: { power: 'on', level: 10 }, actions: { press: { toggles: { power: ['off', 'on'] } } } },
  'stuck-lock': {
    state: { power: 'on', jammed: true },
    actions: { press: { toggles: { power: ['off', 'on'] } } },
  },
  confirmed: {
    state: { power: 'on', contact: 'on' },
    actions: { press: { toggles: { power: ['off', 'on'] } } },
  },
  resetting: {
    state: { mode: 'cool', temperature: 20 },
    fields: { mode: { also: { heat: { temperature: 25 } } } },
  },
  grumbling: { state: { temperature: 20 }, onSend: { status: 400, acts: 'at-once' } },
  lagging: { state: { temperature: 20 }, follows: '3s' },
  jammed: {
    state: { lock: 'unlocked', jammed: false },
    fields: { lock: { also: { locked: { jammed: true } } } },
  },
};

const CATALOGUE = `
version: 1
connections:
  sim: { kind: http, baseUrl: "simulator:", timeout: 2s }
  nowhere: { kind: http, baseUrl: "http://127.0.0.1:1", timeout: 1s }
defaults: { settle: { first: 200ms, every: 400ms, within: 5s, stable: 500ms } }
profiles:
  thermostat:
    connection: sim
    params: { id: required }
    send: { request: "PUT /devices/{id}", repeatable: true }
    read: "GET /devices/{id}"
    fields: { temperature: { type: celsius, min: 5, max: 30, step: 0.5 } }
devices:
  heater: { profile: thermostat, with: { id: heater }, fields: { power: onoff } }
  lamp: { connection: sim, send: PUT /devices/lamp, read: GET /devices/lamp, fields: { power: { type: onoff, values: { "on": "ON", "off": "OFF" } } } }
  infrared: { connection: sim, send: PUT /devices/infrared, fields: { power: { type: onoff, readback: none } } }
  deaf: { profile: thermostat, with: { id: deaf } }
  stubborn: { profile: thermostat, with: { id: stubborn }, settle: { within: 2s, maxSends: 3 } }
  lazy: { connection: sim, send: PUT /devices/lazy, read: GET /devices/lazy, fields: { position: percent } }
  slow: { connection: sim, send: PUT /devices/slow, read: { request: GET /devices/slow, moving: 'body.motion in ["opening", "closing"]' }, fields: { position: percent } }
  gone: { profile: thermostat, with: { id: gone } }
  contested: { profile: thermostat, with: { id: contested }, settle: { stable: 5s, within: 9s } }
  calm: { profile: thermostat, with: { id: calm } }
  strict: { profile: thermostat, with: { id: strict } }
  preset: { connection: sim, send: PUT /devices/preset, read: GET /devices/preset, fields: { mode: { type: enum, values: [eco, away] } } }
  gate: { connection: sim, send: { request: POST /devices/gate/press, kind: toggle }, read: GET /devices/gate, fields: { door: { type: enum, values: [open, closed] } } }
  relay: { connection: sim, send: { request: POST /devices/relay/pulse, kind: pulse }, read: GET /devices/relay, fields: { pulse: { type: action, confirm: body.count > $before.body.count } } }
  halves: { profile: thermostat, with: { id: halves }, fields: { power: onoff } }
  dimmer:
    connection: sim
    send: [{ for: power, request: POST /devices/dimmer/press, kind: toggle }, { for: level, request: PUT /devices/dimmer }]
    read: GET /devices/dimmer
    fields: { power: onoff, level: percent }
  stuck-lock: { connection: sim, send: { request: POST /devices/stuck-lock/press, kind: toggle }, read: GET /devices/stuck-lock, faults: { jammed: body.jammed = true }, fields: { power: onoff } }
  confirmed: { connection: sim, send: { request: POST /devices/confirmed/press, kind: toggle }, read: GET /devices/confirmed, fields: { power: { type: onoff, confirm: body.contact = $desired.power } } }
  resetting:
    connection: sim
    send: [{ for: mode, request: PUT /devices/resetting }, { for: temperature, request: PUT /devices/resetting }]
    read: GET /devices/resetting
    fields: { mode: { type: enum, values: [cool, heat] }, temperature: { type: celsius, min: 5, max: 30 } }
  grumbling: { profile: thermostat, with: { id: grumbling } }
  lagging: { profile: thermostat, with: { id: lagging }, settle: { lag: 4s, within: 8s } }
  unplugged: { connection: nowhere, send: PUT /heater, read: GET /heater, deliver: { within: 4s }, fields: { temperature: { type: celsius, min: 5, max: 30 } } }
  jammed: { connection: sim, send: PUT /devices/jammed, read: GET /devices/jammed, faults: { jammed: body.jammed = true }, fields: { lock: { type: enum, values: [locked, unlocked] } } }
  guarded: { profile: thermostat, with: { id: heater } }
approvals:
  - { for: { device: guarded }, by: operator, expires: 2s }
`;

describe('a command ends', { concurrency: true }, () => {
  let readback: Harness;
  before(async () => {
    readback = await startReadback({ devices: DEVICES, catalogue: CATALOGUE });
  });
  after(() => readback.close());

  /** Outcome, the one field's verdict, sends by Readback's own count, and sends that the device saw. */
  async function outcomeOf(device: string, desired: Record<string, unknown>) {
    const { view } = await readback.carryOut(device, desired);
    assert.ok(view.result);
    const seen =
      device === 'unplugged' ? 0 : (await readback.admin('GET', `/devices/${device}`)).counters.sends.arrived;
    return {
      outcome: view.result.outcome,
      sent: view.sent.count,
      seen,
      certain: view.sent.certain,
      view,
      result: view.result,
    };
  }

  it('verified: a stable readback equals what was asked, with the reply and the reading as evidence', async () => {
    const { outcome, sent, seen, view, result } = await outcomeOf('heater', { temperature: 26 });
    assert.deepEqual([outcome, sent, seen], ['verified', 1, 1]);
    assert.equal(view.sent.reply?.status, 200);
    assert.equal(result.fields['temperature']?.observed?.value, 26);
    assert.equal(result.fields['temperature']?.previous, 20);
    assert.deepEqual(
      result.samples.map(({ value }) => value),
      [20, 26],
    );
  });

  it('verified: "ON" was sent and "On" is read', async () => {
    assert.equal((await outcomeOf('lamp', { power: 'on' })).outcome, 'verified');
    assert.deepEqual(
      JSON.parse(
        (await readback.admin('GET', '/devices/lamp')).received.find(({ purpose }) => purpose === 'send')
          ?.body ?? '',
      ),
      { power: 'ON' },
    );
  });

  it('already: it was so before, and nothing is sent', async () => {
    const { outcome, sent, seen } = await outcomeOf('calm', { temperature: 20 });
    assert.deepEqual([outcome, sent, seen], ['already', 0, 0]);
  });

  it('already: the API refuses what is so already, and the reading says the same', async () => {
    const { outcome, seen } = await outcomeOf('preset', { mode: 'eco' });
    assert.deepEqual([outcome, seen], ['already', 1]);
  });

  it('unverifiable: acknowledged, and the catalogue says that it has no readback', async () => {
    const { outcome, sent, seen } = await outcomeOf('infrared', { power: 'on' });
    assert.deepEqual([outcome, sent, seen], ['unverifiable', 1, 1]);
  });

  it('unchanged: acknowledged, but the device never moved; sent once unless the catalogue allows more', async () => {
    const { outcome, sent, seen } = await outcomeOf('deaf', { temperature: 26 });
    assert.deepEqual([outcome, sent, seen], ['unchanged', 1, 1]);
  });

  it('unchanged: after as many sends as the catalogue allows', async () => {
    const { outcome, sent, seen } = await outcomeOf('stubborn', { temperature: 26 });
    assert.deepEqual([outcome, sent, seen], ['unchanged', 3, 3]);
  });

  it('already: a toggle is not sent to a device that is as asked, which would undo it; only the rest is', async () => {
    const { outcome, seen, result } = await outcomeOf('dimmer', { power: 'on', level: 50 });
    assert.deepEqual([outcome, seen, result.fields['power']?.observed?.value], ['verified', 1, 'on']);
    const sent = (await readback.admin('GET', '/devices/dimmer')).received.filter(
      ({ purpose }) => purpose === 'send',
    );
    assert.deepEqual(
      sent.map(({ method }) => method),
      ['PUT'],
    );
  });

  it('different: a toggle is not sent where the value is right and a fault is raised', async () => {
    const { outcome, seen, result } = await outcomeOf('stuck-lock', { power: 'on' });
    assert.deepEqual([outcome, seen, result.fields['power']?.verdict], ['different', 0, 'fault']);
  });

  it('already: a confirmation that compares with what is asked holds before anything is sent', async () => {
    const { outcome, seen } = await outcomeOf('confirmed', { power: 'on' });
    assert.deepEqual([outcome, seen], ['already', 0]);
  });

  it('partial: what was so already is read back too, since the send may have changed it', async () => {
    const { outcome, result } = await outcomeOf('resetting', { mode: 'heat', temperature: 20 });
    assert.equal(outcome, 'partial');
    const verdicts = Object.entries(result.fields).map(([name, field]) => [name, field.verdict]);
    assert.deepEqual(verdicts, [
      ['mode', 'verified'],
      ['temperature', 'different'],
    ]);
  });

  it('verified: the API refused after it had acted, which the reading tells', async () => {
    const { outcome, sent, seen } = await outcomeOf('grumbling', { temperature: 26 });
    assert.deepEqual([outcome, sent, seen], ['verified', 1, 1]);
  });

  it('verified: after a cancel, what the first send may still change is not taken for "so already"', async () => {
    const first = await readback.submit('lagging', { temperature: 26 });
    while ((await readback.admin('GET', '/devices/lagging')).counters.sends.arrived === 0)
      await new Promise((resolve) => setTimeout(resolve, 50));
    await readback.commands.cancel(first, { kind: 'operator' });
    await readback.ended(first);
    const { outcome, seen } = await outcomeOf('lagging', { temperature: 20 });
    assert.deepEqual([outcome, seen], ['verified', 2]);
  });

  it('different: it stopped at another value, and is not sent again', async () => {
    const { outcome, seen, result } = await outcomeOf('lazy', { position: 80 });
    assert.deepEqual([outcome, seen, result.fields['position']?.observed?.value], ['different', 1, 50]);
  });

  it('different: the value is right, and a declared fault vetoes it', async () => {
    const { outcome, result } = await outcomeOf('jammed', { lock: 'locked' });
    assert.deepEqual([outcome, result.fields['lock']?.verdict], ['different', 'fault']);
  });

  it('unsettled: it still moves at the deadline', async () => {
    assert.equal((await outcomeOf('slow', { position: 100 })).outcome, 'unsettled');
  });

  it('unreadable: acknowledged, but nothing can be read any more', async () => {
    const { outcome, seen } = await outcomeOf('gone', { temperature: 26 });
    assert.deepEqual([outcome, seen], ['unreadable', 1]);
  });

  it('superseded: it was reached, then somebody else changed it; nobody fights back', async () => {
    const { outcome, seen, result } = await outcomeOf('contested', { temperature: 21 });
    assert.deepEqual([outcome, seen], ['superseded', 1]);
    assert.match(result.detail, /reached 21 °C, then 19 °C/);
  });

  it('refused: the API said no, in its own words', async () => {
    const { outcome, result } = await outcomeOf('strict', { temperature: 28 });
    assert.equal(outcome, 'refused');
    assert.match(result.detail, /HTTP 422.*too hot/);
    assert.equal(result.safeToSendAgain, true);
  });

  it('verified: the reply was lost, but the readback tells that it acted', async () => {
    const { outcome, sent, seen, certain } = await outcomeOf('relay', { pulse: true });
    assert.deepEqual([outcome, sent, seen, certain], ['verified', 1, 1, false]);
  });

  it('unknown: the reply was lost, the reading does not tell, and it may not be repeated', async () => {
    const { outcome, sent, certain, result } = await outcomeOf('gate', { door: 'open' });
    assert.deepEqual([outcome, sent, certain, result.safeToSendAgain], ['unknown', 1, false, false]);
  });

  it('partial: some fields are verified, some are not, and each is named', async () => {
    const { outcome, result } = await outcomeOf('halves', { power: 'on', temperature: 26 });
    assert.equal(outcome, 'partial');
    assert.deepEqual(
      Object.entries(result.fields).map(([name, field]) => [name, field.verdict]),
      [
        ['power', 'verified'],
        ['temperature', 'unchanged'],
      ],
    );
  });

  it('undelivered: it could not be reached in time, and nothing arrived', async () => {
    const { outcome, sent } = await outcomeOf('unplugged', { temperature: 21 });
    assert.deepEqual([outcome, sent], ['undelivered', 0]);
  });

  it('expired: nobody approved it in time, and nothing was sent', async () => {
    const { view } = await readback.carryOut('guarded', { temperature: 21 });
    assert.deepEqual([view.result?.outcome, view.sent.count], ['expired', 0]);
  });
});
