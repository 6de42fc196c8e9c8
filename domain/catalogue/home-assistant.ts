/**
 * What Readback knows about Home Assistant's domains: their fields, the services that set them, and how states are read.
 *
 * States carry no usable stamp for `read.at`: `last_updated` moves only when something changes, and `last_reported` only when the
 * integration writes, so a device that stands still would look stale instead of unchanged. Home Assistant says itself when it
 * has lost a device (`unavailable`); that, and `settle.lag`, tell what a stamp would.
 *
 * Temperatures are in the instance's own unit, known only at run time: ours is °C unless the catalogue says otherwise, and
 * `device.unit` stays null for the adapter to fill in. Likewise limits, steps and modes of the single device.
 */
import { isMap, type RawMap } from './merge.ts';

interface Domain {
  readonly fields: RawMap;
  readonly send: readonly Service[];
  readonly moving?: string;
  readonly faults?: RawMap;
}
interface Service {
  readonly service: string;
  readonly for: readonly string[];
  readonly when?: RawMap;
  /** Service data besides `entity_id`. */
  readonly data?: Readonly<Record<string, string>>;
}

const power = { type: 'onoff', read: 'body.state' };

function onAndOff(domain: string, carriedWhenOn: Readonly<Record<string, string>> = {}): readonly Service[] {
  return [
    {
      service: `${domain}/turn_on`,
      for: ['power', ...Object.keys(carriedWhenOn)],
      when: { power: ['on'] },
      data: carriedWhenOn,
    },
    { service: `${domain}/turn_off`, for: ['power'], when: { power: ['off'] } },
  ];
}

const DOMAINS: Readonly<Record<string, Domain>> = {
  climate: {
    fields: {
      mode: {
        type: 'enum',
        values: ['off', 'heat', 'cool', 'heat_cool', 'auto', 'dry', 'fan_only'],
        read: 'body.state',
      },
      temperature: {
        type: 'celsius',
        read: 'body.attributes.temperature',
        appliesWhen: { mode: ['off', 'heat', 'cool', 'heat_cool', 'auto', 'dry'] },
      },
      action: { type: 'text', readOnly: true, read: 'body.attributes.hvac_action' },
      current_temperature: { type: 'celsius', readOnly: true, read: 'body.attributes.current_temperature' },
    },
    send: [
      { service: 'climate/set_hvac_mode', for: ['mode'], data: { hvac_mode: '=$wire.mode' } },
      {
        service: 'climate/set_temperature',
        for: ['temperature'],
        data: { temperature: '=$wire.temperature' },
      },
    ],
  },
  light: {
    fields: {
      power,
      brightness: {
        type: 'percent',
        min: 1,
        device: { range: [0, 255] },
        read: 'body.attributes.brightness',
      },
    },
    // Home Assistant turns a light on to give it a brightness; there is no other way, and it is what its users expect.
    send: [
      ...onAndOff('light', { brightness: '=$wire.brightness' }),
      { service: 'light/turn_on', for: ['brightness'], data: { brightness: '=$wire.brightness' } },
    ],
  },
  fan: {
    fields: { power, percentage: { type: 'percent', read: 'body.attributes.percentage' } },
    // Turned on without a percentage, a fan takes one of its own: so both go in one call. A percentage alone has its own service.
    send: [
      ...onAndOff('fan', { percentage: '=$wire.percentage' }),
      { service: 'fan/set_percentage', for: ['percentage'], data: { percentage: '=$wire.percentage' } },
    ],
  },
  cover: {
    fields: {
      position: { type: 'percent', read: 'body.attributes.current_position' },
      door: { type: 'enum', values: ['open', 'closed'], read: 'body.state' },
    },
    send: [
      { service: 'cover/set_cover_position', for: ['position'], data: { position: '=$wire.position' } },
      { service: 'cover/open_cover', for: ['door'], when: { door: ['open'] } },
      { service: 'cover/close_cover', for: ['door'], when: { door: ['closed'] } },
    ],
    moving: 'body.state in ["opening", "closing"]',
  },
  lock: {
    fields: { lock: { type: 'enum', values: ['locked', 'unlocked'], read: 'body.state' } },
    send: [
      { service: 'lock/lock', for: ['lock'], when: { lock: ['locked'] } },
      { service: 'lock/unlock', for: ['lock'], when: { lock: ['unlocked'] } },
    ],
    moving: 'body.state in ["locking", "unlocking", "opening"]',
    faults: { jammed: 'body.state = "jammed"' },
  },
  switch: { fields: { power }, send: onAndOff('switch') },
};

export const HOME_ASSISTANT_DOMAINS: readonly string[] = Object.keys(DOMAINS);

/**
 * The built-in layer of an entity, in the catalogue's own terms, for the user's keys to be laid over.
 * Fields that the user removes (`null`) are in no request either. A domain without built-in knowledge has a `read` only.
 */
export function homeAssistantLayer(entity: string, removed: readonly string[] = []): RawMap {
  const name = entity.slice(0, entity.indexOf('.'));
  const domain = Object.hasOwn(DOMAINS, name) ? DOMAINS[name] : undefined;
  const read = {
    request: 'GET /api/states/{entity}',
    available: 'body.state != "unavailable" and body.state != "unknown"',
    ...(domain?.moving === undefined ? {} : { moving: domain.moving }),
  };
  if (domain === undefined) return { read };
  const kept = (fields: RawMap): RawMap =>
    Object.fromEntries(Object.entries(fields).filter(([field]) => !removed.includes(field)));
  return {
    read,
    fields: kept(domain.fields),
    send: domain.send.flatMap((service) => stepOf(service, entity, removed)),
    faults: domain.faults ?? {},
  };
}

function stepOf(service: Service, entity: string, removed: readonly string[]): readonly RawMap[] {
  const sent = service.for.filter((field) => !removed.includes(field));
  if (sent.length === 0) return [];
  const data = Object.fromEntries(
    Object.entries(service.data ?? {}).filter(
      ([, value]) => !removed.some((field) => value === `=$wire.${field}`),
    ),
  );
  return [
    {
      for: sent,
      ...(service.when === undefined ? {} : { when: service.when }),
      request: `POST /api/services/${service.service}`,
      body: { entity_id: entity, ...data },
      // All of these say what shall be, not what shall change.
      repeatable: true,
    },
  ];
}

/** Fields that a device's own keys remove. */
export const removedFields = (content: RawMap): readonly string[] =>
  isMap(content.fields)
    ? Object.entries(content.fields).flatMap(([name, field]) => (field === null ? [name] : []))
    : [];
