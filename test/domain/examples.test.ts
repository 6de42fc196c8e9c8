import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, it } from 'node:test';
import { loadCatalogue } from '../../domain/catalogue/load.ts';
import { differences } from '../../domain/examples.ts';

const PROFILE = `
version: 1
connections: { api: { kind: http, baseUrl: "https://api.example" } }
profiles:
  lamp:
    connection: api
    params: { id: required }
    send: { request: "PUT /lamps/{id}", repeatable: true }
    read: { request: GET /lamps, pick: "body[id = $id]", moving: body.fading = true }
    faults: { overheated: body.hot = true }
    fields:
      power: { type: onoff, values: { "on": ON, "off": OFF } }
      level: { type: percent, device: { range: [0, 254] }, appliesWhen: { power: ["on"] } }
    examples:
`;

async function loadedWith(examples: string, devices = 'devices: {}') {
  const yaml = `${PROFILE}${examples}\n${devices}\n`;
  return await loadCatalogue({ file: 'test.yaml', readFile: () => yaml, environment: {} });
}

async function differencesOf(examples: string, devices?: string): Promise<string[]> {
  const loaded = await loadedWith(examples, devices);
  assert.ok(loaded.ok, JSON.stringify(loaded));
  const found = await Promise.all(loaded.examples.map(differences));
  return found.flat();
}

describe('examples in profiles', () => {
  it('hold where the reply means what they say and the command becomes what they say', async () => {
    const found = await differencesOf(`
      - with: { id: L1 }
        reply: [{ id: L1, power: "On", level: 127, fading: false, hot: false }, { id: L2, power: OFF }]
        fields: { power: "on", level: 50 }
        moving: false
        faults: []
      - with: { id: L1 }
        reply: [{ id: L1, power: OFF, level: 127, hot: true }]
        fields: { level: null }
        faults: overheated
      - with: { id: a/b }
        desired: { power: "on", level: 50 }
        send: { request: PUT /lamps/a%2Fb, body: { level: 127, power: ON } }`);
    assert.deepEqual(found, []);
  });

  it('say what comes out instead', async () => {
    assert.deepEqual(
      await differencesOf(`
      - with: { id: L1 }
        reply: [{ id: L1, power: "ON", level: 254, fading: true, hot: true }]
        fields: { power: "off", level: 50, colour: red }
        moving: false
        faults: []
      - with: { id: L1 }
        status: 503
        reply: <html>
        fields: { power: "on" }
      - with: { id: L1 }
        desired: { power: "on" }
        send: [{ request: POST /lamps/L1, body: { power: 1 } }, PUT /more]`),
      [
        'fields.power: reads on, not off',
        'fields.level: reads 100 %, not 50 %',
        'fields.colour: the profile has no such field',
        'moving: is true, not false',
        'faults: overheated, not none',
        'fields.power: reads no value (the read (GET /lamps) was answered with HTTP 503), not on',
        'sends PUT /lamps/L1, not POST /lamps/L1',
        'POST /lamps/L1: its body is {"power":"ON"}, not {"power":1}',
        'does not send PUT /more',
      ],
    );
  });

  it('say why nothing would be sent', async () => {
    const [found] = await differencesOf(`
      - { with: { id: L1 }, desired: { power: dim }, send: PUT /lamps/L1 }`);
    assert.match(found ?? '', /^desired: power .*on.*off/);
  });

  it('take the parameters of the first device with the profile, where they give none', async () => {
    const example = `
      - reply: [{ id: L7, power: "ON" }]
        fields: { power: "on" }`;
    assert.deepEqual(
      await differencesOf(example, 'devices: { desk: { profile: lamp, with: { id: L7 } } }'),
      [],
    );
    const without = await loadedWith(example);
    assert.ok(!without.ok);
    assert.match(without.problems.map(({ path, message }) => `${path}: ${message}`).join(), /examples.*id/);
  });

  it('are checked for their shape like the rest of the file', async () => {
    const loaded = await loadedWith(`
      - { with: { id: L1 }, reply: [], feilds: { power: "on" } }`);
    assert.ok(!loaded.ok);
    assert.match(loaded.problems.map(({ message }) => message).join(), /Did you mean fields|fields/);
  });

  it('change no digest, and no device', async () => {
    const device = 'devices: { desk: { profile: lamp, with: { id: L7 } } }';
    const one = await loadedWith('      []', device);
    const other = await loadedWith(
      `
      - { reply: [{ id: L7, power: "ON" }], fields: { power: "on" } }`,
      device,
    );
    assert.ok(one.ok && other.ok);
    assert.equal(one.catalogue.digest, other.catalogue.digest);
    assert.deepEqual(Object.keys(other.catalogue.devices), ['desk']);
  });

  it('all hold in the catalogues that come with Readback', async () => {
    for (const name of ['deployments', 'vendor-cloud']) {
      const file = join(import.meta.dirname, '..', '..', 'examples', `${name}.yaml`);
      const loaded = await loadCatalogue({
        file,
        readFile: (path) => readFileSync(path, 'utf8'),
        environment: {},
        withoutSecrets: true,
      });
      assert.ok(loaded.ok, JSON.stringify(loaded));
      assert.ok(loaded.examples.length >= 3);
      for (const example of loaded.examples)
        assert.deepEqual(await differences(example), [], `${name} ${example.profile} ${example.index}`);
    }
  });
});
