/** One device: its layers found, merged, and turned into a definition. */
import type { Connection, DeviceDefinition, SettlePolicy } from './definition.ts';
import { digestOf } from './digest.ts';
import { milliseconds } from './durations.ts';
import { resolveFields } from './fields.ts';
import { HOME_ASSISTANT_DOMAINS, homeAssistantLayer } from './home-assistant.ts';
import { type Layer, type MergedDevice, mergeLayers } from './layers.ts';
import { isMap, type RawMap } from './merge.ts';
import { resolveParams } from './params.ts';
import { didYouMean, listed, type Report } from './problems.ts';
import { type ReadContext, readScope, resolveRead, resolveWake } from './reads.ts';
import { checkExpression, type Scope } from './scope.ts';
import { keptNames, resolveSends } from './sends.ts';
import { checkSettle, DEFAULT_SETTLE, partialSettle } from './settle-policy.ts';

export interface ConnectionPart {
  readonly connection: Connection;
  readonly layer: Layer;
  readonly secrets: readonly string[];
  /** Where it is reached, as it stands in the file: without secrets, and without the simulator's port of the day. */
  readonly address: string;
}

export interface DeviceParts {
  readonly id: string;
  readonly device: Layer;
  /** Nearest first: the profile itself, then what it extends. */
  readonly profiles: readonly Layer[];
  readonly defaults: Layer | null;
  readonly connections: ReadonlyMap<string, ConnectionPart>;
}

/** The layers of a device, weakest first. */
export function layersOf({ device, profiles, defaults, connections }: DeviceParts): readonly Layer[] {
  const own = [...(defaults === null ? [] : [defaults]), ...[...profiles].reverse(), device];
  const name = mergeLayers(own).connection;
  const connection = name ? connections.get(name) : undefined;
  const entity = device.content.entity;
  const builtIn: readonly Layer[] =
    connection?.connection.kind === 'home-assistant' && typeof entity === 'string'
      ? [
          {
            file: '',
            path: null,
            content: homeAssistantLayer(entity, ...[...profiles].reverse().map(fieldsIn), fieldsIn(device)),
          },
        ]
      : [];
  const [first, ...rest] = own;
  const below = defaults !== null && first ? [first] : [];
  return [
    ...builtIn,
    ...below,
    ...(connection ? [connection.layer] : []),
    ...(defaults === null ? own : rest),
  ];
}

const fieldsIn = ({ content }: Layer): RawMap => (isMap(content.fields) ? content.fields : {});

/** The definition, as far as it can be had; what is wrong is reported. null: too little is known. */
export function resolveDevice(
  parts: DeviceParts,
  layers: readonly Layer[],
  report: Report,
): DeviceDefinition | null {
  const merged = mergeLayers(layers);
  const found = connectionOf(merged, parts, report);
  if (found === null) return null;
  const { kind } = found;
  const isDescribed = checkEntity(merged, kind, report);
  const params = {
    ...resolveParams(merged, typeof merged.profile === 'string', report),
    ...(merged.entity ? { entity: merged.entity } : {}),
  };
  const read = merged.read;
  if (isDescribed && Object.keys(merged.fields ?? {}).length === 0)
    report(['fields'], 'is missing: give at least one field');
  const fields = resolveFields(
    merged.fields ?? {},
    {
      unread: read === undefined,
      severalRequests: read?.requests !== undefined,
    },
    report,
  );
  const names = Object.keys(params);
  const context: ReadContext = {
    kind,
    params: names,
    fields: Object.keys(fields),
    kept: keptNames(merged.send),
  };
  checkExpressions(merged, fields, readScope(read, context), report);
  const send = resolveSends(
    merged.send,
    { fields, params: names, kind, readable: read !== undefined, secrets: found.secrets },
    report,
  );
  const settle: SettlePolicy = { ...DEFAULT_SETTLE, ...partialSettle(merged.settle ?? {}) };
  const repeatable = send.some((step) => step.repeatable);
  checkSettle(settle, repeatable, report);
  for (const field of Object.values(fields)) {
    if (field.settle)
      checkSettle({ ...settle, ...field.settle }, repeatable, (path, message) =>
        report(['fields', field.name, ...path], message),
      );
  }
  const definition: Omit<DeviceDefinition, 'digest'> = {
    id: parts.id,
    name: merged.name ?? parts.id,
    aliases: merged.aliases ?? [],
    area: merged.area ?? null,
    tags: merged.tags ?? [],
    hint: merged.hint ?? null,
    connection: found.name,
    entity: merged.entity ?? null,
    params,
    fields,
    send,
    read: resolveRead(read, context, report),
    faults: (merged.faults ?? {}) as Readonly<Record<string, string>>,
    settle,
    wake: resolveWake(merged, context, report),
    deliverWithinMs: milliseconds(merged.deliver?.within ?? '15m'),
    lane: merged.lane ?? 'queue',
    reply: (merged.reply ?? {}) as DeviceDefinition['reply'],
  };
  // Where it is reached counts too: an approval given for one address is none for another.
  return { ...definition, digest: digestOf({ ...definition, address: found.address }) };
}

/** Where it is missing or unknown the device is checked as one of the kind that it seems to be; null: that can't be told. */
function connectionOf(
  { connection: name, entity }: MergedDevice,
  { connections }: DeviceParts,
  report: Report,
):
  | (Pick<ConnectionPart, 'secrets' | 'address'> & {
      readonly name: string;
      readonly kind: Connection['kind'];
    })
  | null {
  const found = name ? connections.get(name) : undefined;
  if (found !== undefined) return { ...found, name: found.connection.name, kind: found.connection.kind };
  const known = [...connections.keys()];
  const why = name
    ? `there is no connection ${JSON.stringify(name)}`
    : 'is missing: give the name of a connection';
  report(['connection'], `${why}; connections: ${listed(known)}.${didYouMean(name ?? '', known)}`);
  return entity ? null : { name: name ?? '', kind: 'http', secrets: [], address: '' };
}

/** What of a device is looked at in replies. */
function checkExpressions(
  merged: MergedDevice,
  fields: DeviceDefinition['fields'],
  scope: Scope,
  report: Report,
): void {
  for (const { name, read: source, confirm } of Object.values(fields)) {
    if (source !== null && merged.fields?.[name]?.read)
      checkExpression(source, scope, ['fields', name, 'read'], report);
    if (confirm !== null) checkExpression(confirm, scope, ['fields', name, 'confirm'], report);
  }
  for (const [name, source] of Object.entries(merged.faults ?? {})) {
    if (source) checkExpression(source, scope, ['faults', name], report);
  }
  if (merged.faults && Object.keys(merged.faults).length > 0 && merged.read === undefined)
    report(['faults'], 'faults need a "read"');
  for (const [name, source] of Object.entries(merged.reply ?? {})) {
    if (source)
      checkExpression(
        source,
        { roots: ['status', 'body', 'headers'], params: [], groups: {} },
        ['reply', name],
        report,
      );
  }
}

/** false: where its fields should come from is wrong already. */
function checkEntity({ entity, fields }: MergedDevice, kind: Connection['kind'], report: Report): boolean {
  if (kind !== 'home-assistant') {
    if (entity)
      report(
        ['entity'],
        `only devices on a home-assistant connection have an entity; this connection is ${kind}`,
      );
    return true;
  }
  if (!entity) {
    report(['entity'], 'is missing: give the entity, e.g. climate.bedroom');
    return false;
  }
  const domain = entity.slice(0, entity.indexOf('.'));
  if (HOME_ASSISTANT_DOMAINS.includes(domain) || isMap(fields)) return true;
  report(
    ['entity'],
    `the fields of ${domain} are not built in (built in: ${listed(HOME_ASSISTANT_DOMAINS)}): give "fields" and "send" yourself`,
  );
  return false;
}
