import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import fc from 'fast-check';
import type { Connection, DeviceDefinition } from '../../domain/catalogue/definition.ts';
import type { DeviceReply } from '../../domain/exchange.ts';
import { interpretRead, troubledSample } from '../../domain/interpretation.ts';
import { type Probe, probeRead } from '../../domain/probe.ts';
import type { Json } from '../../domain/values.ts';
import { celsius, choice, device, field, onoff, read } from './definitions.ts';

const reply = (body: Json, status = 200, headers: Record<string, string> = {}): DeviceReply => ({
  status,
  headers,
  body,
});

async function probe(
  one: DeviceDefinition,
  answered: DeviceReply,
  limits: Connection['limits'] = [],
): Promise<Probe> {
  const replies = { state: answered };
  const context = { desired: null, before: null, kept: {}, baselineDeviceAt: null };
  const { sample } = await interpretRead(one, replies, context, 1_796_000_000_000);
  return await probeRead(one, limits, { sample, replies });
}

const said = ({ contradictions }: Probe): string[] =>
  contradictions.map(({ entry, says }) => `${entry}: ${says}`);

describe('probing a device', () => {
  it('finds nothing wrong with an entry that its reply bears out', async () => {
    const found = await probe(device([onoff('power'), celsius()]), reply({ power: 'ON', temperature: 24 }));
    assert.deepEqual(said(found), []);
    assert.equal(found.fields['temperature']?.verdict, 'readsBack');
    assert.equal(found.fields['temperature']?.value, 24);
  });

  it('names the path that the reply lacks, and what it has instead', async () => {
    const vane = choice('vane', { auto: 'auto', high: 'high' }, { read: 'body.settings.vane' });
    const found = await probe(device([vane]), reply({ settings: { vane_v: 'auto' } }));
    assert.equal(found.fields['vane']?.verdict, 'unreadable');
    assert.deepEqual(said(found), [
      'fields.vane.read: the reply lacks body.settings.vane; it has body.settings.vane_v',
    ]);
    assert.deepEqual(found.unused, ['body.settings.vane_v']);
  });

  it('tells a word that the catalogue does not know from no reading at all', async () => {
    const mode = choice('mode', { cool: 'cooling', heat: 'heating' });
    assert.deepEqual(said(await probe(device([mode]), reply({ mode: 'fanOnly' }))), [
      'fields.mode.values: the device says "fanOnly" is none of cool | heat',
    ]);
    for (const nothing of [null, '', 'unavailable', 'unknown'])
      assert.deepEqual(said(await probe(device([mode]), reply({ mode: nothing }))), []);
  });

  it('names a type, a range and a step that cannot be right', async () => {
    const found = await probe(device([celsius()]), reply({ temperature: 31.2 }));
    assert.deepEqual(
      found.contradictions.map(({ entry }) => entry),
      ['fields.temperature.max', 'fields.temperature.step'],
    );
    assert.match(
      said(await probe(device([celsius()]), reply({ temperature: 'warm' }))).join(),
      /fields\.temperature\.type/,
    );
  });

  it('takes no error, web page or list without the device for a contradiction of its rules', async () => {
    const rules = { moving: 'body.moving', available: 'body.online = true' };
    const one = device([celsius()], { read: read(rules) });
    assert.deepEqual((await probe(one, reply({ error: 'busy' }, 503))).contradictions, []);
    const page = { state: reply('<html>Log in</html>') };
    const sample = troubledSample(one, 0, 'its body is a web page');
    assert.deepEqual((await probeRead(one, [], { sample, replies: page })).contradictions, []);
    const online = await probe(one, reply({ temperature: 20, moving: 'no' }));
    assert.deepEqual(
      online.contradictions.map(({ entry }) => entry),
      ['read.available', 'read.moving'],
    );
  });

  it('shows a number too large for decimals as it is', async () => {
    const found = await probe(device([celsius()]), reply({ temperature: 1e308 }));
    assert.match(said(found).join(), /reads 1e\+308 °C, above the declared/);
  });

  it('counts steps from the lower limit, as it does for what is asked', async () => {
    const field = { ...celsius(), min: 5.5, step: 1 };
    assert.deepEqual(said(await probe(device([field]), reply({ temperature: 21.5 }))), []);
    assert.deepEqual(said(await probe(device([field]), reply({ temperature: 21 }))), [
      'fields.temperature.step: reads 21 °C, which the declared step 1 does not lead to from 5.5 °C',
    ]);
  });

  it('says where something declared without readback is in the reply after all', async () => {
    const fan = onoff('fan', { read: null, readback: false });
    const found = await probe(device([fan]), reply({ fan: true }));
    assert.deepEqual(said(found), [
      'fields.fan.readback: declared as none, and the reply holds body.fan = true: perhaps it reads back',
    ]);
  });

  it('names rules about the whole read that can never hold', async () => {
    const one = device([onoff('power')], {
      read: read({ available: 'body.online', moving: 'body.state = "moving"' }),
      faults: { jammed: 'body.jam = true' },
    });
    const found = await probe(one, reply({ power: 'on', online: 'yes' }));
    assert.deepEqual(
      found.contradictions.map(({ entry }) => entry),
      ['read.available', 'read.moving', 'faults.jammed'],
    );
    assert.match(found.trouble ?? '', /not available/);
  });

  it('says which headers a limit waits for in vain', async () => {
    const limit = {
      requests: 30,
      perMs: 300_000,
      keepForReads: 0,
      resetHeader: 'X-Reset',
      remainingHeader: 'X-Left',
    };
    const found = await probe(device([onoff('power')]), reply({ power: 'on' }, 200, { 'x-left': '3' }), [
      limit,
    ]);
    assert.deepEqual(said(found), ['limits[0].resetHeader: the reply has no header X-Reset']);
  });

  it('blames no field where nothing could be read', async () => {
    const found = await probe(device([onoff('power')]), reply('<html>Sign in</html>', 502));
    assert.match(found.trouble ?? '', /HTTP 502/);
    assert.deepEqual(said(found), []);
    assert.deepEqual(found.replies, { state: { status: 502, body: '<html>Sign in</html>' } });
  });

  it('shows a bounded part of whatever a device answers, and never throws', async () => {
    const one = device([onoff('power'), field('level'), celsius()], {
      read: read({ available: 'body.a.b = true', at: 'body.at' }),
    });
    await fc.assert(
      fc.asyncProperty(fc.jsonValue({ maxDepth: 5 }), async (body) => {
        const found = await probe(one, reply(body as Json));
        assert.ok((found.replies['state']?.body.length ?? 0) <= 4000 * 2);
        assert.deepEqual(Object.keys(found.fields), ['power', 'level', 'temperature']);
      }),
      { numRuns: 200 },
    );
    const found = await probe(
      one,
      reply({ a: { b: true }, list: Array.from({ length: 50_000 }, (_, n) => ({ n })) }),
    );
    assert.ok(JSON.stringify(found).length < 20_000);
  });
});
