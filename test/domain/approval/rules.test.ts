/** Which approval a command needs: every match counts, the strictest wins, and what can't be told asks a person. */
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { needsReading, type RuleContext, requiredApproval } from '../../../domain/approval/rules.ts';
import type { Catalogue } from '../../../domain/catalogue/definition.ts';
import { loadCatalogue } from '../../../domain/catalogue/load.ts';
import type { Desired, Reading, Value } from '../../../domain/values.ts';

const house = async (approvals: string): Promise<Catalogue> => {
  const yaml = `
version: 1
timezone: Asia/Tokyo
connections: { api: { kind: http, baseUrl: "http://127.0.0.1:1" } }
devices:
  ac: { connection: api, send: PUT /ac, read: GET /ac, area: Bedroom, tags: [climate], fields: { temperature: { type: celsius, min: 5, max: 40 }, mode: { type: enum, values: [cool, heat] } } }
  lock: { connection: api, send: PUT /lock, read: GET /lock, area: Hall, tags: [lock], fields: { lock: { type: enum, values: [locked, unlocked] } } }
approvals:
${approvals}`;
  const loaded = await loadCatalogue({ file: 'test.yaml', readFile: () => yaml, environment: {} });
  assert.ok(loaded.ok, JSON.stringify(loaded));
  return loaded.catalogue;
};

interface Circumstances {
  readonly before?: Readonly<Record<string, Value | null>>;
  readonly unattended?: boolean;
  readonly batchSize?: number;
  /** ISO 8601 */
  readonly now?: string;
}

/** Who has to approve: null, `requester` or `operator`. */
async function who(
  approvals: string,
  device: 'ac' | 'lock',
  desired: Desired,
  circumstances: Circumstances = {},
) {
  const catalogue = await house(approvals);
  const definition = catalogue.devices[device];
  assert.ok(definition);
  const readings = Object.entries(circumstances.before ?? {}).map(([field, value]): [string, Reading] => [
    field,
    value === null ? { kind: 'unreadable', why: 'offline' } : { kind: 'value', value },
  ]);
  const context: RuleContext = {
    device: definition,
    desired,
    caller: {
      subject: 'local',
      client: 'test',
      transport: 'http',
      unattended: circumstances.unattended ?? false,
    },
    before: Object.fromEntries(readings),
    batchSize: circumstances.batchSize ?? 1,
    now: Date.parse(circumstances.now ?? '2026-11-30T03:00:00Z'),
  };
  return (await requiredApproval(catalogue, context))?.by ?? null;
}

describe('a rule', () => {
  const cases: readonly [
    name: string,
    rule: string,
    device: 'ac' | 'lock',
    desired: Desired,
    expected: string | null,
    Circumstances?,
  ][] = [
    [
      'for a device concerns it',
      '{ for: { device: lock }, by: operator }',
      'lock',
      { lock: 'locked' },
      'operator',
    ],
    [
      'for a device concerns no other',
      '{ for: { device: lock }, by: operator }',
      'ac',
      { temperature: 20 },
      null,
    ],
    [
      'for a tag concerns what has it',
      '{ for: { tag: lock }, by: requester }',
      'lock',
      { lock: 'locked' },
      'requester',
    ],
    [
      'for an area concerns what is there',
      '{ for: { area: Bedroom }, by: requester }',
      'ac',
      { mode: 'cool' },
      'requester',
    ],
    [
      'for a field concerns no command without it',
      '{ for: { field: temperature }, by: operator }',
      'ac',
      { mode: 'cool' },
      null,
    ],
    [
      'for what a field becomes matches that value',
      '{ for: { field: lock, becomes: unlocked }, by: operator }',
      'lock',
      { lock: 'unlocked' },
      'operator',
    ],
    [
      'for what a field becomes leaves the others',
      '{ for: { field: lock, becomes: unlocked }, by: operator }',
      'lock',
      { lock: 'locked' },
      null,
    ],
    [
      'unless a value lets that value pass',
      '{ for: { field: lock, unless: locked }, by: operator }',
      'lock',
      { lock: 'locked' },
      null,
    ],
    [
      'unless a value matches everything else',
      '{ for: { field: lock, unless: locked }, by: operator }',
      'lock',
      { lock: 'unlocked' },
      'operator',
    ],
    [
      'above a threshold compares in its own unit',
      '{ for: { field: temperature, above: 82, unit: "°F" }, by: operator }',
      'ac',
      { temperature: 28 },
      'operator',
    ],
    [
      'above a threshold leaves what lies on it',
      '{ for: { field: temperature, above: 26 }, by: operator }',
      'ac',
      { temperature: 26 },
      null,
    ],
    [
      'below a threshold matches below',
      '{ for: { field: temperature, below: 10 }, by: operator }',
      'ac',
      { temperature: 9 },
      'operator',
    ],
    [
      'for a change compares with what is',
      '{ for: { field: temperature, changesBy: 5 }, by: requester }',
      'ac',
      { temperature: 25 },
      'requester',
      { before: { temperature: 20 } },
    ],
    [
      'for a change leaves a smaller one',
      '{ for: { field: temperature, changesBy: 5 }, by: requester }',
      'ac',
      { temperature: 24 },
      null,
      { before: { temperature: 20 } },
    ],
    [
      'for a change counts degrees of its own unit',
      '{ for: { field: temperature, changesBy: 9, unit: "°F" }, by: requester }',
      'ac',
      { temperature: 25 },
      'requester',
      { before: { temperature: 20 } },
    ],
    [
      'for a change matches where the present value is unreadable',
      '{ for: { field: temperature, changesBy: 5 }, by: requester }',
      'ac',
      { temperature: 20 },
      'requester',
      { before: { temperature: null } },
    ],
    [
      'for a change matches where nothing was read',
      '{ for: { field: temperature, changesBy: 5 }, by: requester }',
      'ac',
      { temperature: 20 },
      'requester',
    ],
    [
      'for a time of day counts in the time zone of the catalogue',
      '{ for: { tag: climate }, between: "23:00-06:00", by: requester }',
      'ac',
      { mode: 'cool' },
      'requester',
      { now: '2026-11-30T15:30:00Z' },
    ],
    [
      'for a time of day ends with it',
      '{ for: { tag: climate }, between: "23:00-06:00", by: requester }',
      'ac',
      { mode: 'cool' },
      null,
      { now: '2026-11-30T21:00:00Z' },
    ],
    [
      'for unattended runs leaves attended ones',
      '{ for: { tag: climate }, when: $requester.unattended = true, by: operator }',
      'ac',
      { mode: 'cool' },
      null,
    ],
    [
      'for unattended runs concerns them',
      '{ for: { tag: climate }, when: $requester.unattended = true, by: operator }',
      'ac',
      { mode: 'cool' },
      'operator',
      { unattended: true },
    ],
    [
      'for batches counts their size',
      '{ for: { tag: climate }, when: $batch.size > 5, by: operator }',
      'ac',
      { mode: 'cool' },
      'operator',
      { batchSize: 6 },
    ],
    [
      'whose condition looks at something absent matches at its own level',
      '{ for: { tag: climate }, when: $before.temperature > 25, by: requester }',
      'ac',
      { mode: 'cool' },
      'requester',
    ],
    [
      'whose condition throws asks an operator',
      '{ for: { tag: climate }, when: $desired.mode > 5, by: requester }',
      'ac',
      { mode: 'cool' },
      'operator',
    ],
  ];
  for (const [name, rule, device, desired, expected, circumstances] of cases) {
    it(name, async () => assert.equal(await who(`  - ${rule}`, device, desired, circumstances), expected));
  }
});

describe('several rules', () => {
  it('that match: the strictest wins, and of its kind the one that expires first', async () => {
    const catalogue = await house(`
  - { for: { device: lock }, by: requester, expires: 1m }
  - { for: { tag: lock }, by: operator, expires: 10m, reason: Opens the house. }
  - { for: { area: Hall }, by: operator, expires: 5m }`);
    const device = catalogue.devices['lock'];
    assert.ok(device);
    const caller = { subject: 'local', client: null, transport: 'http', unattended: false } as const;
    const needed = await requiredApproval(catalogue, {
      device,
      desired: { lock: 'locked' },
      caller,
      before: {},
      batchSize: 1,
      now: 0,
    });
    assert.deepEqual(
      [needed?.by, needed?.expiresMs, needed?.reason, needed?.rules.length],
      ['operator', 300_000, 'Opens the house.', 3],
    );
  });

  it('are enough of a reason to read the device only where one of them looks at what is', async () => {
    const looks = await house('  - { for: { device: ac, field: temperature, changesBy: 5 }, by: operator }');
    const knows = await house('  - { for: { device: ac, field: temperature, above: 25 }, by: operator }');
    assert.ok(looks.devices['ac'] && knows.devices['ac']);
    assert.deepEqual(
      [needsReading(looks, looks.devices['ac']), needsReading(knows, knows.devices['ac'])],
      [true, false],
    );
  });
});
