/**
 * The whole demo house of a real Home Assistant, imported by the command line, and commands to it from the call to the
 * verified reading: one on every domain ends as it should, and docs/devices.md says how. `npm run docs:devices` writes it anew.
 */
import assert from 'node:assert/strict';
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { after, before, describe, it } from 'node:test';
import type { FieldDefinition } from '../../domain/catalogue/definition.ts';
import { HOME_ASSISTANT_DOMAINS } from '../../domain/catalogue/home-assistant.ts';
import { formatValue } from '../../domain/text.ts';
import type { Desired } from '../../domain/values.ts';
import { readback, temporaryFolder } from '../cli/readback.ts';
import { catalogueOf } from '../domain/catalogue/loading.ts';
import { type Harness, startReadback } from '../harness/readback.ts';
import { type HomeAssistant, startHomeAssistant } from './instance.ts';

const DOCS = join(import.meta.dirname, '../../docs/devices.md');

/** Entity, what is asked, how it ends, and why where that isn't plain. */
const ASKED: readonly (readonly [entity: string, desired: Desired, outcome: string, why?: string])[] = [
  ['climate.hvac', { temperature: 24 }, 'verified'],
  ['climate.heatpump', { mode: 'heat', temperature: 19 }, 'verified'],
  ['climate.ecobee', { temperature: 22 }, 'refused', 'in this mode it has a range and no single target'],
  ['light.bed_light', { brightness: 40 }, 'verified'],
  ['light.kitchen_lights', { power: 'off' }, 'verified'],
  ['fan.living_room_fan', { percentage: 66 }, 'verified'],
  ['fan.preset_only_limited_fan', { power: 'on' }, 'verified'],
  ['cover.hall_window', { position: 40 }, 'verified'],
  ['cover.garage_door', { door: 'open' }, 'verified'],
  ['valve.orchard', { valve: 'open' }, 'verified'],
  ['lock.front_door', { lock: 'unlocked' }, 'verified'],
  [
    'lock.poorly_installed_door',
    { lock: 'locked' },
    'different',
    'it reports that it is jammed: a person is needed',
  ],
  ['switch.ac', { power: 'on' }, 'verified'],
  ['switch.decorative_lights', { power: 'off' }, 'unverifiable', 'Home Assistant only assumes its state'],
  ['humidifier.humidifier', { humidity: 55 }, 'verified'],
  ['humidifier.dehumidifier', { power: 'off' }, 'verified'],
  ['humidifier.hygrostat', { mode: 'eco' }, 'verified'],
  ['water_heater.demo_water_heater_celsius', { temperature: 50, mode: 'gas' }, 'verified'],
  ['water_heater.demo_water_heater', { away: 'on' }, 'verified'],
  ['number.volume', { value: 30 }, 'verified'],
  ['number.temperature_setting', { value: 25 }, 'verified'],
  ['input_number.level', { value: 7.5 }, 'verified'],
  ['select.speed', { option: 'light_speed' }, 'verified'],
  ['input_select.scene', { option: 'night' }, 'verified'],
  ['input_boolean.guests', { power: 'on' }, 'verified'],
  ['vacuum.0_ground_floor', { activity: 'cleaning', fan_speed: 'high' }, 'verified'],
  ['vacuum.1_first_floor', { activity: 'docked' }, 'verified'],
  ['vacuum.2_second_floor', { activity: 'paused' }, 'refused', 'it does not support pausing'],
  ['media_player.bedroom', { volume: 35, muted: 'on' }, 'verified'],
  ['media_player.living_room', { playback: 'paused' }, 'verified'],
  ['media_player.lounge_room', { source: 'youtube' }, 'verified'],
  ['media_player.group', { sound_mode: 'Movie' }, 'verified'],
  ['media_player.kitchen', { power: 'off' }, 'verified'],
  ['siren.siren', { power: 'off' }, 'verified'],
  [
    'alarm_control_panel.security',
    { alarm: 'armed_away' },
    'unknown',
    'it wants a code, and answers HTTP 500 without one',
  ],
  ['button.push', { press: true }, 'unverifiable', 'Home Assistant only notes that it was pressed'],
  ['input_button.bell', { press: true }, 'unverifiable', 'Home Assistant only notes that it was pressed'],
];

/** What the house itself then shows, past Readback. */
const SHOWN: Readonly<Record<string, Readonly<Record<string, unknown>>>> = {
  'climate.hvac': { temperature: 24 },
  'climate.heatpump': { state: 'heat', temperature: 19 },
  'light.bed_light': { brightness: 102 },
  'fan.living_room_fan': { percentage: 66 },
  'cover.hall_window': { current_position: 40 },
  'lock.front_door': { state: 'unlocked' },
  'lock.poorly_installed_door': { state: 'jammed' },
  'switch.ac': { state: 'on' },
  'media_player.bedroom': { volume_level: 0.35 },
};

/** Written by hand beside what was imported. */
const byHand = (text: string, baseUrl: string): string =>
  `${text}\ndefaults: { settle: { first: 500ms, every: 1s, within: 36s, stable: 1s } }\n`
    .replace(
      'connections:\n',
      `connections:\n  stranger: { kind: home-assistant, baseUrl: "${baseUrl}", auth: { bearer: "\${BAD}" } }\n`,
    )
    .replace(
      'devices:\n',
      `devices:
  nobody: { connection: home, entity: climate.nobody }
  stranger-plug: { connection: stranger, entity: switch.ac }
`,
    );

describe('the demo house of Home Assistant, imported', () => {
  const folder = temporaryFolder();
  const file = join(folder.path, 'readback.yaml');
  let home: HomeAssistant;
  let harness: Harness;
  const rows: { readonly asked: (typeof ASKED)[number]; readonly row: string }[] = [];
  const run = async (...args: string[]) =>
    await readback(['devices', 'import', '--from', 'home-assistant', '--into', file, ...args], {
      cwd: folder.path,
      env: { HA_TOKEN: home.token },
    });
  const idOf = (entity: string): string => {
    const found = Object.values(harness.catalogue.devices).find(
      (device) => device.entity === entity && device.connection === 'home',
    );
    assert.ok(found, `${entity} was not imported`);
    return found.id;
  };

  before(async () => {
    home = await startHomeAssistant();
    await home.call('vacuum.start', { entity_id: 'vacuum.1_first_floor' });
    await home.putIntoArea('light.bed_light', 'Bedroom');
    const imported = await run('--url', home.baseUrl, '--no-approvals');
    assert.equal(imported.code, 0, imported.stderr);
    harness = await startReadback({
      devices: {},
      catalogue: byHand(readFileSync(file, 'utf8'), home.baseUrl),
      environment: { HA_TOKEN: home.token, BAD: 'not-a-token-of-this-instance' },
    });
  });
  after(async () => {
    await harness?.close();
    await home?.stop();
    folder.remove();
  });

  it('asks of every domain that is built in', () => {
    const asked = new Set(ASKED.map(([entity]) => entity.slice(0, entity.indexOf('.'))));
    assert.deepEqual([...asked].sort(), [...HOME_ASSISTANT_DOMAINS].sort());
  });

  describe('a command', { concurrency: 8 }, () => {
    // First those that take their time: the others pass meanwhile.
    const isSlow = ([entity]: (typeof ASKED)[number]) => /poorly|alarm|first_floor|hall_window/.test(entity);
    for (const asked of [...ASKED.filter(isSlow), ...ASKED.filter((one) => !isSlow(one))]) {
      const [entity, desired, outcome] = asked;
      it(`${entity} ${JSON.stringify(desired)}: ${outcome}`, async () => {
        const id = idOf(entity);
        const { view } = await harness.carryOut(id, desired);
        assert.equal(view.result?.outcome, outcome, view.result?.detail);
        assert.equal(view.sent.count > 0, outcome !== 'refused', 'sent');
        const { state, attributes } = await home.state(entity);
        for (const [name, value] of Object.entries(SHOWN[entity] ?? {}))
          assert.equal(name === 'state' ? state : attributes[name], value);
        const fields = harness.catalogue.devices[id]?.fields ?? {};
        rows.push({ asked, row: rowOf(entity, desired, view.result?.outcome ?? '', fields, asked[3]) });
      });
    }
    after(() => {
      // One that is missing has failed by itself.
      if (rows.length < ASKED.length) return;
      const table = [...HEAD, ...ASKED.map((asked) => rows.find((row) => row.asked === asked)?.row)].join(
        '\n',
      );
      const text = readFileSync(DOCS, 'utf8');
      const [before, told, rest] = text.split(/(?<=<!-- made by a test -->\n)|(?=\n<!-- end -->)/);
      if (process.env['WRITE_DOCS'] !== undefined) writeFileSync(DOCS, [before, table, rest].join(''));
      else assert.equal(told, table, 'docs/devices.md is not what was seen: run `npm run docs:devices`');
    });
  });

  it('is refused, with nothing sent, where it is known beforehand that it can come to nothing', async () => {
    for (const [device, desired, told] of [
      ['nobody', { temperature: 21 }, /no entity climate\.nobody/],
      ['stranger-plug', { power: 'off' }, /credentials/],
      ['ceiling-lights', { power: 'off', brightness: 40 }, /can't be turned off and given a brightness/],
    ] as const) {
      const { view } = await harness.carryOut(device, desired);
      assert.equal(view.result?.outcome, 'refused', view.result?.detail);
      assert.match(view.result?.detail ?? '', told);
      if (device !== 'nobody') assert.equal(view.sent.count, 0);
      assert.doesNotMatch(JSON.stringify(view), /not-a-token/);
    }
  });

  it('is not even taken beyond the limits that were imported', async () => {
    await assert.rejects(harness.submit('hvac', { temperature: 99 }), /outside 7–35 °C for hvac/);
  });

  it('keeps names, areas, and the name of the variable in place of the token', () => {
    const text = readFileSync(file, 'utf8');
    assert.ok(!text.includes(home.token));
    assert.match(text, /auth: \{ bearer: "\$\{HA_TOKEN\}" \}/);
    const lamp = harness.catalogue.devices['bed-light'];
    assert.deepEqual([lamp?.name, lamp?.area], ['Bed Light', 'Bedroom']);
  });

  it('changes nothing when it is imported again, and needs to be told nothing a second time', async () => {
    const before = readFileSync(file, 'utf8');
    const { code, stdout, stderr } = await run('--json', '--no-approvals');
    assert.equal(code, 0, stderr);
    const report = JSON.parse(stdout) as {
      added: unknown[];
      same: string[];
      gone: unknown[];
      written: boolean;
    };
    assert.deepEqual([report.added, report.gone, report.written], [[], [], false]);
    assert.equal(readFileSync(file, 'utf8'), before);
  });

  it('shows with --dry-run what it would write, with rules for locks, doors, covers, valves, alarms and sirens', async () => {
    const other = join(folder.path, 'other.yaml');
    const { code, stdout } = await run('--url', home.baseUrl, '--into', other, '--dry-run');
    assert.equal(code, 0);
    assert.match(stdout, /^\+ {2}front-door:$/m);
    const added = stdout.split('\n').filter((line) => line.startsWith('+') && !line.startsWith('+++'));
    const { approvals } = await catalogueOf(added.map((line) => line.slice(1)).join('\n'), {
      environment: { HA_TOKEN: 'x' },
    });
    assert.deepEqual([...new Set(approvals.map(({ for: { tag }, by }) => `${tag} ${by}`))].sort(), [
      'alarm operator',
      'cover requester',
      'gate operator',
      'lock operator',
      'siren requester',
      'valve operator',
    ]);
    assert.throws(() => readFileSync(other), /ENOENT/);
  });

  it('says that a token is wrong without showing it, and writes nothing', async () => {
    const other = join(folder.path, 'wrong.yaml');
    const { code, stderr } = await readback(
      ['devices', 'import', '--from', 'home-assistant', '--url', home.baseUrl, '--into', other],
      { cwd: folder.path, env: { HA_TOKEN: 'not-the-token' } },
    );
    assert.equal(code, 1);
    assert.match(stderr, /does not accept the access token.*Nothing was written/);
    assert.doesNotMatch(stderr, /not-the-token/);
    assert.throws(() => readFileSync(other), /ENOENT/);
  });
});

const HEAD = ['| entity | asked | ends | read back from | because |', '| --- | --- | --- | --- | --- |'];

function rowOf(
  entity: string,
  desired: Desired,
  outcome: string,
  fields: Readonly<Record<string, FieldDefinition>>,
  why = '',
): string {
  const asked = Object.entries(desired).map(([name, value]) =>
    value === true ? name : `${name} ${formatValue(value, fields[name]?.unit ?? null)}`,
  );
  const from = Object.keys(desired).map((name) => {
    const read = fields[name]?.read ?? null;
    return read === null ? 'nothing' : `\`${read.replace('body.', '').replace('attributes.', '')}\``;
  });
  return `| \`${entity}\` | ${asked.join(', ')} | \`${outcome}\` | ${[...new Set(from)].join(', ')} | ${why} |`;
}
