import assert from 'node:assert/strict';
import { readFile } from 'node:fs/promises';
import { before, describe, it } from 'node:test';
import type { Catalogue } from '../../domain/catalogue/definition.ts';
import { compare } from '../../domain/comparison.ts';
import { classifyReply } from '../../domain/interpretation.ts';
import { renderTemplate } from '../../domain/rendering.ts';
import type { Json } from '../../domain/values.ts';
import { deviceOf, fieldsOf, loadExample, readOf, readRequests, requestsFor } from './example-devices.ts';

let catalogue: Catalogue;

before(async () => {
  catalogue = await loadExample('tour.yaml');
});

describe('the devices of the tour', () => {
  it('desk-lamp and shelf-lamp: topics, and a brightness from 0 to 254', async () => {
    const lamp = deviceOf(catalogue, 'desk-lamp');
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
      (await requestsFor(deviceOf(catalogue, 'shelf-lamp'), { brightness: 3 })).join(),
      /brightness 3 is outside 5–100 % for shelf-lamp/,
    );
  });

  it('curtain: 100 is open for us and 0 for it', async () => {
    const curtain = deviceOf(catalogue, 'curtain');
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
    const ac = deviceOf(catalogue, 'bedroom-ac');
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
    const ac = deviceOf(catalogue, 'attic-ac');
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
    const heater = deviceOf(catalogue, 'heater');
    assert.deepEqual(await requestsFor(heater, { temperature: 21.5 }), ['PUT /heater {"temperature":21.5}']);
    assert.deepEqual(await requestsFor(heater, { power: 'on' }), ['PUT /heater {"power":"on"}']);
    assert.deepEqual(await fieldsOf(heater, { power: true, temperature: '21.5' }), {
      power: 'on',
      temperature: 21.5,
    });
  });

  it('car: a declared answer decides, and a sleeping one is no reading', async () => {
    const car = deviceOf(catalogue, 'car');
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
    const lock = deviceOf(catalogue, 'front-lock');
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
    const gate = deviceOf(catalogue, 'gate');
    const opening = await readOf(gate, { state: 'opening' });
    assert.deepEqual([opening.moving, opening.fields['door']?.kind], [true, 'unreadable']);
    assert.deepEqual(await fieldsOf(gate, { state: 'closed' }), { door: 'closed' });
    const pump = deviceOf(catalogue, 'pump');
    assert.deepEqual(await requestsFor(pump, { power: 'off' }), ['POST /relay?turn=off']);
    for (const [watts, power] of [
      [35, 'on'],
      [0.4, 'off'],
      [12, 'unreadable'],
    ] as const)
      assert.deepEqual(await fieldsOf(pump, { watts }), { power });
  });

  it('hall-lamp: Home Assistant’s own services', async () => {
    const lamp = deviceOf(catalogue, 'hall-lamp');
    assert.deepEqual(await requestsFor(lamp, { power: 'on', brightness: 50 }), [
      'POST /api/services/light/turn_on {"entity_id":"light.hall","brightness":128}',
    ]);
    assert.deepEqual(await requestsFor(lamp, { power: 'off' }), [
      'POST /api/services/light/turn_off {"entity_id":"light.hall"}',
    ]);
    assert.deepEqual(await fieldsOf(lamp, { state: 'off', attributes: { brightness: null } }), {
      power: 'off',
      brightness: 'unreadable',
    });
    assert.match(
      (await readOf(lamp, { state: 'unavailable', attributes: {} })).trouble ?? '',
      /not available/,
    );
  });

  it('are all in this file', async () => {
    const source = await readFile(import.meta.filename, 'utf8');
    for (const id of Object.keys(catalogue.devices)) assert.ok(source.includes(`'${id}'`), id);
  });
});
