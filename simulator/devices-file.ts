/** Reads a devices file (YAML or JSON): profiles merged, options checked, every mistake named at once. */
import { readFile } from 'node:fs/promises';
import { parse } from 'yaml';
import { z } from 'zod';
import {
  type DeviceDefinition,
  deviceDefinition,
  type Json,
  type Limit,
  limit,
  OPTION_NAMES,
} from './behaviour.ts';

/** A device as written, with its profiles merged in: what a changed behaviour is merged over before it is checked again. */
export type WrittenDevice = Readonly<Record<string, Json>>;

export interface DevicesFile {
  readonly limits: Readonly<Record<string, Limit>>;
  readonly devices: Readonly<Record<string, WrittenDevice>>;
}

/** The file, or a device in it, is wrong. The message lists every mistake with its place. */
export class DevicesFileError extends Error {
  override readonly name = 'DevicesFileError';
}

const written = z.record(z.string(), z.json());
const outline = z.strictObject({
  limits: z.record(z.string(), limit).default({}),
  profiles: z.record(z.string(), written).default({}),
  devices: z.record(
    z.string().regex(/^[a-z0-9][a-z0-9-]*$/, 'an id has lower-case letters, digits and dashes'),
    written,
  ),
});

/** `source`: a file's path, or what such a file holds. Throws DevicesFileError. */
export async function loadDevicesFile(source: string | object): Promise<DevicesFile> {
  const name = typeof source === 'string' ? source : 'devices';
  const file = check(outline, typeof source === 'string' ? await readYaml(source) : source, name);
  const mistakes: string[] = [];
  const devices: Record<string, WrittenDevice> = {};
  for (const [id, device] of Object.entries(file.devices)) {
    try {
      devices[id] = withProfiles(id, device, file.profiles);
      const { limit: named } = checkDevice(id, devices[id]);
      if (typeof named === 'string' && !file.limits[named])
        mistakes.push(`devices.${id}.limit: there is no "${named}" under limits`);
    } catch (error) {
      if (!(error instanceof DevicesFileError)) throw error;
      mistakes.push(error.message);
    }
  }
  if (mistakes.length > 0) throw new DevicesFileError(`${name}:\n${mistakes.join('\n')}`);
  return { limits: file.limits, devices };
}

/** Options as they hold, defaults filled in. Throws DevicesFileError naming `devices.<id>.<option>`. */
export function checkDevice(id: string, device: WrittenDevice): DeviceDefinition {
  const definition = check(deviceDefinition, device, `devices.${id}`);
  const known = Object.keys(definition.state);
  for (const field of namedFields(definition)) {
    if (!known.includes(field))
      throw new DevicesFileError(
        `devices.${id}: names the field "${field}", which its state lacks; there are ${known.join(', ')}`,
      );
  }
  return definition;
}

/** Maps merge, everything else replaces, null removes: how profiles, and changes while it runs, are laid over each other. */
export function mergeOver(below: WrittenDevice, above: WrittenDevice): WrittenDevice {
  const merged: Record<string, Json> = { ...below };
  for (const [key, value] of Object.entries(above)) {
    const under = merged[key];
    // A field's state may well be null: there it is a value.
    if (key === 'state' && isMap(value) && isMap(under)) merged[key] = { ...under, ...value };
    else if (value === null) delete merged[key];
    else if (isMap(value) && isMap(under)) merged[key] = mergeOver(under, value);
    else merged[key] = value;
  }
  return merged;
}

/** Throws DevicesFileError that names each place and what is wrong there. */
export function check<T extends z.ZodType>(schema: T, value: unknown, place: string): z.output<T> {
  const result = schema.safeParse(value);
  if (result.success) return result.data;
  throw new DevicesFileError(result.error.issues.flatMap((issue) => describe(issue, place)).join('\n'));
}

function withProfiles(
  id: string,
  device: WrittenDevice,
  profiles: Readonly<Record<string, WrittenDevice>>,
): WrittenDevice {
  const { profile = [], ...own } = device;
  let merged: WrittenDevice = {};
  for (const name of Array.isArray(profile) ? profile : [profile]) {
    const found = profiles[String(name)];
    if (!found)
      throw new DevicesFileError(
        `devices.${id}.profile: there is no profile "${name}"; there are ${Object.keys(profiles).join(', ') || 'none'}`,
      );
    merged = mergeOver(merged, found);
  }
  return mergeOver(merged, own);
}

function namedFields(definition: DeviceDefinition): string[] {
  const behaviours = [definition, ...Object.values(definition.fields)];
  return [
    ...Object.keys(definition.fields),
    ...behaviours.flatMap((one) =>
      [one.mirrors, one.ramps?.says?.field].filter((field) => field !== undefined),
    ),
    ...behaviours.flatMap((one) => Object.values(one.also ?? {}).flatMap((values) => Object.keys(values))),
    ...behaviours.flatMap((one) =>
      (one.refuses ?? []).flatMap((refusal) => Object.keys(refusal.unless ?? {})),
    ),
    ...definition.routes.flatMap((route) => Object.keys(route.send ?? {})),
    ...definition.script.flatMap((event) => Object.keys(event.set ?? {})),
    ...Object.values(definition.actions).flatMap((action) =>
      'toggles' in action
        ? Object.keys(action.toggles)
        : 'sets' in action
          ? Object.keys(action.sets)
          : [action.counts],
    ),
  ];
}

async function readYaml(path: string): Promise<unknown> {
  let text: string;
  try {
    text = await readFile(path, 'utf8');
  } catch (error) {
    throw new DevicesFileError(`The devices file ${path} can't be read: ${(error as Error).message}`);
  }
  try {
    return parse(text);
  } catch (error) {
    throw new DevicesFileError(`${path} is no valid YAML or JSON: ${(error as Error).message}`);
  }
}

function describe(issue: z.core.$ZodIssue, place: string): string[] {
  const at = [place, ...issue.path.map(String)].join('.');
  if (issue.code === 'unrecognized_keys')
    return issue.keys.map((key) => `${at}.${key}: there is no such option${didYouMean(key)}`);
  // Of a union's branches, the one that got furthest says best what is wrong.
  if (issue.code === 'invalid_union' && issue.errors.length > 0) {
    const depth = (branch: z.core.$ZodIssue[]) =>
      Math.max(0, ...branch.map((one) => one.path.length + (one.code === 'invalid_type' ? 0 : 1)));
    const best = [...issue.errors].sort((a, b) => depth(b) - depth(a))[0] ?? [];
    return best.flatMap((inner) => describe(inner, at));
  }
  return [`${at}: ${issue.message}`];
}

function didYouMean(key: string): string {
  const near = OPTION_NAMES.map((name) => ({
    name,
    distance: editDistance(key.toLowerCase(), name.toLowerCase()),
  }))
    .filter(({ distance }) => distance <= 2)
    .sort((a, b) => a.distance - b.distance)[0];
  return near ? `; did you mean ${near.name}?` : '; docs/simulator.md lists them all';
}

function editDistance(a: string, b: string): number {
  let row = Array.from({ length: b.length + 1 }, (_, index) => index);
  for (let i = 1; i <= a.length; i++) {
    const next = [i];
    for (let j = 1; j <= b.length; j++)
      next[j] = Math.min(
        (row[j] ?? 0) + 1,
        (next[j - 1] ?? 0) + 1,
        (row[j - 1] ?? 0) + (a[i - 1] === b[j - 1] ? 0 : 1),
      );
    row = next;
  }
  return row[b.length] ?? 0;
}

function isMap(value: Json | undefined): value is Record<string, Json> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}
