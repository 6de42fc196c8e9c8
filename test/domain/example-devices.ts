/** The example catalogues' devices, from what is asked to the request, and from a realistic reply to the fields. */
import assert from 'node:assert/strict';
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import type { Catalogue, DeviceDefinition } from '../../domain/catalogue/definition.ts';
import { loadCatalogue } from '../../domain/catalogue/load.ts';
import { parseDesired } from '../../domain/desired.ts';
import type { DeviceReply, ReadContext } from '../../domain/exchange.ts';
import { interpretRead } from '../../domain/interpretation.ts';
import { renderRead, renderSend } from '../../domain/rendering.ts';
import { planSteps } from '../../domain/steps.ts';
import type { Desired, Json, Value } from '../../domain/values.ts';
import { readings } from './definitions.ts';

const EXAMPLES = join(import.meta.dirname, '../../examples');
const SECRETS = [
  'VENDOR_TOKEN',
  'HA_TOKEN',
  'MQTT_PASSWORD',
  'SB_TOKEN',
  'SB_SECRET',
  'TESLA_ID',
  'REMO',
  'HUE',
  'SHELLY',
  'ID',
  'SECRET',
  'SENSIBO',
  'HA',
  'T',
  'S',
];

export async function loadExample(file: string): Promise<Catalogue> {
  const loaded = await loadCatalogue({
    file: join(EXAMPLES, file),
    readFile: (path) => (path.startsWith(EXAMPLES) ? readFile(path, 'utf8') : 'a secret'),
    environment: Object.fromEntries(SECRETS.map((name) => [name, `secret-${name}`])),
  });
  assert.ok(loaded.ok, loaded.ok ? '' : JSON.stringify(loaded.problems, null, 2));
  return loaded.catalogue;
}

export function deviceOf(catalogue: Catalogue, id: string): DeviceDefinition {
  const found = catalogue.devices[id];
  assert.ok(found, `no device ${id}`);
  return found;
}

/** `METHOD path body` of each request of a command, in order; or why there is none. */
export async function requestsFor(
  one: DeviceDefinition,
  asked: Desired,
  current: Readonly<Record<string, Value>> = {},
): Promise<string[]> {
  const parsed = parseDesired(one, asked);
  if (!parsed.ok) return parsed.problems;
  const present = readings(current);
  const plan = planSteps(one, parsed.desired, present);
  if (!plan.ok) return [plan.why];
  return Promise.all(
    plan.steps.map(async ({ step, fields }) => {
      const rendered = await renderSend(one, step, fields, parsed.desired, present);
      return rendered.ok
        ? [rendered.request.method, rendered.request.path, rendered.request.body]
            .filter((part) => part !== null)
            .join(' ')
        : rendered.why;
    }),
  );
}

export async function readOf(one: DeviceDefinition, bodies: Json, context: Partial<ReadContext> = {}) {
  const names = Object.keys(one.read?.requests ?? {});
  const replies: Record<string, DeviceReply> = {};
  for (const name of names) {
    const body = one.read?.single ? bodies : (bodies as Readonly<Record<string, Json>>)[name];
    replies[name] = { status: 200, headers: {}, body: body ?? null };
  }
  const { sample } = await interpretRead(
    one,
    replies,
    { desired: null, before: null, kept: {}, baselineDeviceAt: null, ...context },
    0,
  );
  return sample;
}

/** Field values as read, `unreadable` or `notApplicable` in their places. */
export async function fieldsOf(one: DeviceDefinition, bodies: Json) {
  const { fields } = await readOf(one, bodies);
  return Object.fromEntries(
    Object.entries(fields).map(([name, reading]) => [
      name,
      reading.kind === 'value' ? reading.value : reading.kind,
    ]),
  );
}

export async function readRequests(one: DeviceDefinition): Promise<string[]> {
  const rendered = await renderRead(one, {});
  assert.ok(rendered.ok);
  return Object.values(rendered.requests).map(({ method, path }) => `${method} ${path}`);
}
