import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { compare } from '../../domain/comparison.ts';
import { type Opened, openAll } from '../activities/opened.ts';
import { type HomeAssistant, startHomeAssistant } from './instance.ts';

let home: HomeAssistant;
let open: (id: string) => Opened;

before(async () => {
  home = await startHomeAssistant('us_customary');
  open = await openAll(
    `
version: 1
connections: { house: { kind: home-assistant, baseUrl: "${home.baseUrl}", auth: { bearer: "\${HA}" } } }
devices:
  celsius: { connection: house, entity: climate.heatpump }
  fahrenheit: { connection: house, entity: climate.hvac, fields: { temperature: { type: number, unit: "°F" } } }
`,
    { HA: home.token },
  );
});
after(() => home?.stop());

test('an instance in °F: our °C are sent in °F and read back as the same temperature', async () => {
  const heatpump = open('celsius');
  const before = await heatpump.read();
  assert.deepEqual(before.sample.fields['temperature'], { kind: 'value', value: 20 });
  const step = heatpump.device.send.find((one) => one.for.includes('temperature'));
  const sent = await heatpump.send({ temperature: 26 }, { step: step?.index ?? -1 });
  assert.equal(sent.class, 'accepted', sent.detail);
  assert.equal((await home.state('climate.heatpump')).attributes['temperature'], 79, 'shown in whole °F');

  const { sample, device } = await heatpump.read();
  const [field, reading] = [device.fields['temperature'], sample.fields['temperature']];
  assert.ok(field && reading?.kind === 'value' && typeof reading.value === 'number');
  assert.ok(Math.abs(reading.value - 26.11) < 0.01);
  assert.notEqual(compare(field, 26, reading), 'unequal', 'one whole °F is as near as this instance shows');
  assert.equal(compare(field, 25, reading), 'unequal');
});

test('an instance in °F: its limits are told in our unit', async () => {
  const heatpump = open('celsius');
  const objection = heatpump.adapter.objection(heatpump.device, { temperature: 99 }, await heatpump.read());
  assert.equal(objection, 'temperature 99 °C is outside what climate.heatpump allows: 7.222 °C to 35 °C');
});

test('an instance in °F: a field in °F needs no conversion', async () => {
  const hvac = open('fahrenheit');
  const step = hvac.device.send.find((one) => one.for.includes('temperature'));
  assert.equal((await hvac.send({ temperature: 73 }, { step: step?.index ?? -1 })).class, 'accepted');
  assert.deepEqual((await hvac.read()).sample.fields['temperature'], { kind: 'value', value: 73 });
});
