/**
 * The built-in layer of an entity of Home Assistant.
 *
 * States carry no usable stamp for `read.at`: `last_updated` moves only when something changes, and `last_reported` only when the
 * integration writes, so a device that stands still would look stale instead of unchanged. Home Assistant says itself when it
 * has lost a device (`unavailable`); that, and `settle.lag`, tell what a stamp would.
 */
import type { Domain, Service } from './home-assistant-domain.ts';
import { DOMAINS } from './home-assistant-domains.ts';
import { isMap, merge, type RawMap } from './merge.ts';

export const HOME_ASSISTANT_DOMAINS: readonly string[] = Object.keys(DOMAINS);

/** What is known of the domain of `climate.bedroom`; undefined: nothing is built in. */
export function domainOf(entity: string): Domain | undefined {
  const name = entity.slice(0, entity.indexOf('.'));
  return Object.hasOwn(DOMAINS, name) ? DOMAINS[name] : undefined;
}

/**
 * The built-in layer of an entity, in the catalogue's own terms, for the user's keys to be laid over. `changes` are the user's
 * own `fields`, weakest first: what they remove (`null`) or only read is in no request, and values that they leave out of a
 * field are in no condition. A domain without built-in knowledge has a `read` only.
 */
export function homeAssistantLayer(entity: string, ...changes: readonly RawMap[]): RawMap {
  const domain = domainOf(entity);
  const read = {
    request: 'GET /api/states/{entity}',
    available: `body.state != "unavailable"${domain?.startsUnknown ? '' : ' and body.state != "unknown"'}`,
    // Such an entity shows what it was told: nobody has looked.
    fresh: '(body.attributes.assumed_state ?? false) != true',
    ...(domain?.moving === undefined ? {} : { moving: domain.moving }),
  };
  if (domain === undefined) return { read };
  const change = changes.reduce<RawMap>((below, above) => ({ ...below, ...mergedFields(below, above) }), {});
  const removed = (field: string): boolean => change[field] === null;
  const fields = Object.entries(domain.fields).flatMap(([name, field]) =>
    removed(name) ? [] : [[name, applicable(field as RawMap, change)] as const],
  );
  return {
    read,
    fields: Object.fromEntries(fields),
    send: domain.send.flatMap((service) => stepOf(service, entity, change)),
    faults: domain.faults ?? {},
  };
}

function mergedFields(below: RawMap, above: RawMap): RawMap {
  return Object.fromEntries(
    Object.entries(above).map(([name, field]) => {
      const lower = below[name];
      return [name, isMap(field) && isMap(lower) ? merge(lower, field) : field];
    }),
  );
}

function stepOf(service: Service, entity: string, change: RawMap): readonly RawMap[] {
  const isSent = (name: string): boolean => {
    const own = change[name];
    return own !== null && !(isMap(own) && own['readOnly'] === true);
  };
  const sent = service.for.filter(isSent);
  const when = narrowed(service.when ?? {}, change);
  if (sent.length === 0 || Object.values(when).some((values) => values.length === 0)) return [];
  const data = Object.fromEntries(
    Object.entries(service.data ?? {}).filter(([, value]) =>
      service.for.every((field) => isSent(field) || value !== `=$wire.${field}`),
    ),
  );
  return [
    {
      for: sent,
      ...(service.when === undefined ? {} : { when }),
      request: `POST /api/services/${service.service}`,
      body: { entity_id: entity, ...data },
      ...(service.kind === undefined ? { repeatable: true } : { kind: service.kind }),
    },
  ];
}

/** A condition on a field that is not there any more would be an error of the user's, who wrote none. */
function applicable(field: RawMap, change: RawMap): RawMap {
  if (!isMap(field['appliesWhen'])) return field;
  const condition = Object.entries(narrowed(field['appliesWhen'], change)).filter(
    ([name, values]) => change[name] !== null && values.length > 0,
  );
  return { ...field, appliesWhen: Object.fromEntries(condition) };
}

/** Without the values that the user's own field doesn't have. */
function narrowed(condition: RawMap, change: RawMap): Readonly<Record<string, readonly unknown[]>> {
  return Object.fromEntries(
    Object.entries(condition).map(([name, values]) => {
      const own = change[name];
      const known = isMap(own) ? own['values'] : undefined;
      const left = (value: unknown): boolean =>
        Array.isArray(known) ? known.includes(value) : !isMap(known) || Object.hasOwn(known, String(value));
      return [name, (values as readonly unknown[]).filter(left)];
    }),
  );
}
