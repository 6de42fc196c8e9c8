/** What Home Assistant tells of its entities, as entries of a catalogue. */
import { z } from 'zod';
import { domainOf } from '../catalogue/home-assistant.ts';
import type { Ability, Domain } from '../catalogue/home-assistant-domain.ts';
import { isMap, type RawMap } from '../catalogue/merge.ts';
import { withoutDust } from '../device-scale.ts';
import type { Json } from '../values.ts';
import type { GuardName } from './guards.ts';
import { harmless, idFrom, isHarmless } from './names.ts';
import { asExpected, type Found, type LeftOut, type Proposal } from './proposal.ts';

export interface HomeAssistantInventory {
  /** `GET /api/states`. */
  readonly states: Json;
  /** `unit_system.temperature` of `GET /api/config`. */
  readonly temperatureUnit: string;
  /** Names of areas by entity. */
  readonly areas: ReadonlyMap<string, string>;
}

const entities = z.array(
  z.object({
    entity_id: z.string().regex(/^[a-z0-9_]+\.[a-z0-9_]{1,200}$/),
    attributes: z.record(z.string(), z.unknown()),
  }),
);
type Attributes = z.infer<typeof entities>[number]['attributes'];

/** Throws for what no Home Assistant answers. Domains without built-in knowledge are left out, each named. */
export function homeAssistantProposals({ states, temperatureUnit, areas }: HomeAssistantInventory): Found {
  const proposals: Proposal[] = [];
  const leftOut: LeftOut[] = [];
  for (const { entity_id: entity, attributes } of asExpected(entities, states)) {
    const domain = domainOf(entity);
    const fields = domain === undefined ? {} : fieldsOf(domain, attributes, temperatureUnit);
    if (domain === undefined)
      leftOut.push({ identity: entity, why: 'no fields are built in for its domain' });
    else if (Object.keys(domain.fields).every((name) => isOnlyRead(fields[name], domain.fields[name])))
      leftOut.push({ identity: entity, why: 'nothing of it can be set' });
    else proposals.push(proposalOf(entity, domain, attributes, fields, harmless(areas.get(entity))));
  }
  return { proposals, leftOut };
}

const kindOf = (entity: string): string => entity.slice(0, entity.indexOf('.'));

const isOnlyRead = (change: unknown, builtIn: unknown): boolean =>
  change === null ||
  (isMap(change) && change['readOnly'] === true) ||
  (isMap(builtIn) && builtIn['readOnly'] === true);

function proposalOf(
  entity: string,
  domain: Domain,
  attributes: Attributes,
  fields: RawMap,
  area: string | null,
): Proposal {
  const [kind, object = ''] = entity.split('.');
  const guard = guardOf(entity, attributes);
  const best = idFrom(object);
  const surest = idFrom(object, kind ?? '') ?? idFrom(`${kind}-entity`) ?? 'entity';
  return {
    identity: entity,
    ids: best === null ? [surest] : [best, surest],
    entry: {
      name: harmless(attributes['friendly_name']) ?? object,
      ...(area === null ? {} : { area }),
      ...(guard === null ? {} : { tags: [guard] }),
      entity,
      ...(Object.keys(fields).length === 0 ? {} : { fields }),
    },
    comment: commentOn(domain, attributes, fields),
    guard,
  };
}

/** What differs from the built-in fields of the domain: null removes one. */
function fieldsOf(domain: Domain, attributes: Attributes, temperatureUnit: string): RawMap {
  const changes = Object.entries(domain.fields).flatMap(([name, field]): (readonly [string, unknown])[] => {
    const builtIn = field as RawMap;
    const ability = domain.abilities?.[name] ?? {};
    const isTold = tells(builtIn, attributes);
    if (!isAble(ability, attributes))
      return [[name, isTold && !isAction(builtIn) ? { readOnly: true } : null]];
    if (builtIn['readOnly'] === true) return isTold ? [] : [[name, null]];
    const change = {
      ...(attributes['assumed_state'] === true && !isAction(builtIn) ? { read: null, readback: 'none' } : {}),
      ...(builtIn['type'] === 'celsius' && temperatureUnit === '°F' ? { type: 'number', unit: '°F' } : {}),
      ...valuesOf(ability, attributes),
      ...limitsOf(builtIn, ability, attributes),
    };
    return Object.keys(change).length === 0 ? [] : [[name, change]];
  });
  return Object.fromEntries(changes);
}

const isAction = ({ type }: RawMap): boolean => type === 'action';

/** The state is always there; an attribute, only with what has it. */
function tells({ read }: RawMap, attributes: Attributes): boolean {
  const [, attribute] = /^body\.attributes\.(\w+)$/.exec(String(read)) ?? [];
  return attribute === undefined || Object.hasOwn(attributes, attribute);
}

function isAble({ feature, changesWithMode, colourModes }: Ability, attributes: Attributes): boolean {
  const modes = attributes['supported_color_modes'];
  if (colourModes !== undefined && Array.isArray(modes))
    return modes.some((mode) => !colourModes.none.includes(String(mode)));
  const features = attributes['supported_features'];
  if (feature === undefined || changesWithMode || typeof features !== 'number') return true;
  const bits = typeof feature === 'number' ? [feature] : Object.values(feature);
  return bits.some((bit) => (features & bit) !== 0);
}

function valuesOf({ list }: Ability, attributes: Attributes): RawMap {
  const listed = list === undefined ? undefined : attributes[list];
  const values = Array.isArray(listed) ? [...new Set(listed.filter(isHarmless))] : [];
  return values.length === 0 ? {} : { type: 'enum', values };
}

function limitsOf(builtIn: RawMap, { range, step, unit }: Ability, attributes: Attributes): RawMap {
  const [min, max] = (range ?? []).map((name) => attributes[name]);
  if (typeof min !== 'number' || typeof max !== 'number' || !(min < max)) return {};
  const by = step === undefined ? undefined : attributes[step];
  const shown = unit === undefined ? null : harmless(attributes[unit], 16);
  const isWhole = builtIn['type'] === 'percent' && min <= 0 && max >= 100;
  const isStepped = typeof by === 'number' && by > 0 && by <= max - min;
  // A thermostat counts whole steps from 0, and its limits may lie between two; ours are counted from the lower limit.
  const onSteps = isStepped && builtIn['type'] === 'celsius';
  return {
    ...(isWhole
      ? {}
      : onSteps
        ? { min: withinSteps(min, by, 'ceil'), max: withinSteps(max, by, 'floor') }
        : { min, max }),
    ...(isStepped ? { step: by } : {}),
    ...(shown === null ? {} : { unit: shown }),
  };
}

const withinSteps = (value: number, step: number, to: 'ceil' | 'floor'): number =>
  withoutDust(Math[to](withoutDust(value / step)) * step);

/** What a reader of the file should know before relying on it. */
function commentOn(domain: Domain, attributes: Attributes, fields: RawMap): string | null {
  const comments = [
    attributes['assumed_state'] === true
      ? 'Home Assistant only assumes its state, so there is nothing to read back.'
      : null,
    attributes['code_format'] == null ? null : 'It wants a code: give it a default one in Home Assistant.',
    unable(domain, attributes, fields),
  ].filter((comment) => comment !== null);
  return comments.length === 0 ? null : comments.join(' ');
}

/** Values that can't be asked of this one, though others of the same field can. */
function unable({ abilities }: Domain, attributes: Attributes, fields: RawMap): string | null {
  const features = attributes['supported_features'];
  if (typeof features !== 'number') return null;
  const lacking = Object.entries(abilities ?? {}).flatMap(([name, { feature, what }]) =>
    typeof feature === 'object' && typeof what === 'object' && !isOnlyRead(fields[name], {})
      ? Object.entries(feature).flatMap(([value, bit]) =>
          (features & bit) === 0 ? [what[value] ?? value] : [],
        )
      : [],
  );
  return lacking.length === 0 ? null : `By its own account it doesn't support ${lacking.join(', ')}.`;
}

/** Covers that let somebody in, by their `device_class`. */
const WAYS_IN = ['door', 'garage', 'gate', 'window'];
const GUARD_OF: Readonly<Record<string, GuardName>> = {
  lock: 'lock',
  cover: 'cover',
  valve: 'valve',
  alarm_control_panel: 'alarm',
  siren: 'siren',
};

function guardOf(entity: string, attributes: Attributes): GuardName | null {
  const kind = kindOf(entity);
  if (kind === 'cover' && WAYS_IN.includes(String(attributes['device_class']))) return 'gate';
  return (Object.hasOwn(GUARD_OF, kind) ? GUARD_OF[kind] : undefined) ?? null;
}
