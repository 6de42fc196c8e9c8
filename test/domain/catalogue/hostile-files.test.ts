/** Broken and large files. */
import assert from 'node:assert/strict';
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, it } from 'node:test';
import fc from 'fast-check';
import { parse, stringify } from 'yaml';
import { catalogueOf, load, problemsOf, withApi } from './loading.ts';

const EXAMPLES = join(import.meta.dirname, '../../../examples');

describe('any file', () => {
  it('is loaded or refused with words, however it is broken: never an exception', async () => {
    const tour: unknown = parse(await readFile(join(EXAMPLES, 'tour.yaml'), 'utf8'));
    const places = pathsOf(tour);
    const junk = fc.constantFrom<unknown>(
      null,
      '',
      'x',
      '=$x',
      '${X}',
      -1,
      0,
      true,
      [],
      ['x'],
      [[]],
      {},
      { x: 1 },
      { type: {} },
      [{}],
      [null],
    );
    await fc.assert(
      fc.asyncProperty(
        fc.array(fc.tuple(fc.constantFrom(...places), junk), { minLength: 1, maxLength: 4 }),
        async (changes) => {
          const broken = structuredClone(tour) as Record<string, unknown>;
          for (const [path, value] of changes) put(broken, path, value);
          const loaded = await load({ 'readback.yaml': stringify(broken) }, { environment: {} });
          if (!loaded.ok)
            assert.ok(
              loaded.problems.length > 0 && loaded.problems.every(({ message }) => message.length > 5),
            );
        },
      ),
      { numRuns: 150 },
    );
  });
});

describe('a file with nothing in it', () => {
  it('is refused, as what an interrupted write leaves, and so is an included one', async () => {
    const nothing = 'there is nothing in the file. Say so with `devices: {}` where that is meant';
    for (const text of ['', '\n', '# only a comment\n', '---\n', 'null\n'])
      assert.deepEqual(await problemsOf(text), [`: ${nothing}`]);
    assert.deepEqual(await problemsOf({ 'readback.yaml': 'include: more.yaml', 'more.yaml': '' }), [
      `: ${nothing}`,
    ]);
  });

  it('is fine where it says that this is meant', async () => {
    assert.equal(Object.keys((await catalogueOf('devices: {}')).devices).length, 0);
  });
});

type Path = readonly (string | number)[];

function pathsOf(value: unknown, path: Path = []): Path[] {
  if (typeof value !== 'object' || value === null) return [path];
  return [
    ...(path.length > 0 ? [path] : []),
    ...Object.entries(value).flatMap(([key, member]) =>
      pathsOf(member, [...path, Array.isArray(value) ? Number(key) : key]),
    ),
  ];
}

function put(root: unknown, path: Path, value: unknown): void {
  const parent = path
    .slice(0, -1)
    .reduce<unknown>(
      (part, key) =>
        typeof part === 'object' && part !== null
          ? (part as Record<string | number, unknown>)[key]
          : undefined,
      root,
    );
  if (typeof parent === 'object' && parent !== null)
    (parent as Record<string | number, unknown>)[path.at(-1) as string] = structuredClone(value);
}

describe('a thousand devices', () => {
  it('load in well under 1.5 seconds of processor time', async () => {
    const devices = Array.from(
      { length: 1000 },
      (_, id) =>
        `  ac-${id}: { profile: ac, with: { id: "${id}" }, name: AC ${id}, area: Floor ${id % 20}, aliases: [unit ${id}], tags: [ac] }`,
    );
    const yaml = withApi(`profiles:
  ac:
    connection: api
    params: { id: required }
    send:
      - { for: mode, request: "PATCH /units/{id}/mode", body: { value: =$wire.mode }, repeatable: true }
      - { for: temperature, uses: [mode], request: "PATCH /units/{id}/setpoint", body: { value: =$wire.temperature, path: '="/modes/" & $wire.mode' }, repeatable: true }
    read: { request: GET /units, pick: "body[id = $id]", available: body.online = true }
    fields:
      mode: { type: enum, values: { cool: cooling, heat: heating } }
      temperature: { type: celsius, min: 16, max: 30, step: 0.5, appliesWhen: { mode: [cool, heat] } }
devices:
${devices.join('\n')}
approvals: [{ for: { tag: ac, field: temperature, above: 28 }, by: requester }]`);
    // The best of three: other work on the same machine says nothing about ours.
    let best = Number.POSITIVE_INFINITY;
    for (let run = 0; run < 3; run++) {
      const before = process.cpuUsage();
      const catalogue = await catalogueOf(yaml);
      const { user, system } = process.cpuUsage(before);
      assert.equal(Object.keys(catalogue.devices).length, 1000);
      best = Math.min(best, (user + system) / 1e6);
    }
    assert.ok(best < 1.5, `took ${best} s`);
  });
});
