/** Reads a devices file (YAML or JSON): profiles merged, options checked, every mistake named at once. */
import { readFile } from 'node:fs/promises';
import { parse } from 'yaml';
import { z } from 'zod';
import {
  type Auth,
  auth,
  type DeviceDefinition,
  deviceDefinition,
  entryOf,
  type Json,
  type Limit,
  limit,
  type ScriptEvent,
  textOf,
} from './behaviour.ts';
import { check, DevicesFileError } from './mistakes.ts';

/** A device as written, with its profiles merged in: what a changed behaviour is merged over before it is checked again. */
export type WrittenDevice = Readonly<Record<string, Json>>;

export interface DevicesFile {
  readonly limits: Readonly<Record<string, Limit>>;
  readonly accounts: Readonly<Record<string, Auth>>;
  readonly devices: Readonly<Record<string, WrittenDevice>>;
}

const written = z.record(z.string(), z.json());
const outline = z.strictObject({
  limits: z.record(z.string(), limit).default({}),
  accounts: z.record(z.string().regex(/^[a-z0-9][a-z0-9-]*$/), auth).default({}),
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
      const merged = withProfiles(id, device, file.profiles);
      devices[id] = merged;
      const { limit: named, auth: account, script } = checkDevice(id, merged);
      checkScript(id, merged, script);
      if (typeof named === 'string' && !file.limits[named])
        mistakes.push(`devices.${id}.limit: there is no "${named}" under limits`);
      if (typeof account === 'string' && !file.accounts[account])
        mistakes.push(`devices.${id}.auth: there is no "${account}" under accounts`);
    } catch (error) {
      if (!(error instanceof DevicesFileError)) throw error;
      mistakes.push(error.message);
    }
  }
  if (mistakes.length > 0) throw new DevicesFileError(`${name}:\n${mistakes.join('\n')}`);
  return { limits: file.limits, accounts: file.accounts, devices };
}

/** Options as they hold, defaults filled in. Throws DevicesFileError naming `devices.<id>.<option>`. */
export function checkDevice(id: string, device: WrittenDevice): DeviceDefinition {
  const definition = check(deviceDefinition, device, `devices.${id}`);
  for (const field of namedFields(definition)) checkField(id, definition, field);
  return definition;
}

/** What a script will do must hold when its time comes. Throws DevicesFileError. */
export function checkScript(id: string, device: WrittenDevice, events: readonly ScriptEvent[]): void {
  const definition = checkDevice(id, device);
  for (const event of events) {
    for (const field of Object.keys(event.set ?? {})) checkField(id, definition, field);
    if (event.behaviour) checkDevice(id, mergeOver(device, event.behaviour));
  }
}

/**
 * Lays options over others, as a device over its profile: an option replaces, `null` removes, and `fields` merges field by field.
 * Deeper down, and for `shows`, null is a value like any other.
 */
export function mergeOver(below: WrittenDevice, above: WrittenDevice): WrittenDevice {
  const merged: Record<string, Json> = { ...below };
  for (const [key, value] of Object.entries(above)) {
    const under = merged[key];
    if (value === null && key !== 'shows') delete merged[key];
    else if (key === 'fields' && isMap(value)) merged[key] = mergeFields(isMap(under) ? under : {}, value);
    else if (['state', 'labels', 'actions'].includes(key) && isMap(value) && isMap(under))
      merged[key] = { ...under, ...value };
    else merged[key] = value;
  }
  return merged;
}

function mergeFields(below: WrittenDevice, above: WrittenDevice): WrittenDevice {
  const merged: Record<string, Json> = { ...below };
  for (const [field, options] of Object.entries(above)) {
    const under = merged[field];
    merged[field] = isMap(options) && isMap(under) ? mergeOver(under, options) : options;
  }
  return merged;
}

function withProfiles(
  id: string,
  device: WrittenDevice,
  profiles: Readonly<Record<string, WrittenDevice>>,
): WrittenDevice {
  const { profile = [], ...own } = device;
  let merged: WrittenDevice = {};
  for (const name of (Array.isArray(profile) ? profile : [profile]).map(textOf)) {
    const found = entryOf(profiles, name);
    if (!found) {
      const there = Object.keys(profiles).join(', ') || 'none';
      throw new DevicesFileError(`devices.${id}.profile: there is no profile "${name}"; there are ${there}`);
    }
    merged = mergeOver(merged, found);
  }
  return mergeOver(merged, own);
}

function checkField(id: string, definition: DeviceDefinition, field: string): void {
  if (Object.hasOwn(definition.state, field)) return;
  const there = Object.keys(definition.state).join(', ');
  throw new DevicesFileError(
    `devices.${id}: names the field "${field}", which its state lacks; there are ${there}`,
  );
}

/** Every field that an option mentions. */
function namedFields(definition: DeviceDefinition): string[] {
  const perField = [definition, ...Object.values(definition.fields)].flatMap((options) => [
    ...[options.mirrors, options.ramps?.says?.field].filter((field) => field !== undefined),
    ...Object.values(options.also ?? {}).flatMap(Object.keys),
    ...(options.refuses ?? []).flatMap((refusal) => Object.keys(refusal.unless ?? {})),
  ]);
  const perAction = Object.values(definition.actions).flatMap((action) => {
    if ('counts' in action) return [action.counts];
    return Object.keys('sets' in action ? action.sets : action.toggles);
  });
  const perRoute = definition.routes.flatMap((route) => Object.keys(route.send ?? {}));
  return [...Object.keys(definition.fields), ...perField, ...perAction, ...perRoute];
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

function isMap(value: Json | undefined): value is Record<string, Json> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}
