/** Importing again: what somebody made of the catalogue stays, and is told where it differs. */
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { homeAssistantProposals } from '../../../domain/import/home-assistant.ts';
import { type ImportPlan, planImport } from '../../../domain/import/plan.ts';
import { catalogueOf } from '../catalogue/loading.ts';

interface Entity {
  readonly entity_id: string;
  readonly attributes: Readonly<Record<string, unknown>>;
}
const entity = (id: string, attributes: Entity['attributes'] = {}): Entity => ({
  entity_id: id,
  attributes: { friendly_name: id.split('.')[1], ...attributes },
});

const CONTENT = { kind: 'home-assistant', baseUrl: 'http://127.0.0.1:8123', auth: { bearer: '${HA_TOKEN}' } };
const environment = { HA_TOKEN: 'x' };

async function imported(
  text: string,
  entities: readonly Entity[],
  more: {
    readonly prune?: boolean;
    readonly unit?: string;
    readonly areas?: ReadonlyMap<string, string>;
  } = {},
): Promise<ImportPlan> {
  const catalogue = text === '' ? null : await catalogueOf(text, { environment });
  const states = JSON.parse(JSON.stringify(entities)) as never;
  return await planImport({
    text,
    catalogue,
    connection: { name: 'house', content: CONTENT, isNew: catalogue === null },
    found: homeAssistantProposals({
      states,
      temperatureUnit: more.unit ?? '°C',
      areas: more.areas ?? new Map(),
    }),
    isWanted: () => true,
    prune: more.prune ?? false,
    guard: true,
  });
}

const HOUSE = [
  entity('light.hall', { supported_color_modes: ['brightness'] }),
  entity('lock.door'),
  entity('climate.bedroom', {
    hvac_modes: ['off', 'cool'],
    min_temp: 16,
    max_temp: 30,
    target_temp_step: 0.5,
  }),
];

describe('importing again', () => {
  it('takes no longer a device where there are many', async () => {
    const took = async (count: number): Promise<number> => {
      const house = Array.from({ length: count }, (_, index) => entity(`light.lamp_${index}`));
      const { text } = await imported('', house);
      const since = performance.now();
      assert.equal((await imported(text, house)).same.length, count);
      return performance.now() - since;
    };
    await took(20);
    // Ten times the devices took a hundred times as long; up to thirty times is a busy machine.
    const few = await took(40);
    const many = await took(400);
    assert.ok(many < 30 * few, `${few} ms for 40, ${many} ms for 400`);
  });

  it('changes nothing where nothing has changed', async () => {
    const first = await imported('', HOUSE);
    const again = await imported(first.text, HOUSE);
    assert.equal(again.text, first.text);
    assert.deepEqual([again.added, again.differing, again.gone], [[], [], []]);
    assert.deepEqual(again.same, ['hall', 'door', 'bedroom']);
  });

  it('keeps what was changed by hand, and tells where the house says otherwise', async () => {
    const { text } = await imported('', HOUSE);
    const edited = text
      .replace('name: hall', 'name: Hall lamp # by the door')
      .replace('{ min: 16, max: 30, step: 0.5 }', '{ min: 18, max: 26, step: 0.5 }')
      .replace('entity: light.hall', 'entity: light.hall\n    fields: { brightness: null }');
    const again = await imported(edited, HOUSE, { areas: new Map([['lock.door', 'Hall']]) });
    assert.equal(again.text, edited);
    assert.deepEqual(again.differing, [
      { id: 'hall', differences: ['it is called "hall", in the catalogue "Hall lamp"'] },
      { id: 'door', differences: ['it is in "Hall", in the catalogue nowhere'] },
      {
        id: 'bedroom',
        differences: ['temperature is 16–30 °C, step 0.5, in the catalogue 18–26 °C, step 0.5'],
      },
    ]);
  });

  it('keeps ids, whatever they were changed to, and gives none twice', async () => {
    const { text } = await imported('', HOUSE);
    const edited = text.replace('  hall:\n', '  lamp-1:\n    aliases: [hall-lamp]\n');
    const again = await imported(edited, [...HOUSE, entity('switch.door'), entity('fan.hall_lamp')]);
    assert.deepEqual(again.same, ['lamp-1', 'door', 'bedroom']);
    assert.deepEqual(
      again.added.map(({ id }) => id),
      ['door-switch', 'hall-lamp-fan'],
    );
  });

  it('gives ids that do not depend on the order', async () => {
    const both = [entity('switch.attic'), entity('light.attic')];
    const ids = async (entities: readonly Entity[]) =>
      (await imported('', entities)).added.map(({ id, identity }) => `${identity}=${id}`).sort();
    assert.deepEqual(await ids(both), await ids([...both].reverse()));
    assert.deepEqual(await ids(both), ['light.attic=attic-light', 'switch.attic=attic-switch']);
  });

  it('reports what is not there any more, and takes it out only when told to', async () => {
    const { text } = await imported('', HOUSE);
    const left = HOUSE.slice(1);
    const told = await imported(text, left);
    assert.deepEqual(
      [told.text, told.gone],
      [text, [{ id: 'hall', identity: 'light.hall', removed: false }]],
    );
    const pruned = await imported(text, left, { prune: true });
    assert.deepEqual(pruned.gone, [{ id: 'hall', identity: 'light.hall', removed: true }]);
    assert.deepEqual(Object.keys((await catalogueOf(pruned.text, { environment })).devices), [
      'door',
      'bedroom',
    ]);
  });

  it('does not call an entity gone that nothing can be imported of any more', async () => {
    const { text } = await imported('', HOUSE);
    const bare = [...HOUSE.slice(1), entity('light.hall'), entity('vacuum.hall', { supported_features: 0 })];
    const withVacuum = `${text}\n`.replace(
      'devices:\n',
      'devices:\n  robot: { connection: house, entity: vacuum.hall }\n',
    );
    assert.deepEqual((await imported(withVacuum, bare, { prune: true })).gone, []);
  });
});

describe('what an import adds for safety', () => {
  it('is a rule for each way in, and none that would match nothing', async () => {
    const { text } = await imported('', [
      entity('cover.garage', { device_class: 'garage', supported_features: 3 }),
      entity('cover.blind', { device_class: 'blind', supported_features: 15, current_position: 3 }),
      entity('valve.water', { supported_features: 7, current_position: 0 }),
      entity('alarm_control_panel.home', { supported_features: 63 }),
    ]);
    const { approvals } = await catalogueOf(text, { environment });
    assert.deepEqual(
      approvals.map(({ for: { tag, field }, by }) => `${tag} ${field} ${by}`),
      [
        'gate door operator',
        'cover door requester',
        'cover position requester',
        'valve valve operator',
        'valve position operator',
        'alarm alarm operator',
      ],
    );
  });

  it('is nothing where the user has thought of it already', async () => {
    const { text } = await imported('', [entity('light.hall')]);
    const own = `${text}approvals: [{ for: { area: Hall }, by: requester }]\n`.replace(
      'name: hall',
      'name: hall\n    area: Hall',
    );
    const again = await imported(own, [entity('light.hall'), entity('lock.door')], {
      areas: new Map([['lock.door', 'Hall']]),
    });
    assert.deepEqual([again.added.length, again.approvals], [1, []]);
  });

  it('is there all the same where a rule thinks of large batches, of the night, or of big changes', async () => {
    const { text } = await imported('', [entity('light.hall')]);
    for (const rule of [
      '{ when: $batch.size > 5, by: operator }',
      '{ between: "23:00-06:00", by: requester }',
      '{ for: { field: lock }, between: "23:00-06:00", by: requester }',
    ]) {
      const own = `timezone: Europe/Berlin\n${text}  front: { connection: house, entity: lock.front }\napprovals: [${rule}]\n`;
      const again = await imported(own, [entity('light.hall'), entity('lock.door')]);
      assert.deepEqual([again.added.length, again.approvals.length], [1, 1], rule);
    }
  });
});

describe('what an entity tells of itself', () => {
  const fieldsOf = async (one: Entity, unit = '°C') =>
    (await imported('', [one, entity('lock.other')], { unit })).added.find(
      ({ identity }) => identity === one.entity_id,
    )?.fields;

  it('narrows fields, removes what it lacks, and leaves to be read what can only be read', async () => {
    assert.deepEqual(await fieldsOf(entity('light.plain', { supported_color_modes: ['onoff'] })), {
      power: 'on | off',
    });
    assert.deepEqual(await fieldsOf(entity('cover.stuck', { supported_features: 3, current_position: 20 })), {
      position: 'read only',
      door: 'open | closed',
    });
    assert.deepEqual(
      await fieldsOf(entity('number.volume', { min: 0, max: 11, step: 1, unit_of_measurement: 'dB' })),
      {
        value: '0–11 dB, step 1',
      },
    );
    assert.deepEqual(await fieldsOf(entity('select.speed', { options: ['low', 'high', '${HA_TOKEN}'] })), {
      option: 'low | high',
    });
  });

  it('keeps to whole steps of a thermostat whose limits lie between two', async () => {
    const heater = entity('water_heater.tank', {
      min_temp: 43.3,
      max_temp: 60.2,
      target_temp_step: 1,
      supported_features: 1,
    });
    assert.deepEqual(await fieldsOf(heater), { mode: 'read only', temperature: '44–60 °C, step 1' });
  });

  it('is in °F where the house is', async () => {
    const ac = entity('climate.ac', { hvac_modes: ['off', 'cool'], min_temp: 60, max_temp: 86 });
    assert.deepEqual((await fieldsOf(ac, '°F'))?.['temperature'], '60–86 °F');
  });

  it('names are strangers’ text: one line, nothing hidden, nothing to be filled in', async () => {
    const { text, added } = await imported('', [
      entity('light.x', { friendly_name: 'Lamp\u202e\n# by: nobody\n${HA_TOKEN} \u0007' }),
      entity('light.y', { friendly_name: '=$secret.token' }),
      entity('light.__proto__', { friendly_name: { toString: 'no' } }),
    ]);
    assert.deepEqual(
      added.map(({ name }) => name),
      ['Lamp # by: nobody $ {HA_TOKEN}', '=$secret.token', '__proto__'],
    );
    assert.equal(text.match(/\$\{HA_TOKEN\}/g)?.length, 1, 'only in the connection');
  });
});
