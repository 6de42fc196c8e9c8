import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';
import type { SendClass } from '../../domain/exchange.ts';
import type { Desired, Reading, Value } from '../../domain/values.ts';
import { type Opened, openAll } from '../activities/opened.ts';
import { type HomeAssistant, startHomeAssistant } from './instance.ts';

let home: HomeAssistant;
let open: (id: string) => Opened;

before(async () => {
  home = await startHomeAssistant();
  open = await openAll(catalogueOf(home.baseUrl), { HA: home.token, BAD: 'not-a-token-of-this-instance' });
});
after(() => home?.stop());

const catalogueOf = (baseUrl: string) => `
version: 1
connections:
  house: { kind: home-assistant, baseUrl: "${baseUrl}", auth: { bearer: "\${HA}" } }
  stranger: { kind: home-assistant, baseUrl: "${baseUrl}", auth: { bearer: "\${BAD}" } }
devices:
  hvac: { connection: house, entity: climate.hvac }
  ecobee: { connection: house, entity: climate.ecobee }
  fan: { connection: house, entity: fan.living_room_fan }
  preset-fan: { connection: house, entity: fan.preset_only_limited_fan }
  lamp: { connection: house, entity: light.bed_light }
  window: { connection: house, entity: cover.hall_window }
  garage: { connection: house, entity: cover.garage_door }
  front-door: { connection: house, entity: lock.front_door }
  bad-door: { connection: house, entity: lock.poorly_installed_door }
  plug: { connection: house, entity: switch.ac }
  nobody: { connection: house, entity: climate.nobody }
  no-lamp: { connection: house, entity: light.nobody }
  stranger-hvac: { connection: stranger, entity: climate.hvac }
  stranger-plug: { connection: stranger, entity: switch.ac }
`;

const value = (it: Value): Reading => ({ kind: 'value', value: it });

/** Sends by the step that the catalogue has for these fields, and returns the readings once they are as desired. */
async function sendAndRead(
  device: Opened,
  desired: Desired,
  step: number,
): Promise<Readonly<Record<string, Reading>>> {
  const result = await device.send(desired, { step });
  assert.equal(result.class, 'accepted' satisfies SendClass, result.detail);
  const deadline = Date.now() + 20_000;
  for (;;) {
    const { sample } = await device.read();
    assert.equal(sample.trouble, null);
    const isThere = Object.entries(desired).every(([name, asked]) => {
      const reading = sample.fields[name];
      return reading?.kind === 'value' && reading.value === asked;
    });
    if ((isThere && !sample.moving) || Date.now() > deadline) return sample.fields;
    await sleep(250);
  }
}

/** The step that sends `field`, by the service that it calls. */
function stepOf(device: Opened, service: string): number {
  const step = device.device.send.find(({ request }) => request.path.endsWith(`/${service}`));
  assert.ok(step, `${device.device.id} has no step for ${service}`);
  return step.index;
}

test('climate: temperature, then mode, as the thermostat itself shows them', async () => {
  const hvac = open('hvac');
  const first = await hvac.read();
  assert.deepEqual(first.sample.fields['temperature'], value(21));
  assert.deepEqual(first.sample.fields['current_temperature'], value(22));

  const warmer = await sendAndRead(hvac, { temperature: 23.5 }, stepOf(hvac, 'set_temperature'));
  assert.deepEqual(warmer['temperature'], value(23.5));
  assert.equal((await home.state('climate.hvac')).attributes['temperature'], 23.5);

  const heating = await sendAndRead(hvac, { mode: 'heat' }, stepOf(hvac, 'set_hvac_mode'));
  assert.deepEqual(heating['mode'], value('heat'));
  const fanOnly = await sendAndRead(hvac, { mode: 'fan_only' }, stepOf(hvac, 'set_hvac_mode'));
  assert.equal(fanOnly['temperature']?.kind, 'notApplicable');
});

test('fan: a percentage', async () => {
  const fan = open('fan');
  const fields = await sendAndRead(fan, { percentage: 66 }, stepOf(fan, 'set_percentage'));
  assert.deepEqual([fields['power'], fields['percentage']], [value('on'), value(66)]);
  assert.equal((await home.state('fan.living_room_fan')).attributes['percentage'], 66);
});

test('light: brightness in our percent and its 0 to 255, then off', async () => {
  const lamp = open('lamp');
  const result = await lamp.send({ power: 'on', brightness: 40 }, { step: stepOf(lamp, 'turn_on') });
  assert.equal(result.class, 'accepted');
  assert.equal((await home.state('light.bed_light')).attributes['brightness'], 102);
  const { fields } = (await lamp.read()).sample;
  assert.deepEqual([fields['power'], fields['brightness']], [value('on'), value(40)]);
  const off = await sendAndRead(lamp, { power: 'off' }, stepOf(lamp, 'turn_off'));
  assert.equal(off['brightness']?.kind, 'unreadable');
});

test('cover: a position is reached step by step', async () => {
  const window = open('window');
  const sent = await window.send({ position: 40 }, { step: stepOf(window, 'set_cover_position') });
  assert.equal(sent.class, 'accepted');
  const seen: Value[] = [];
  let sample = (await window.read()).sample;
  const deadline = Date.now() + 30_000;
  while ((sample.moving || seen.at(-1) !== 40) && Date.now() < deadline) {
    const position = sample.fields['position'];
    if (position?.kind === 'value' && position.value !== seen.at(-1)) seen.push(position.value);
    await sleep(200);
    sample = (await window.read()).sample;
  }
  assert.equal(seen.at(-1), 40);
  assert.ok(seen.length > 1, `seen on the way: ${seen.join(', ')}`);
});

test('cover: closing says that it moves until it is closed', async () => {
  const window = open('window');
  assert.equal(
    (await window.send({ door: 'closed' }, { step: stepOf(window, 'close_cover') })).class,
    'accepted',
  );
  assert.equal((await window.read()).sample.moving, true);
  const deadline = Date.now() + 30_000;
  let { sample } = await window.read();
  while (sample.moving && Date.now() < deadline) {
    await sleep(250);
    sample = (await window.read()).sample;
  }
  assert.deepEqual([sample.fields['door'], sample.fields['position']], [value('closed'), value(0)]);
});

test('switch: on and off', async () => {
  const plug = open('plug');
  assert.deepEqual((await sendAndRead(plug, { power: 'on' }, stepOf(plug, 'turn_on')))['power'], value('on'));
  assert.deepEqual(
    (await sendAndRead(plug, { power: 'off' }, stepOf(plug, 'turn_off')))['power'],
    value('off'),
  );
});

test('lock: unlocked after it was unlocking', async () => {
  const door = open('front-door');
  const fields = await sendAndRead(door, { lock: 'unlocked' }, stepOf(door, 'unlock'));
  assert.deepEqual(fields['lock'], value('unlocked'));
});

test('the poorly installed door acknowledges, and its fault stays raised: it is never locked', async () => {
  const door = open('bad-door');
  assert.equal((await door.send({ lock: 'locked' }, { step: stepOf(door, 'lock') })).class, 'accepted');
  const deadline = Date.now() + 15_000;
  let { sample } = await door.read();
  while (sample.faults['jammed'] !== 'raised' && Date.now() < deadline) {
    await sleep(250);
    sample = (await door.read()).sample;
  }
  assert.equal(sample.faults['jammed'], 'raised');
  assert.notDeepEqual(sample.fields['lock'], value('locked'));
  assert.equal((await home.state('lock.poorly_installed_door')).state, 'jammed');
});

test('a call that changes nothing is an acknowledgement all the same', async () => {
  const plug = open('plug');
  await plug.send({ power: 'off' }, { step: stepOf(plug, 'turn_off') });
  const again = await plug.send({ power: 'off' }, { step: stepOf(plug, 'turn_off') });
  assert.deepEqual([again.class, again.reply?.body], ['accepted', '[]']);
});

test('an unknown entity: unreadable, objected to, and refused although Home Assistant answers 200', async () => {
  for (const [id, entity, desired] of [
    ['nobody', 'climate.nobody', { temperature: 21 }],
    ['no-lamp', 'light.nobody', { power: 'on' }],
  ] as const) {
    const device = open(id);
    const read = await device.read();
    assert.equal(read.sample.trouble, `Home Assistant has no entity ${entity}`);
    assert.equal(
      device.adapter.objection(device.device, desired, read),
      `Home Assistant has no entity ${entity}`,
    );
    const step = device.device.send.find((one) =>
      Object.keys(desired).every((name) => one.for.includes(name)),
    );
    const sent = await device.send(desired, { step: step?.index ?? -1 });
    assert.equal(sent.class, 'refused');
    assert.equal(sent.detail, `HTTP 200, but Home Assistant has no entity ${entity}`);
  }
});

test('a bad token: signed out and unreadable, named without the token', async () => {
  for (const [id, desired] of [
    ['stranger-hvac', { temperature: 21 }],
    ['stranger-plug', { power: 'on' }],
  ] as const) {
    const device = open(id);
    const step = device.device.send.find((one) =>
      Object.keys(desired).every((name) => one.for.includes(name)),
    );
    const results = [await device.send(desired, { step: step?.index ?? -1 }), await device.read()] as const;
    assert.equal(results[0].class, 'signedOut');
    assert.equal(results[0].detail, 'Home Assistant does not accept the access token (HTTP 401)');
    assert.equal(results[1].sample.trouble, 'Home Assistant does not accept the access token (HTTP 401)');
    assert.ok(!JSON.stringify(results).includes('not-a-token'));
  }
});

test('what the entity itself rules out is objected to before anything is sent', async () => {
  const objections: readonly (readonly [string, Desired, RegExp | null])[] = [
    ['hvac', { temperature: 99 }, /^temperature 99 °C is outside what climate\.hvac allows: 7 °C to 35 °C$/],
    ['hvac', { temperature: 6.5 }, /7 °C to 35 °C/],
    ['hvac', { temperature: 35 }, null],
    [
      'hvac',
      { mode: 'heat_cool' },
      /^climate\.hvac has no mode heat_cool; it has off \| heat \| cool \| auto \| dry \| fan_only$/,
    ],
    ['hvac', { mode: 'dry' }, null],
    [
      'ecobee',
      { temperature: 22 },
      /climate\.ecobee can't be given its temperature: it doesn't support one target temperature/,
    ],
    ['ecobee', { mode: 'cool', temperature: 22 }, null],
    ['preset-fan', { percentage: 50 }, /fan\.preset_only_limited_fan can't be given its percentage/],
    ['fan', { percentage: 50 }, null],
    [
      'garage',
      { position: 50 },
      /cover\.garage_door can't be given its position: it doesn't support positions/,
    ],
    ['garage', { door: 'open' }, null],
    ['lamp', { brightness: 50 }, null],
    ['plug', { power: 'on' }, null],
  ];
  for (const [id, desired, expected] of objections) {
    const device = open(id);
    const objection = device.adapter.objection(device.device, desired, await device.read());
    if (expected === null) assert.equal(objection, null, `${id} ${JSON.stringify(desired)}`);
    else assert.match(objection ?? 'no objection', expected);
  }
});

test('temperature 99, sent all the same, is answered 500: it may have acted', async () => {
  const hvac = open('hvac');
  const result = await hvac.send({ temperature: 99 }, { step: stepOf(hvac, 'set_temperature') });
  assert.equal(result.class, 'maybe');
  assert.match(result.detail, /^HTTP 500/);
  assert.notEqual((await home.state('climate.hvac')).attributes['temperature'], 99);
});
