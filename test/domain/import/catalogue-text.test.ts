/** What an import does to the text of a catalogue: it adds, and leaves everything else alone, byte for byte. */
import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, it } from 'node:test';
import { editedCatalogue } from '../../../domain/import/catalogue-text.ts';
import { catalogueOf } from '../catalogue/loading.ts';

const LAMP = {
  id: 'new-lamp',
  entry: { name: 'New lamp', connection: 'house', entity: 'light.new', fields: { brightness: null } },
  comment: 'From the loft.',
};
const RULE = { for: { device: 'new-lamp' }, by: 'operator' };
const HOUSE = { kind: 'home-assistant', baseUrl: 'http://127.0.0.1:8123', auth: { bearer: '${HA_TOKEN}' } };
const adding = { connections: {}, devices: [LAMP], approvals: [] };
const nothing = { connections: {}, devices: [], approvals: [] };

const OWN = `# my house
version: 1
connections: { house: { kind: home-assistant,   baseUrl: "http://127.0.0.1:8123", auth: { bearer: t } } }   # on the shelf
devices:
    # the old one
    hall:   { connection: house, entity: light.hall }   # by the door

    stairs:
        connection: house
        entity: light.stairs
        # fields: { brightness: null }

# who has to say yes
approvals:
- { for: { device: hall }, by: requester }   # for now
`;

describe('editing a catalogue', () => {
  it('adds a device after the last one, and changes nothing else', async () => {
    const text = editedCatalogue(OWN, adding, []);
    const added = `
    # From the loft.
    new-lamp:
      name: New lamp
      connection: house
      entity: light.new
      fields:
        brightness: null
`;
    assert.equal(text.replace(added, ''), OWN);
    assert.ok(text.indexOf(added) > text.indexOf('# fields:'), 'a comment stays with its device');
    assert.deepEqual(Object.keys((await catalogueOf(text)).devices), ['hall', 'stairs', 'new-lamp']);
  });

  it('adds rules and connections where there are some, in their own indentation', async () => {
    const text = editedCatalogue(OWN, { ...adding, approvals: [RULE] }, []);
    assert.ok(text.endsWith('# for now\n- { for: { device: new-lamp }, by: operator }\n'), text);
    assert.equal((await catalogueOf(text)).approvals.length, 2);
  });

  it('takes a device out with the comment above it, and leaves its neighbours', () => {
    const text = editedCatalogue(OWN, nothing, ['hall']);
    assert.equal(text, OWN.replace(/ {4}# the old one\n.*\n/, ''));
    assert.ok(!editedCatalogue(OWN, nothing, ['stairs']).includes('light.stairs'));
  });

  it('takes out and adds at once, all devices of a file', async () => {
    const text = editedCatalogue(OWN.replace(/# who[^]*/, ''), adding, ['hall', 'stairs']);
    assert.deepEqual(Object.keys((await catalogueOf(text)).devices), ['new-lamp']);
  });

  for (const [what, text] of [
    ['that is empty', ''],
    ['without a line end', 'version: 1'],
    ['with an empty section', 'version: 1\ndevices:\napprovals: []\n'],
    [
      'with everything in one line',
      'connections: { other: { kind: http, baseUrl: "http://x" } }\ndevices: {}\n',
    ],
    ['in JSON', '{ "version": 1, "timezone": "UTC", "devices": {} }\n'],
    [
      'with line ends of Windows, in one line',
      'connections: { x: { kind: http, baseUrl: "http://x" } }\r\ndevices: {}\r\n',
    ],
    ['with line ends of Windows', 'version: 1\r\ndevices:\r\n  # none\r\ntimezone: UTC\r\n'],
  ] as const) {
    it(`fills a file ${what}`, async () => {
      const edited = editedCatalogue(
        text,
        { connections: { house: HOUSE }, devices: [LAMP], approvals: [RULE] },
        [],
      );
      const catalogue = await catalogueOf(edited, { environment: { HA_TOKEN: 'x' } });
      assert.deepEqual(Object.keys(catalogue.devices), ['new-lamp']);
      assert.equal(catalogue.approvals.length, 1);
      assert.ok(edited.includes('${HA_TOKEN}'));
      if (text.includes('\r\n')) assert.doesNotMatch(edited, /[^\r]\n/);
    });
  }

  for (const file of ['demo.yaml', 'tour.yaml', 'apis.yaml']) {
    it(`adds to examples/${file} without touching a line of it`, () => {
      const text = readFileSync(join(import.meta.dirname, '../../../examples', file), 'utf8');
      const edited = editedCatalogue(text, { ...adding, approvals: [RULE] }, []);
      const lines = edited.split('\n');
      for (const line of text.split('\n')) assert.ok(lines.includes(line), line);
      assert.ok(edited.length > text.length);
    });
  }
});
