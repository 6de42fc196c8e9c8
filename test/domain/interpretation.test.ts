import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import fc from 'fast-check';
import type { DeviceDefinition } from '../../domain/catalogue/definition.ts';
import { compare } from '../../domain/comparison.ts';
import type { DeviceReply, RawRead, ReadContext } from '../../domain/exchange.ts';
import { interpretRead } from '../../domain/interpretation.ts';
import type { Json } from '../../domain/values.ts';
import { celsius, choice, device, field, onoff, percent, read, request } from './definitions.ts';

const NOTHING: ReadContext = { desired: null, before: null, kept: {}, baselineDeviceAt: null };
const AT = 1_796_000_000_000;

const reply = (body: Json, status = 200): DeviceReply => ({ status, headers: {}, body });

async function sampleOf(one: DeviceDefinition, body: Json | DeviceReply, context: Partial<ReadContext> = {}) {
  const isReply = body !== null && typeof body === 'object' && 'headers' in body;
  const state = isReply ? (body as DeviceReply) : reply(body);
  return (await interpretRead(one, { state }, { ...NOTHING, ...context }, AT)).sample;
}

describe('interpreting a read', () => {
  const mode = choice('mode', { cool: 'cooling', heat: 'heating', fan_only: 'fanOnly' });
  const ac = device([mode, celsius({ appliesWhen: { mode: ['cool', 'heat'] } })]);

  it('reads each field in our terms', async () => {
    const sample = await sampleOf(ac, { mode: 'cooling', temperature: '26.0' });
    assert.deepEqual(sample, {
      at: AT,
      deviceAt: null,
      fields: { mode: { kind: 'value', value: 'cool' }, temperature: { kind: 'value', value: 26 } },
      moving: false,
      faults: {},
      confirmed: {},
      trouble: null,
      retryAfterMs: null,
    });
  });

  it('R9: verifies the mode by the mode alone; what the device does at the moment is another field', async () => {
    const climate = device([mode, field('action', { type: 'text', readOnly: true })]);
    const { fields } = await sampleOf(climate, { mode: 'cooling', action: 'idle' });
    assert.equal(compare(mode, 'cool', fields['mode'] ?? { kind: 'unreadable', why: '' }), 'equal');
    assert.deepEqual(fields['action'], { kind: 'value', value: 'idle' });
  });

  it('R10: finds that a setpoint does not apply to fan_only, whether it is null or left over', async () => {
    for (const temperature of [null, 24]) {
      const { fields } = await sampleOf(ac, { mode: 'fanOnly', temperature });
      const why = 'applies only while mode is cool | heat, and it is fan_only';
      assert.deepEqual(fields['temperature'], { kind: 'notApplicable', why });
      assert.equal(
        compare(celsius(), 22, fields['temperature'] ?? { kind: 'unreadable', why: '' }),
        'notApplicable',
      );
    }
  });

  it('keeps a field readable while what it depends on is not', async () => {
    const { fields } = await sampleOf(ac, { mode: 'unknown', temperature: 24 });
    assert.deepEqual([fields['mode']?.kind, fields['temperature']?.kind], ['unreadable', 'value']);
  });

  it('is void on anything but a 2xx, however good the body looks', async () => {
    for (const status of [199, 301, 401, 404, 429, 500]) {
      const sample = await sampleOf(ac, reply({ mode: 'cooling', temperature: 26 }, status));
      assert.match(sample.trouble ?? '', new RegExp(`answered with HTTP ${status}`));
      assert.deepEqual(
        Object.values(sample.fields).map(({ kind }) => kind),
        ['unreadable', 'unreadable'],
      );
    }
    const silent = (await interpretRead(ac, {}, NOTHING, AT)).sample;
    assert.match(silent.trouble ?? '', /brought no reply/);
  });

  it('R8: is void on an error inside a 200', async () => {
    const remote = device([onoff('power', { missing: 'off' })], {
      reply: { refused: 'body.statusCode in [190]' },
    });
    assert.match(
      (await sampleOf(remote, { statusCode: 190, message: 'wrong device' })).trouble ?? '',
      /refused.*wrong device/,
    );
  });

  it('takes the declared missing value only from a reply that has a body and lacks the field', async () => {
    const replicas = device([field('replicas', { missing: 0 })]);
    const readingOf = async (body: Json | DeviceReply) => (await sampleOf(replicas, body)).fields['replicas'];
    assert.deepEqual(await readingOf({}), { kind: 'value', value: 0 });
    assert.equal((await readingOf({ replicas: null }))?.kind, 'unreadable');
    assert.equal((await readingOf(reply(null, 204)))?.kind, 'unreadable');
    assert.equal((await readingOf(reply({}, 404)))?.kind, 'unreadable');
    assert.equal((await readingOf('<html>'))?.kind, 'unreadable');
  });

  it('picks exactly one device out of a list', async () => {
    const listed = device([onoff('power', { read: 'body.power' })], {
      params: { id: 'A1' },
      read: read({ pick: 'body[id = $id]', available: '$count(whole) > 0' }),
    });
    const one = { id: 'A1', power: 'on' };
    assert.deepEqual((await sampleOf(listed, [{ id: 'B2', power: 'off' }, one])).fields['power'], {
      kind: 'value',
      value: 'on',
    });
    assert.deepEqual((await sampleOf(listed, [one])).fields['power'], { kind: 'value', value: 'on' });
    assert.match((await sampleOf(listed, [{ id: 'B2' }])).trouble ?? '', /doesn't list this device/);
    assert.match((await sampleOf(listed, [])).trouble ?? '', /doesn't list this device/);
    assert.match((await sampleOf(listed, {})).trouble ?? '', /doesn't list this device/);
    assert.match((await sampleOf(listed, [one, one])).trouble ?? '', /lists this device 2 times/);
  });

  it('is void unless the device is really available and fresh', async () => {
    const online = device([onoff()], {
      read: read({ available: 'body.online = true', fresh: 'body.seen >= body.wanted' }),
    });
    const good = { power: 'on', online: true, seen: 2, wanted: 2 };
    assert.equal((await sampleOf(online, good)).trouble, null);
    for (const bad of [{ online: false }, { online: 'true' }, { online: 1 }, { online: null }]) {
      assert.match(
        (await sampleOf(online, { ...good, ...bad })).trouble ?? '',
        /not available/,
        JSON.stringify(bad),
      );
    }
    assert.match((await sampleOf(online, { power: 'on' })).trouble ?? '', /not available/);
    assert.match((await sampleOf(online, { ...good, seen: 1 })).trouble ?? '', /not fresh/);
    assert.match((await sampleOf(online, { ...good, seen: 'two' })).trouble ?? '', /not fresh/);
  });

  it('is stale while the device’s stamp is that of the baseline, and only after a send', async () => {
    const stamped = device([onoff()], { read: read({ at: 'body.measuredAt' }) });
    const body = { power: 'on', measuredAt: '2026-11-30T10:00:00Z' };
    assert.equal((await sampleOf(stamped, body)).deviceAt, '2026-11-30T10:00:00Z');
    assert.equal((await sampleOf(stamped, body)).trouble, null);
    const stale = await sampleOf(stamped, body, { baselineDeviceAt: '2026-11-30T10:00:00Z' });
    assert.match(stale.trouble ?? '', /is from before the command/);
    assert.equal(stale.fields['power']?.kind, 'unreadable');
    assert.equal((await sampleOf(stamped, body, { baselineDeviceAt: '2026-11-30T09:59:00Z' })).trouble, null);
    assert.equal((await sampleOf(stamped, { power: 'on' }, { baselineDeviceAt: 'x' })).trouble, null);
    assert.equal((await sampleOf(stamped, { ...body, measuredAt: 1796 })).deviceAt, '1796');
  });

  it('sees the headers of a reply', async () => {
    const stamped = device([onoff()], { read: read({ at: 'headers.`last-modified`' }) });
    const state = { status: 200, headers: { 'last-modified': 'yesterday' }, body: { power: 'on' } };
    assert.equal((await sampleOf(stamped, state)).deviceAt, 'yesterday');
    assert.deepEqual((await interpretRead(stamped, { state }, NOTHING, AT)).raw, {
      state: { status: 200, body: { power: 'on' }, whole: { power: 'on' } },
    });
  });

  it('V2: counts only a real true as moving', async () => {
    const cover = device([percent('position')], { read: read({ moving: 'body.moving' }) });
    for (const moving of [69, 'true', 1, null, false])
      assert.equal((await sampleOf(cover, { position: 69, moving })).moving, false, String(moving));
    assert.equal((await sampleOf(cover, { position: 69, moving: true })).moving, true);
    assert.equal((await sampleOf(cover, { position: 69 })).moving, false);
  });

  it('R7: raises a fault, clears it on a real false, and says unknown for everything else', async () => {
    const lock = device([choice('lock', { locked: 'locked', unlocked: 'unlocked' })], {
      faults: { jammed: 'body.status = "jammed"', odd: 'body.code' },
    });
    assert.deepEqual((await sampleOf(lock, { lock: 'locked', status: 'jammed', code: false })).faults, {
      jammed: 'raised',
      odd: 'clear',
    });
    assert.deepEqual((await sampleOf(lock, { lock: 'locked', status: 'ok', code: 3 })).faults, {
      jammed: 'clear',
      odd: 'unknown',
    });
    assert.deepEqual((await sampleOf(lock, { lock: 'locked' })).faults, {
      jammed: 'unknown',
      odd: 'unknown',
    });
    assert.deepEqual((await sampleOf(lock, reply({}, 500))).faults, { jammed: 'unknown', odd: 'unknown' });
  });

  it('confirms an action against the raw baseline, and never before it was asked', async () => {
    const relay = device([
      field('pulse', { type: 'action', read: null, confirm: 'body.count > $before.body.count' }),
    ]);
    const before: RawRead = { state: { status: 200, body: { count: 4 }, whole: { count: 4 } } };
    const idle = await sampleOf(relay, { count: 4 });
    assert.deepEqual([idle.confirmed, idle.fields['pulse']], [{}, { kind: 'value', value: false }]);
    const same = await sampleOf(relay, { count: 4 }, { desired: { pulse: true }, before });
    assert.deepEqual(
      [same.confirmed, same.fields['pulse']],
      [{ pulse: false }, { kind: 'value', value: false }],
    );
    const done = await sampleOf(relay, { count: 5 }, { desired: { pulse: true }, before });
    assert.deepEqual(
      [done.confirmed, done.fields['pulse']],
      [{ pulse: true }, { kind: 'value', value: true }],
    );
    const unsent = await sampleOf(relay, { count: 5 }, { desired: { pulse: true }, before: null });
    assert.deepEqual([unsent.confirmed, unsent.fields['pulse']], [{}, { kind: 'value', value: false }]);
    const unknown = await sampleOf(
      relay,
      { count: 5 },
      { desired: { pulse: true }, before: null, sentAt: 1 },
    );
    assert.deepEqual(
      [unknown.confirmed, unknown.fields['pulse']?.kind],
      [{}, 'unreadable'],
      'without a baseline nobody can tell',
    );
  });

  it('sees several requests under their own names, and confirms only what was asked', async () => {
    const lock = device(
      [
        choice(
          'lock',
          { locked: 'LOCKED', unlocked: 'UNLOCKED' },
          { read: 'lock.body.state', confirm: '$desired.lock = "unlocked" or contact.body.open = false' },
        ),
      ],
      {
        read: read({
          requests: { lock: request('GET /lock'), contact: request('GET /contact') },
          single: false,
        }),
      },
    );
    const replies = (open: boolean) => ({ lock: reply({ state: 'LOCKED' }), contact: reply({ open }) });
    const asked = { ...NOTHING, desired: { lock: 'locked' } };
    const ajar = await interpretRead(lock, replies(true), asked, AT);
    assert.deepEqual(
      [ajar.sample.fields['lock'], ajar.sample.confirmed],
      [{ kind: 'value', value: 'locked' }, { lock: false }],
    );
    assert.deepEqual(Object.keys(ajar.raw), ['lock', 'contact']);
    assert.deepEqual((await interpretRead(lock, replies(false), asked, AT)).sample.confirmed, { lock: true });
    const half = await interpretRead(lock, { ...replies(false), contact: reply(null, 502) }, asked, AT);
    assert.match(
      half.sample.trouble ?? '',
      /the read of contact \(GET \/contact\) was answered with HTTP 502/,
    );
  });

  it('confirms nothing of a field that was not asked', async () => {
    const two = device([onoff(), celsius({ confirm: 'body.steady = true' })]);
    const body = { power: 'on', temperature: 20, steady: true };
    assert.deepEqual((await sampleOf(two, body, { desired: { power: 'on' } })).confirmed, {});
    assert.deepEqual((await sampleOf(two, body, { desired: { temperature: 20 } })).confirmed, {
      temperature: true,
    });
  });

  it('says why an expression does not fit the reply', async () => {
    const { fields } = await sampleOf(device([field('load', { read: 'body.watts + 1' })]), { watts: 'many' });
    assert.ok(fields['load']?.kind === 'unreadable' && fields['load'].why.includes('body.watts + 1'));
  });

  it('never reads a value from any reply without the right one, and never fails', async () => {
    const strict = device([onoff(), celsius()], {
      read: read({ pick: 'body.items[id = "A1"]', available: 'body.online = true' }),
      faults: { hot: 'body.temperature > 90' },
    });
    await fc.assert(
      fc.asyncProperty(fc.jsonValue(), fc.integer({ min: 100, max: 599 }), async (body, status) => {
        const sample = await sampleOf(strict, reply(body as Json, status));
        assert.notEqual(sample.trouble, null);
        assert.ok(Object.values(sample.fields).every(({ kind }) => kind === 'unreadable'));
      }),
    );
  });
});
