/** What is written down of a domain of Home Assistant, and how its services are. */
import type { RawMap } from './merge.ts';

export interface Domain {
  readonly fields: RawMap;
  readonly send: readonly Service[];
  readonly abilities?: Readonly<Record<string, Ability>>;
  readonly moving?: string;
  readonly faults?: RawMap;
  /** A state `unknown` is no reason to doubt the entity: it only means that nothing has happened yet. */
  readonly startsUnknown?: true;
}

export interface Service {
  readonly service: string;
  readonly for: readonly string[];
  readonly when?: RawMap;
  /** Service data besides `entity_id`. */
  readonly data?: Readonly<Record<string, unknown>>;
  /** Without it, the service says what shall be, not what shall change, and may be called twice. */
  readonly kind?: 'pulse';
}

/** What of an entity's attributes says that, and how far, a field can be set. What is not there says nothing. */
export interface Ability {
  /** Bit of `supported_features`, which each domain counts for itself; by value, where values need different ones. */
  readonly feature?: number | Readonly<Record<string, number>>;
  /** What it doesn't support without that bit, for people; by value likewise. */
  readonly what?: string | Readonly<Record<string, string>>;
  /** The bits depend on the mode that it is in: what it can't do now, it may once the mode is set. */
  readonly changesWithMode?: true;
  /** Attribute with the values that it takes. */
  readonly list?: string;
  /** Attributes with the lowest and the highest value, in the device's terms. */
  readonly range?: readonly [string, string];
  readonly step?: string;
  readonly unit?: string;
  /** Giving it a value turns it on. */
  readonly turnsOn?: true;
  /** Of its colour modes, one that is none of these has to be there. */
  readonly colourModes?: { readonly none: readonly string[]; readonly what: string };
}

export const state = 'body.state';
export const attribute = (name: string): string => `body.attributes.${name}`;
export const power = { type: 'onoff', read: state };

/** The services that bring `field` to each of these values. */
export const services = (
  domain: string,
  field: string,
  byValue: Readonly<Record<string, string>>,
): readonly Service[] =>
  Object.entries(byValue).map(([value, service]) => ({
    service: `${domain}/${service}`,
    for: [field],
    when: { [field]: [value] },
  }));

export const setter = (service: string, field: string, key: string): Service => ({
  service,
  for: [field],
  data: { [key]: `=$wire.${field}` },
});

/** Turned on, it takes other values in the same call. */
export function onAndOff(
  domain: string,
  carriedWhenOn: Readonly<Record<string, string>> = {},
): readonly Service[] {
  const [on, off] = services(domain, 'power', { on: 'turn_on', off: 'turn_off' }) as [Service, Service];
  return [{ ...on, for: [...on.for, ...Object.keys(carriedWhenOn)], data: carriedWhenOn }, off];
}
