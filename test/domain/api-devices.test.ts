import assert from 'node:assert/strict';
import { readFile } from 'node:fs/promises';
import { before, describe, it } from 'node:test';
import type { Catalogue } from '../../domain/catalogue/definition.ts';
import { compare } from '../../domain/comparison.ts';
import { classifyReply, interpretRead } from '../../domain/interpretation.ts';
import type { Json } from '../../domain/values.ts';
import { deviceOf, fieldsOf, loadExample, readOf, readRequests, requestsFor } from './example-devices.ts';

let catalogue: Catalogue;

before(async () => {
  catalogue = await loadExample('apis.yaml');
});

describe('the devices of real APIs', () => {
  it('remo-ac: a whole-state form, filled from a fresh read', async () => {
    const ac = deviceOf(catalogue, 'remo-ac');
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
    const lamp = deviceOf(catalogue, 'hue-lamp');
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
    const plug = deviceOf(catalogue, 'plug');
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
    const blind = deviceOf(catalogue, 'blind');
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
    const daikin = deviceOf(catalogue, 'daikin');
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
    const sensibo = deviceOf(catalogue, 'sensibo');
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
    const web = deviceOf(catalogue, 'web');
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
    const lamp = deviceOf(catalogue, 'ha-lamp');
    assert.deepEqual(await requestsFor(lamp, { brightness: 100 }, { power: 'on' }), [
      'POST /api/services/light/turn_on {"entity_id":"light.desk","brightness":255}',
    ]);
    assert.deepEqual(await requestsFor(lamp, { power: 'off' }), [
      'POST /api/services/light/turn_off {"entity_id":"light.desk"}',
    ]);
    const ac = deviceOf(catalogue, 'ha-ac');
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
    const tv = deviceOf(catalogue, 'ir-tv');
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
    const relay = deviceOf(catalogue, 'relay');
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
    const trv = deviceOf(catalogue, 'trv');
    assert.deepEqual(await requestsFor(trv, { setpoint: 20.5 }), ['PUT /trv {"setpoint":20.5}']);
    assert.match((await readOf(trv, {})).trouble ?? '', /not available/);
    assert.deepEqual(await fieldsOf(trv, { setpoint: null }), { setpoint: 'unreadable' });
    assert.deepEqual(await fieldsOf(trv, { setpoint: -127 }), { setpoint: 'unreadable' });
    assert.deepEqual(await fieldsOf(trv, { setpoint: 20.5 }), { setpoint: 20.5 });
  });

  it('are all in this file', async () => {
    const source = await readFile(import.meta.filename, 'utf8');
    for (const id of Object.keys(catalogue.devices)) assert.ok(source.includes(`'${id}'`), id);
  });
});
