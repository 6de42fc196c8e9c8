/** Loads a catalogue from texts in memory, for the tests beside this file. */
import assert from 'node:assert/strict';
import { it } from 'node:test';
import type { Catalogue, DeviceDefinition } from '../../../domain/catalogue/definition.ts';
import { type Loaded, type LoadOptions, loadCatalogue } from '../../../domain/catalogue/load.ts';

export const FILE = 'home/readback.yaml';

/** `files` by path from the catalogue's folder; a text alone is the catalogue itself. */
export function load(
  files: string | Readonly<Record<string, string>>,
  options: Partial<LoadOptions> = {},
): Promise<Loaded> {
  const all = typeof files === 'string' ? { 'readback.yaml': files } : files;
  return loadCatalogue({
    file: FILE,
    readFile: (path) => {
      const text = all[path.replace(/^home\//, '')];
      if (text === undefined) throw Object.assign(new Error(`ENOENT: ${path}`), { code: 'ENOENT' });
      return text;
    },
    environment: {},
    ...options,
  });
}

export async function catalogueOf(
  files: string | Readonly<Record<string, string>>,
  options: Partial<LoadOptions> = {},
): Promise<Catalogue> {
  const loaded = await load(files, options);
  assert.ok(
    loaded.ok,
    loaded.ok ? '' : loaded.problems.map(({ path, message }) => `${path}: ${message}`).join('\n'),
  );
  return loaded.catalogue;
}

/** Each problem as `path: message`. */
export async function problemsOf(
  files: string | Readonly<Record<string, string>>,
  options: Partial<LoadOptions> = {},
): Promise<readonly string[]> {
  const loaded = await load(files, options);
  return loaded.ok ? [] : loaded.problems.map(({ path, message }) => `${path}: ${message}`);
}

const CONNECTION = 'connections: { api: { kind: http, baseUrl: "http://127.0.0.1:4100" } }';

/** A catalogue with one connection, `api`, and what else is given. */
export const withApi = (rest: string): string => `version: 1\n${CONNECTION}\n${rest}`;

/** One device `d` on `api`, as a flow map without its braces. */
export const device = (keys: string): string => withApi(`devices: { d: { connection: api, ${keys} } }`);

/** A device that can be sent to and read, with these fields. */
export const fields = (content: string, more = ''): string =>
  device(`send: PUT /d, read: GET /d, fields: { ${content} }${more}`);

export type Case = readonly [what: string, yaml: string, path: string, message: RegExp];

/** Exactly one problem: a mistake must not drag others behind it. */
export function tells(cases: readonly Case[]): void {
  for (const [what, yaml, path, message] of cases) {
    it(what, async () => {
      const problems = await problemsOf(yaml);
      assert.equal(problems.length, 1, problems.join('\n') || 'no problem was found');
      assert.ok(problems[0]?.startsWith(`${path}: `), `${problems[0]} is not at ${path}`);
      assert.match(String(problems[0]), message);
    });
  }
}

/** Two fields, where it doesn't matter which. */
export const AC = 'power: onoff, temperature: { type: celsius, min: 5, max: 30 }';

export async function deviceOf(yaml: string, id = 'd'): Promise<DeviceDefinition> {
  const found = (await catalogueOf(yaml)).devices[id];
  assert.ok(found);
  return found;
}
