/** Definitions as the loader makes them, for tests that are about one key of them. */
import type {
  DeviceDefinition,
  FieldDefinition,
  FieldValue,
  ReadDefinition,
  RequestTemplate,
  SendStep,
} from '../../domain/catalogue/definition.ts';
import type { Reading, Value } from '../../domain/values.ts';

type DeviceScale = FieldDefinition['device'];

export function field(
  name: string,
  overrides: Partial<Omit<FieldDefinition, 'device'>> & { device?: Partial<DeviceScale> } = {},
): FieldDefinition {
  return {
    name,
    type: 'number',
    unit: null,
    key: name,
    read: `body.${name}`,
    missing: null,
    invalid: [],
    values: null,
    min: null,
    max: null,
    step: null,
    tolerance: null,
    appliesWhen: {},
    requires: [],
    confirm: null,
    readOnly: false,
    readback: true,
    settle: null,
    hint: null,
    ...overrides,
    device: { unit: null, range: null, step: null, round: 'nearest', ...overrides.device },
  };
}

export function celsius(overrides: Parameters<typeof field>[1] = {}): FieldDefinition {
  return field('temperature', { type: 'celsius', unit: '°C', min: 16, max: 30, step: 0.5, ...overrides });
}

export function percent(name: string, overrides: Parameters<typeof field>[1] = {}): FieldDefinition {
  return field(name, { type: 'percent', unit: '%', min: 0, max: 100, ...overrides });
}

/** `spellings`: our value → what is sent and read. */
export function choice(
  name: string,
  spellings: Readonly<Record<string, string | number | boolean>>,
  overrides: Parameters<typeof field>[1] = {},
): FieldDefinition {
  const values: FieldValue[] = Object.entries(spellings).map(([value, send]) => ({
    value,
    send,
    accepts: [send],
  }));
  return field(name, { type: 'enum', values, ...overrides });
}

export function onoff(name = 'power', overrides: Parameters<typeof field>[1] = {}): FieldDefinition {
  return choice(name, { on: 'on', off: 'off' }, { type: 'onoff', ...overrides });
}

export function request(line: string, overrides: Partial<RequestTemplate> = {}): RequestTemplate {
  const [method = '', path = ''] = line.split(' ');
  return { method, path, headers: {}, body: null, as: 'json', topic: null, ...overrides };
}

export function step(index: number, fields: readonly string[], overrides: Partial<SendStep> = {}): SendStep {
  return {
    index,
    for: fields,
    when: {},
    request: request('PUT /device'),
    fillFromCurrent: false,
    uses: [],
    kind: 'set',
    repeatable: true,
    // biome-ignore lint/suspicious/noThenProperty: the catalogue's own word
    then: { kind: 'verify' },
    keep: {},
    idempotencyHeader: null,
    ...overrides,
  };
}

export function read(overrides: Partial<ReadDefinition> = {}): ReadDefinition {
  return {
    requests: { state: request('GET /device') },
    single: true,
    pick: null,
    shareMs: 0,
    refresh: null,
    ask: null,
    availability: [],
    available: null,
    fresh: null,
    moving: null,
    at: null,
    ...overrides,
  };
}

export function device(
  fields: readonly FieldDefinition[],
  overrides: Partial<DeviceDefinition> = {},
): DeviceDefinition {
  const writable = fields.filter(({ readOnly }) => !readOnly).map(({ name }) => name);
  return {
    id: 'bedroom-ac',
    name: 'Bedroom air conditioner',
    aliases: [],
    area: null,
    tags: [],
    hint: null,
    connection: 'vendor',
    entity: null,
    params: {},
    fields: Object.fromEntries(fields.map((one) => [one.name, one])),
    send: [step(0, writable)],
    read: read(),
    faults: {},
    settle: {
      firstMs: 1000,
      everyMs: 2000,
      withinMs: 60_000,
      stableMs: 2000,
      reads: 2,
      lagMs: 0,
      lagReason: null,
      maxSends: 1,
    },
    wake: null,
    deliverWithinMs: 900_000,
    lane: 'queue',
    reply: {},
    digest: 'test',
    ...overrides,
  };
}

/** As a read without any trouble gives them. */
export function readings(values: Readonly<Record<string, Value>>): Record<string, Reading> {
  return Object.fromEntries(Object.entries(values).map(([name, value]) => [name, { kind: 'value', value }]));
}
