/** What zigbee2mqtt tells of its devices (`bridge/devices`), as entries of a catalogue. */
import { z } from 'zod';
import { written } from '../catalogue/layers.ts';
import { isMap, type RawMap } from '../catalogue/merge.ts';
import { topic } from '../catalogue/shapes.ts';
import { ZIGBEE2MQTT_PROFILES } from '../catalogue/zigbee2mqtt.ts';
import type { Json } from '../values.ts';
import { type Expose, type ExposedField, expose, fieldsOf, isKind } from './exposes.ts';
import type { GuardName } from './guards.ts';
import { harmless, idFrom, isHarmless } from './names.ts';
import { asExpected, type Found, type LeftOut, type Proposal } from './proposal.ts';

const devices = z.array(
  z.object({
    ieee_address: z.string().regex(/^0x[0-9a-f]{1,16}$/i),
    type: z.string(),
    friendly_name: z.string(),
    disabled: z.boolean().optional(),
    power_source: z.string().nullish(),
    definition: z
      .object({
        model: z.string().optional(),
        vendor: z.string().optional(),
        description: z.string().optional(),
        exposes: z.array(z.unknown()),
      })
      .nullish(),
  }),
);
type Device = z.infer<typeof devices>[number];

/** A device that sleeps takes what it is told when it wakes; it must not be called unchanged before. */
const ASLEEP = { within: '15m', lag: '10m', lagReason: 'waiting for the device to wake' };

/** Throws for what no zigbee2mqtt publishes. The coordinator is no device of anybody's. */
export function zigbee2mqttProposals(payload: Json, base: string): Found {
  const proposals: Proposal[] = [];
  const leftOut: LeftOut[] = [];
  for (const device of asExpected(devices, payload)) {
    if (device.type === 'Coordinator') continue;
    const identity = `${base}/${device.friendly_name}`;
    const why = objectionTo(device);
    const proposal = why === null ? proposalOf(device, base) : null;
    if (proposal !== null) proposals.push(proposal);
    else leftOut.push({ identity, why: why ?? 'nothing of it can be set or asked for' });
  }
  return { proposals, leftOut };
}

function objectionTo({ friendly_name: name, disabled, definition }: Device): string | null {
  if (disabled === true) return 'disabled';
  if (!isHarmless(name) || !topic.safeParse(name.replaceAll(' ', '_')).success)
    return 'its name can be in no topic; give it another in zigbee2mqtt';
  return definition == null ? 'zigbee2mqtt does not support it' : null;
}

/** null: there is nothing to command, and nothing that it answers. */
function proposalOf(device: Device, base: string): Proposal | null {
  const { friendly_name: name, ieee_address: address, definition } = device;
  const parts = (definition?.exposes ?? []).flatMap((part) => {
    const parsed = expose.safeParse(part);
    return parsed.success ? [parsed.data] : [];
  });
  const fields = distinct(parts.flatMap(fieldsOf));
  if (!fields.some(({ isSet, isAsked }) => isSet || isAsked)) return null;
  const guard = guardOf(parts, definition?.description ?? '');
  const best = idFrom(name);
  const surest = best === null ? (idFrom(address) ?? 'device') : `${best}-${address.slice(-4).toLowerCase()}`;
  const isSleeper = device.type === 'EndDevice' && device.power_source === 'Battery';
  return {
    identity: `${base}/${name}`,
    ids: best === null ? [surest] : [best, surest],
    entry: {
      name: harmless(name) ?? address,
      ...(guard === null ? {} : { tags: [guard] }),
      ...describedBy(parts, fields),
      with: { friendly_name: name, ...(base === 'zigbee2mqtt' ? {} : { base }) },
      ...(isSleeper && fields.some(({ isSet }) => isSet) ? { settle: ASLEEP } : {}),
    },
    comment: [definition?.vendor, definition?.model, definition?.description, address]
      .flatMap((part) => harmless(part, 100) ?? [])
      .join(', '),
    guard,
  };
}

/** Several endpoints or several parts may have the same field: the first one counts. */
function distinct(fields: readonly ExposedField[]): readonly ExposedField[] {
  return [...new Map([...fields].reverse().map((field) => [field.name, field])).values()].reverse();
}

/** The profile that comes nearest, and what differs from it. */
function describedBy(parts: readonly Expose[], fields: readonly ExposedField[]): RawMap {
  const kinds = parts.flatMap(({ type, endpoint }) => (isKind(type) ? [{ type, endpoint }] : []));
  const [only] = kinds;
  const isSingle = kinds.length === 1 && only?.endpoint === undefined;
  const named = isSingle ? `zigbee2mqtt/${only?.type}` : '';
  const profile = Object.hasOwn(ZIGBEE2MQTT_PROFILES, named) ? named : 'zigbee2mqtt/other';
  const builtIn = written(ZIGBEE2MQTT_PROFILES[profile] ?? {});
  const known = isMap(builtIn['fields']) ? builtIn['fields'] : {};
  const own = Object.fromEntries(
    fields.map(({ name, field }) => [name, written({ fields: { [name]: field } })]),
  );
  const changes = Object.entries(known).flatMap(([name, field]) => {
    const found = own[name]?.['fields'];
    const change = isMap(found) ? difference(field as RawMap, found[name] as RawMap) : null;
    return change === null || Object.keys(change).length > 0 ? [[name, change] as const] : [];
  });
  const added = fields.flatMap(({ name, field }) =>
    Object.hasOwn(known, name) ? [] : [[name, field] as const],
  );
  const all = Object.fromEntries([...changes, ...added]);
  return {
    profile,
    ...(fields.some(({ isSet }) => isSet) ? {} : { send: null }),
    ...askedOf(builtIn, fields),
    ...(Object.keys(all).length === 0 ? {} : { fields: all }),
  };
}

/** What has to be laid over `below` to get `wanted`. */
function difference(below: RawMap, wanted: RawMap): RawMap {
  const keys = [...new Set([...Object.keys(wanted), ...Object.keys(below)])];
  const changed = keys.flatMap((key): (readonly [string, unknown])[] => {
    const [from, to] = [below[key], wanted[key]];
    if (JSON.stringify(from) === JSON.stringify(to)) return [];
    if (isMap(from) && isMap(to)) return [[key, difference(from, to)]];
    return [[key, to ?? null]];
  });
  return Object.fromEntries(changed);
}

/** The device is asked for what can be set; where nothing can be, for all that it answers. */
function askedOf(builtIn: RawMap, fields: readonly ExposedField[]): RawMap {
  const isCommanded = fields.some(({ isSet, isAsked }) => isSet && isAsked);
  const read = isMap(builtIn['read']) ? builtIn['read'] : {};
  const ask = isMap(read['ask']) ? read['ask'] : {};
  const usual = isMap(ask['body']) ? Object.keys(ask['body']) : [];
  const asked = fields
    .filter(({ property, isSet, isAsked }) => isAsked && (isSet || !isCommanded || usual.includes(property)))
    .map(({ property }) => property);
  if ([...asked].sort().join() === [...usual].sort().join()) return {};
  if (asked.length === 0) return { read: { ask: null } };
  const where = ask['topic'] === undefined ? { topic: '{base}/{friendly_name}/get' } : {};
  return { read: { ask: { ...where, body: Object.fromEntries(asked.map((property) => [property, ''])) } } };
}

function guardOf(parts: readonly Expose[], description: string): GuardName | null {
  const has = (kind: string): boolean => parts.some(({ type }) => type === kind);
  if (has('lock')) return 'lock';
  if (has('cover')) return /garage|gate|door/i.test(description) ? 'gate' : 'cover';
  return has('switch') && /valve/i.test(description) ? 'valve' : null;
}
