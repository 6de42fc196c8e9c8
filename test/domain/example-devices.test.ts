/** Every device of the two example catalogues, from what is asked to the request, and from a realistic reply to the fields. */
import assert from 'node:assert/strict';
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { before, describe, it } from 'node:test';
import type { Catalogue, DeviceDefinition } from '../../domain/catalogue/definition.ts';
import { loadCatalogue } from '../../domain/catalogue/load.ts';
import { compare } from '../../domain/comparison.ts';
import { parseDesired } from '../../domain/desired.ts';
import type { DeviceReply, ReadContext } from '../../domain/exchange.ts';
import { classifyReply, interpretRead } from '../../domain/interpretation.ts';
import { renderRead, renderSend, renderTemplate } from '../../domain/rendering.ts';
import { planSteps } from '../../domain/steps.ts';
import type { Desired, Json, Reading, Value } from '../../domain/values.ts';

const EXAMPLES = join(import.meta.dirname, '../../examples');
const SECRETS = [
  'VENDOR_TOKEN',
  'HA_TOKEN',
  'MQTT_PASSWORD',
  'SB_TOKEN',
  'SB_SECRET',
  'TESLA_ID',
  'REMO',
  'HUE',
  'SHELLY',
  'ID',
  'SECRET',
  'SENSIBO',
  'HA',
  'T',
  'S',
];

let tour: Catalogue;
let apis: Catalogue;

before(async () => {
  [tour, apis] = (await Promise.all(['tour.yaml', 'apis.yaml'].map(load))) as [Catalogue, Catalogue];
});

async function load(file: string): Promise<Catalogue> {
  const loaded = await loadCatalogue({
    file: join(EXAMPLES, file),
    readFile: (path) => (path.startsWith(EXAMPLES) ? readFile(path, 'utf8') : 'a secret'),
    environment: Object.fromEntries(SECRETS.map((name) => [name, `secret-${name}`])),
  });
  assert.ok(loaded.ok, loaded.ok ? '' : JSON.stringify(loaded.problems, null, 2));
  return loaded.catalogue;
}

function deviceOf(catalogue: Catalogue, id: string): DeviceDefinition {
  const found = catalogue.devices[id];
  assert.ok(found, `no device ${id}`);
  return found;
}

const values = (known: Readonly<Record<string, Value>>): Record<string, Reading> =>
  Object.fromEntries(Object.entries(known).map(([name, value]) => [name, { kind: 'value', value }]));

/** `METHOD path body` of each request of a command, in order; or why there is none. */
async function requestsFor(
  one: DeviceDefinition,
  asked: Desired,
  current: Readonly<Record<string, Value>> = {},
): Promise<string[]> {
  const parsed = parseDesired(one, asked);
  if (!parsed.ok) return parsed.problems;
  const readings = values(current);
  const plan = planSteps(one, parsed.desired, readings);
  if (!plan.ok) return [plan.why];
  return Promise.all(
    plan.steps.map(async ({ step, fields }) => {
      const rendered = await renderSend(one, step, fields, parsed.desired, readings);
      return rendered.ok
        ? [rendered.request.method, rendered.request.path, rendered.request.body]
            .filter((part) => part !== null)
            .join(' ')
        : rendered.why;
    }),
  );
}

async function readOf(one: DeviceDefinition, bodies: Json, context: Partial<ReadContext> = {}) {
  const names = Object.keys(one.read?.requests ?? {});
  const replies: Record<string, DeviceReply> = {};
  for (const name of names) {
    const body = one.read?.single ? bodies : (bodies as Readonly<Record<string, Json>>)[name];
    replies[name] = { status: 200, headers: {}, body: body ?? null };
  }
  const { sample } = await interpretRead(
    one,
    replies,
    { desired: null, before: null, kept: {}, baselineDeviceAt: null, ...context },
    0,
  );
  return sample;
}

/** Field values as read, `unreadable` or `notApplicable` in their places. */
async function fieldsOf(one: DeviceDefinition, bodies: Json) {
  const { fields } = await readOf(one, bodies);
  return Object.fromEntries(
    Object.entries(fields).map(([name, reading]) => [
      name,
      reading.kind === 'value' ? reading.value : reading.kind,
    ]),
  );
}

async function readRequests(one: DeviceDefinition): Promise<string[]> {
  const rendered = await renderRead(one, {});
  assert.ok(rendered.ok);
  return Object.values(rendered.requests).map(({ method, path }) => `${method} ${path}`);
}

describe('the devices of the tour', () => {
  it('desk-lamp and shelf-lamp: topics, and a brightness from 0 to 254', async () => {
    const lamp = deviceOf(tour, 'desk-lamp');
    assert.deepEqual(await requestsFor(lamp, { brightness: 50 }, { power: 'on' }), [
      'PUBLISH zigbee2mqtt/desk/set {"brightness":127}',
    ]);
    assert.deepEqual(await requestsFor(lamp, { power: 'off' }), [
      'PUBLISH zigbee2mqtt/desk/set {"state":"OFF"}',
    ]);
    assert.deepEqual(await requestsFor(lamp, { brightness: 50 }, { power: 'off' }), [
      'brightness applies only while power is on, and it is off',
    ]);
    assert.deepEqual(await fieldsOf(lamp, { state: 'On', brightness: 254 }), {
      power: 'on',
      brightness: 100,
    });
    assert.deepEqual(await fieldsOf(lamp, { state: 'OFF', brightness: 254 }), {
      power: 'off',
      brightness: 'notApplicable',
    });
    assert.match(
      (await requestsFor(deviceOf(tour, 'shelf-lamp'), { brightness: 3 })).join(),
      /brightness 3 is outside 5–100 % for shelf-lamp/,
    );
  });

  it('curtain: 100 is open for us and 0 for it', async () => {
    const curtain = deviceOf(tour, 'curtain');
    assert.deepEqual(await requestsFor(curtain, { position: 70 }), [
      'POST /v1.1/devices/C271/commands {"command":"setPosition","commandType":"command","parameter":"0,ff,30"}',
    ]);
    assert.deepEqual(await readRequests(curtain), ['GET /v1.1/devices/C271/status']);
    const sample = await readOf(curtain, { statusCode: 100, body: { slidePosition: 31, moving: 69 } });
    assert.equal(sample.moving, false);
    const position = curtain.fields['position'];
    assert.ok(position);
    assert.equal(
      compare(position, 70, sample.fields['position'] ?? { kind: 'unreadable', why: '' }),
      'adjusted',
    );
    assert.match(
      (await readOf(curtain, { statusCode: 190, body: {}, message: 'wrong device' })).trouble ?? '',
      /refused/,
    );
  });

  it('S10: bedroom-ac: mode before temperature, each with its own request', async () => {
    const ac = deviceOf(tour, 'bedroom-ac');
    assert.deepEqual(await requestsFor(ac, { temperature: 22, mode: 'Heat' }, { mode: 'cool' }), [
      'PATCH /units/1/mode {"value":"heating"}',
      'PATCH /units/1/setpoint {"value":22,"path":"/modes/heating"}',
    ]);
    assert.deepEqual(await requestsFor(ac, { temperature: 22 }, { mode: 'cool' }), [
      'PATCH /units/1/setpoint {"value":22,"path":"/modes/cooling"}',
    ]);
    assert.deepEqual(await requestsFor(ac, { temperature: 22 }), [
      "the request needs the present mode, and it can't be read (not read)",
    ]);
    const list = [
      { id: '2', online: true, mode: 'heating', temperature: 20 },
      { id: '1', online: true, measuredAt: 17, mode: 'cooling', temperature: 26 },
    ];
    assert.deepEqual(await fieldsOf(ac, list), { mode: 'cool', temperature: 26 });
    assert.equal((await readOf(ac, list)).deviceAt, '17');
    assert.deepEqual(await fieldsOf(ac, [{ id: '1', online: true, mode: 'fanOnly', temperature: 0 }]), {
      mode: 'fan_only',
      temperature: 'notApplicable',
    });
    assert.match(
      (await readOf(ac, [{ id: '1', online: false, mode: 'cooling', temperature: 26 }])).trouble ?? '',
      /not available/,
    );
    const refresh = ac.read?.refresh?.request;
    assert.ok(refresh);
    const rendered = await renderTemplate(ac, refresh, {});
    assert.deepEqual(rendered.ok && [rendered.request.method, rendered.request.path], [
      'POST',
      '/units/1/poll',
    ]);
  });

  it('V1: attic-ac: asked in °F, sent in tenths of °C', async () => {
    const ac = deviceOf(tour, 'attic-ac');
    assert.deepEqual(await requestsFor(ac, { temperature: 73 }, { mode: 'cool' }), [
      'PATCH /units/2/setpoint {"value":22.7,"path":"/modes/cooling"}',
    ]);
    const { fields } = await readOf(ac, [{ id: '2', online: true, mode: 'cooling', temperature: 22.7 }]);
    const temperature = ac.fields['temperature'];
    assert.ok(temperature);
    assert.equal(
      compare(temperature, 73, fields['temperature'] ?? { kind: 'unreadable', why: '' }),
      'adjusted',
    );
  });

  it('heater: the simplest device holds only what was asked', async () => {
    const heater = deviceOf(tour, 'heater');
    assert.deepEqual(await requestsFor(heater, { temperature: 21.5 }), ['PUT /heater {"temperature":21.5}']);
    assert.deepEqual(await requestsFor(heater, { power: 'on' }), ['PUT /heater {"power":"on"}']);
    assert.deepEqual(await fieldsOf(heater, { power: true, temperature: '21.5' }), {
      power: 'on',
      temperature: 21.5,
    });
  });

  it('car: a declared answer decides, and a sleeping one is no reading', async () => {
    const car = deviceOf(tour, 'car');
    assert.deepEqual(await requestsFor(car, { limit: 80 }), [
      'POST /api/1/vehicles/5YJ3/command/set_charge_limit {"percent":80}',
    ]);
    assert.deepEqual(await fieldsOf(car, { response: { charge_state: { charge_limit_soc: 80 } } }), {
      limit: 80,
    });
    const classOf = (status: number, body: Json) => classifyReply(car.reply, { status, headers: {}, body });
    assert.equal(await classOf(408, { response: null, error: 'vehicle unavailable' }), 'asleep');
    assert.equal(await classOf(200, { response: { result: false, reason: 'already_set' } }), 'already');
    assert.equal(await classOf(200, { response: { result: true, reason: '' } }), 'accepted');
    const wake = car.wake?.request;
    assert.ok(wake);
    const rendered = await renderTemplate(car, wake, {});
    assert.equal(rendered.ok && rendered.request.path, '/api/1/vehicles/5YJ3/wake_up');
  });

  it('R7: front-lock: a word in the path, two reads, a contact that must agree, a fault that vetoes', async () => {
    const lock = deviceOf(tour, 'front-lock');
    assert.deepEqual(await requestsFor(lock, { lock: 'locked' }), ['POST /lock/lock']);
    assert.deepEqual(await readRequests(lock), ['GET /lock', 'GET /contact']);
    const desired = { lock: 'locked' };
    const jammed = await readOf(
      lock,
      { lock: { state: 'LOCKED', status: 'jammed' }, contact: { open: true } },
      { desired },
    );
    assert.deepEqual(
      [jammed.fields['lock'], jammed.faults, jammed.confirmed],
      [{ kind: 'value', value: 'locked' }, { jammed: 'raised' }, { lock: false }],
    );
    const closed = await readOf(
      lock,
      { lock: { state: 'LOCKED', status: 'ok' }, contact: { open: false } },
      { desired },
    );
    assert.deepEqual([closed.faults, closed.confirmed], [{ jammed: 'clear' }, { lock: true }]);
  });

  it('gate and pump: moving by state, and a power derived from watts', async () => {
    const gate = deviceOf(tour, 'gate');
    const opening = await readOf(gate, { state: 'opening' });
    assert.deepEqual([opening.moving, opening.fields['door']?.kind], [true, 'unreadable']);
    assert.deepEqual(await fieldsOf(gate, { state: 'closed' }), { door: 'closed' });
    const pump = deviceOf(tour, 'pump');
    assert.deepEqual(await requestsFor(pump, { power: 'off' }), ['POST /relay?turn=off']);
    for (const [watts, power] of [
      [35, 'on'],
      [0.4, 'off'],
      [12, 'unreadable'],
    ] as const)
      assert.deepEqual(await fieldsOf(pump, { watts }), { power });
  });

  it('hall-lamp: Home Assistant’s own services', async () => {
    const lamp = deviceOf(tour, 'hall-lamp');
    assert.deepEqual(await requestsFor(lamp, { power: 'on', brightness: 50 }), [
      'POST /api/services/light/turn_on {"entity_id":"light.hall","brightness":128}',
    ]);
    assert.deepEqual(await requestsFor(lamp, { power: 'off' }), [
      'POST /api/services/light/turn_off {"entity_id":"light.hall"}',
    ]);
    assert.deepEqual(await fieldsOf(lamp, { state: 'off', attributes: { brightness: null } }), {
      power: 'off',
      brightness: 'notApplicable',
    });
    assert.match(
      (await readOf(lamp, { state: 'unavailable', attributes: {} })).trouble ?? '',
      /not available/,
    );
  });
});

describe('the devices of real APIs', () => {
  it('remo-ac: a whole-state form, filled from a fresh read', async () => {
    const ac = deviceOf(apis, 'remo-ac');
    assert.deepEqual(
      await requestsFor(ac, { temperature: 22 }, { power: 'on', mode: 'heat', temperature: 20 }),
      ['POST /1/appliances/A1/aircon_settings button=&operation_mode=warm&temperature=22'],
    );
    assert.deepEqual(
      await requestsFor(ac, { mode: 'fan_only' }, { power: 'on', mode: 'cool', temperature: 20 }),
      ['POST /1/appliances/A1/aircon_settings button=&operation_mode=blow'],
    );
    const reply = [
      { id: 'B0', settings: {} },
      { id: 'A1', settings: { temp: '26', mode: 'cool', vol: 'auto', button: '' } },
    ];
    assert.deepEqual(await fieldsOf(ac, reply), { power: 'on', mode: 'cool', temperature: 26 });
  });

  it('hue-lamp: partial trees, a colour in mired, errors in a 200', async () => {
    const lamp = deviceOf(apis, 'hue-lamp');
    assert.deepEqual(await requestsFor(lamp, { brightness: 50 }, { power: 'on' }), [
      'PUT /clip/v2/resource/light/L1 {"dimming":{"brightness":50}}',
    ]);
    assert.deepEqual(await requestsFor(lamp, { power: 'on', colour_temperature: 2700 }), [
      'PUT /clip/v2/resource/light/L1 {"on":{"on":true},"color_temperature":{"mirek":370}}',
    ]);
    const reply = {
      errors: [],
      data: [
        { id: 'L1', on: { on: true }, dimming: { brightness: 49.8 }, color_temperature: { mirek: 366 } },
      ],
    };
    const { fields } = await readOf(lamp, reply);
    assert.deepEqual(fields['power'], { kind: 'value', value: 'on' });
    const { brightness, colour_temperature: colour } = lamp.fields;
    assert.ok(brightness && colour);
    assert.equal(
      compare(brightness, 50, fields['brightness'] ?? { kind: 'unreadable', why: '' }),
      'adjusted',
    );
    assert.equal(
      compare(colour, 2700, fields['colour_temperature'] ?? { kind: 'unreadable', why: '' }),
      'adjusted',
    );
    const soft = {
      errors: [{ description: 'device (light) has communication issues, command (on) may not have effect' }],
    };
    assert.equal(await classifyReply(lamp.reply, { status: 200, headers: {}, body: soft }), 'maybe');
    assert.equal(
      await classifyReply(lamp.reply, {
        status: 200,
        headers: {},
        body: { errors: [{ description: 'invalid' }] },
      }),
      'refused',
    );
    assert.match((await readOf(lamp, { errors: [], data: [] })).trouble ?? '', /doesn't list this device/);
  });

  it('plug: a parameter with a default, a fault, a field that is read only', async () => {
    const plug = deviceOf(apis, 'plug');
    assert.deepEqual(await requestsFor(plug, { power: 'off' }), ['POST /rpc/Switch.Set {"id":0,"on":false}']);
    assert.deepEqual(await readRequests(plug), ['GET /rpc/Switch.GetStatus?id=0']);
    const sample = await readOf(plug, { id: 0, output: true, apower: 8.9 });
    assert.deepEqual(
      [sample.fields['power'], sample.fields['load'], sample.faults],
      [{ kind: 'value', value: 'on' }, { kind: 'value', value: 8.9 }, { overload: 'clear' }],
    );
    assert.deepEqual((await readOf(plug, { output: false, apower: 0, errors: ['overpower'] })).faults, {
      overload: 'raised',
    });
    assert.match((await requestsFor(plug, { load: 5 })).join(), /read only/);
  });

  it('blind: moving by state, unreadable until calibrated, obstruction as a fault', async () => {
    const blind = deviceOf(apis, 'blind');
    assert.deepEqual(await requestsFor(blind, { position: 70 }), [
      'POST /rpc/Cover.GoToPosition {"id":0,"pos":70}',
    ]);
    const moving = await readOf(blind, { state: 'opening', current_pos: 40, pos_control: true });
    assert.deepEqual(
      [moving.moving, moving.fields['position'], moving.faults],
      [true, { kind: 'value', value: 40 }, { obstruction: 'clear', timeout: 'clear' }],
    );
    const stuck = await readOf(blind, {
      state: 'stopped',
      current_pos: 40,
      pos_control: true,
      errors: ['obstruction'],
      move_timeout: true,
    });
    assert.deepEqual(stuck.faults, { obstruction: 'raised', timeout: 'raised' });
    assert.match(
      (await readOf(blind, { state: 'stopped', pos_control: false })).trouble ?? '',
      /not available/,
    );
  });

  it('S10: daikin: power, mode, temperature, and a path that names the mode', async () => {
    const daikin = deviceOf(apis, 'daikin');
    const path = '/gateway-devices/G1/management-points/climateControl/characteristics';
    assert.deepEqual(await requestsFor(daikin, { temperature: 22.5, mode: 'cool', power: 'on' }), [
      `PATCH ${path}/onOffMode {"value":"on"}`,
      `PATCH ${path}/operationMode {"value":"cooling"}`,
      `PATCH ${path}/temperatureControl {"value":22.5,"path":"/operationModes/cooling/setpoints/roomTemperature"}`,
    ]);
    const point = {
      embeddedId: 'climateControl',
      onOffMode: { value: 'on' },
      operationMode: { value: 'heating' },
      temperatureControl: {
        value: { operationModes: { heating: { setpoints: { roomTemperature: { value: 21 } } } } },
      },
    };
    const reply = (up: boolean) => ({
      timestamp: 't1',
      isCloudConnectionUp: { value: up },
      managementPoints: [{ embeddedId: 'gateway' }, point],
    });
    assert.deepEqual(await fieldsOf(daikin, reply(true)), { power: 'on', mode: 'heat', temperature: 21 });
    assert.equal((await readOf(daikin, reply(true))).deviceAt, 't1');
    assert.match((await readOf(daikin, reply(false))).trouble ?? '', /not available/);
    const fan = { ...point, operationMode: { value: 'fanOnly' } };
    assert.deepEqual(await fieldsOf(daikin, { ...reply(true), managementPoints: [fan] }), {
      power: 'on',
      mode: 'fan_only',
      temperature: 'notApplicable',
    });
  });

  it('sensibo: a whole state that keeps its constants', async () => {
    const sensibo = deviceOf(apis, 'sensibo');
    assert.deepEqual(
      await requestsFor(sensibo, { temperature: 22 }, { power: 'on', mode: 'cool', temperature: 20 }),
      [
        'POST /pods/P1/acStates {"acState":{"on":true,"mode":"cool","targetTemperature":22,"temperatureUnit":"C"}}',
      ],
    );
    const state = (alive: boolean) => ({
      status: 'success',
      result: {
        acState: { on: true, mode: 'cool', targetTemperature: 22 },
        connectionStatus: { isAlive: alive },
      },
    });
    assert.deepEqual(await fieldsOf(sensibo, state(true)), { power: 'on', mode: 'cool', temperature: 22 });
    assert.match((await readOf(sensibo, state(false))).trouble ?? '', /not available/);
    assert.equal(await classifyReply(sensibo.reply, { status: 204, headers: {}, body: null }), 'accepted');
  });

  it('web: replicas that are absent at zero, a confirmation, a generation that must have caught up', async () => {
    const web = deviceOf(apis, 'web');
    assert.deepEqual(await requestsFor(web, { replicas: 3 }), [
      'PATCH /apis/apps/v1/namespaces/shop/deployments/web {"spec":{"replicas":3}}',
    ]);
    const reply = (status: Json) => ({ metadata: { generation: 2 }, status });
    const desired = { replicas: 0 };
    const down = await readOf(
      web,
      reply({ observedGeneration: 2, conditions: [{ type: 'Progressing', status: 'True' }] }),
      { desired },
    );
    assert.deepEqual(
      [down.fields['replicas'], down.confirmed, down.faults],
      [{ kind: 'value', value: 0 }, { replicas: true }, { stuck: 'clear' }],
    );
    const stuck = await readOf(
      web,
      reply({ observedGeneration: 2, replicas: 3, conditions: [{ type: 'Progressing', status: 'False' }] }),
      { desired },
    );
    assert.deepEqual([stuck.confirmed, stuck.faults], [{ replicas: false }, { stuck: 'raised' }]);
    assert.match((await readOf(web, reply({ observedGeneration: 1 }))).trouble ?? '', /not fresh/);
  });

  it('ha-lamp and ha-ac: the step follows the state that is asked for', async () => {
    const lamp = deviceOf(apis, 'ha-lamp');
    assert.deepEqual(await requestsFor(lamp, { brightness: 100 }, { power: 'on' }), [
      'POST /api/services/light/turn_on {"entity_id":"light.desk","brightness":255}',
    ]);
    assert.deepEqual(await requestsFor(lamp, { power: 'off' }), [
      'POST /api/services/light/turn_off {"entity_id":"light.desk"}',
    ]);
    const ac = deviceOf(apis, 'ha-ac');
    assert.deepEqual(await requestsFor(ac, { temperature: 21, mode: 'cool' }), [
      'POST /api/services/climate/set_hvac_mode {"entity_id":"climate.ac","hvac_mode":"cool"}',
      'POST /api/services/climate/set_temperature {"entity_id":"climate.ac","temperature":21}',
    ]);
    const idle = { state: 'cool', last_updated: 'x', attributes: { hvac_action: 'idle', temperature: 21 } };
    assert.deepEqual(await fieldsOf(ac, idle), { mode: 'cool', action: 'idle', temperature: 21 });
    const fan = { state: 'fan_only', attributes: { hvac_action: 'fan', temperature: null } };
    assert.deepEqual(await fieldsOf(ac, fan), {
      mode: 'fan_only',
      action: 'fan',
      temperature: 'notApplicable',
    });
  });

  it('ir-tv: sent, never read', async () => {
    const tv = deviceOf(apis, 'ir-tv');
    assert.deepEqual(await requestsFor(tv, { power: 'on' }), [
      'POST /v1.1/devices/IR9/commands {"commandType":"command","command":"turnOn","parameter":"default"}',
    ]);
    assert.equal(tv.fields['power']?.readback, false);
    assert.equal(
      await classifyReply(tv.reply, {
        status: 200,
        headers: {},
        body: { statusCode: 190, message: 'wrong device' },
      }),
      'refused',
    );
  });

  it('S1: relay: a pulse is confirmed by its counter', async () => {
    const relay = deviceOf(apis, 'relay');
    assert.deepEqual(await requestsFor(relay, { pulse: true }), ['POST /relay/pulse {"pulse":true}']);
    const baseline = await interpretRead(
      relay,
      { body: { status: 200, headers: {}, body: { count: 4 } } },
      { desired: null, before: null, kept: {}, baselineDeviceAt: null },
      0,
    );
    for (const [count, confirmed] of [
      [4, false],
      [5, true],
    ] as const) {
      const sample = await readOf(relay, { count }, { desired: { pulse: true }, before: baseline.raw });
      assert.deepEqual(
        [sample.confirmed, sample.fields['pulse']],
        [{ pulse: confirmed }, { kind: 'value', value: confirmed }],
      );
    }
  });

  it('R4: trv: nothing is known until it reports', async () => {
    const trv = deviceOf(apis, 'trv');
    assert.deepEqual(await requestsFor(trv, { setpoint: 20.5 }), ['PUT /trv {"setpoint":20.5}']);
    assert.match((await readOf(trv, {})).trouble ?? '', /not available/);
    assert.deepEqual(await fieldsOf(trv, { setpoint: null }), { setpoint: 'unreadable' });
    assert.deepEqual(await fieldsOf(trv, { setpoint: -127 }), { setpoint: 'unreadable' });
    assert.deepEqual(await fieldsOf(trv, { setpoint: 20.5 }), { setpoint: 20.5 });
  });
});

describe('the example catalogues', () => {
  it('hold no device that this file leaves out', async () => {
    const source = await readFile(import.meta.filename, 'utf8');
    for (const id of [...Object.keys(tour.devices), ...Object.keys(apis.devices)])
      assert.ok(source.includes(`'${id}'`), id);
  });
});
