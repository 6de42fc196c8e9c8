/**
 * Every way in which a simulated device can misbehave, as options of the devices file.
 * Each option is small and does one thing; a device combines as many as it likes. docs/simulator.md shows each by example.
 */
import { z } from 'zod';
import { accountAuth } from './account-options.ts';
import { duration } from './duration.ts';

export type Json = z.core.util.JSONType;

const json = z.json();
const scalar = z.union([z.string(), z.number(), z.boolean(), z.null()]);
const scalars = z.record(z.string(), scalar);

/** A send of this field is answered with an error, and nothing of that request is taken. */
const refusal = z.strictObject({
  /** Only while it already is as asked. */
  same: z.literal(true).optional(),
  /** Only while one of these fields shows something else. */
  unless: scalars.optional(),
  /** Only for numbers outside of this range. */
  outside: z.tuple([z.number(), z.number()]).optional(),
  /** Only for other values than these. */
  notIn: z.array(scalar).optional(),
  status: z.int().min(400).max(599).default(400),
  body: json.optional(),
});

/** How one field takes a value, and what a read shows of it. Written at a device, an option holds for all of its fields. */
export const fieldOptions = {
  // What the device makes of the value that arrives.
  understands: scalars.optional(),
  refuses: z.array(refusal).optional(),
  ignores: z.boolean().optional(),
  convert: z.enum(['fahrenheit-to-celsius', 'celsius-to-fahrenheit']).optional(),
  round: z
    .strictObject({ step: z.number().positive(), to: z.enum(['nearest', 'down', 'up']).default('nearest') })
    .optional(),
  clamp: z.tuple([z.number(), z.number()]).optional(),
  offBy: z.number().optional(),
  settlesAt: scalar.optional(),
  // How it gets there.
  echoes: z.strictObject({ after: duration.default(0), for: duration }).optional(),
  follows: duration.optional(),
  ramps: z
    .strictObject({
      perSecond: z.number().positive(),
      /** Resolution of the readings on the way. */
      step: z.number().positive().default(1),
      stopsAt: z.number().optional(),
      /** It gets no further and goes on trying for ever. */
      stuckAt: z.number().optional(),
      /** Another field tells that it moves. */
      says: z.strictObject({ field: z.string(), up: scalar, down: scalar, still: scalar }).optional(),
    })
    .optional(),
  travels: z
    .strictObject({
      takes: duration,
      /** Value aimed at → the word shown on the way there. */
      shows: scalars,
      stuck: z.boolean().default(false),
    })
    .optional(),
  // What happens after it got there.
  flaps: z.strictObject({ every: duration, for: duration.optional() }).optional(),
  overridden: z.strictObject({ after: duration, to: scalar }).optional(),
  /** Value reached → what other fields become with it. */
  also: z.record(z.string(), scalars).optional(),
  // What a read shows.
  blank: z.strictObject({ after: duration.default(0), for: duration, shows: json }).optional(),
  spelling: scalars.optional(),
  as: z.enum(['text', 'decimal-text', 'number', 'boolean', 'list']).optional(),
  shows: json.optional(),
  mirrors: z.string().optional(),
};

/** How the API treats a request, whatever the device does. */
export const conduct = z.strictObject({
  /** Only so many requests; then the next one of the list, or ordinary behaviour. */
  times: z.int().positive().optional(),
  status: z.int().min(200).max(599).optional(),
  headers: z.record(z.string(), z.string()).optional(),
  body: json.optional(),
  oddity: z.enum(['html', 'empty', 'truncated', 'nan', 'huge', 'drip', 'redirect']).optional(),
  /** When the device takes a send: `at-once`, `late` (after `hangs`) or `never`. By default at once, and never with an error status. */
  acts: z.enum(['at-once', 'late', 'never']).optional(),
  hangs: duration.optional(),
  /** The connection is torn before anything is done. */
  drops: z.boolean().optional(),
  /** The connection is torn after the device took it. */
  losesReply: z.boolean().optional(),
});
const conducts = z.preprocess(
  (given) => (given === undefined || Array.isArray(given) ? given : [given]),
  z.array(conduct).optional(),
);

export const limit = z.strictObject({
  requests: z.int().positive(),
  per: duration,
  status: z.int().min(400).max(599).default(429),
  retryAfter: z.boolean().default(false),
  /** Header that holds the epoch second at which the window ends. */
  resetHeader: z.string().optional(),
  remainingHeader: z.string().optional(),
});

export const auth = z.union([
  z.strictObject({ bearer: z.string() }),
  z.strictObject({ basic: z.strictObject({ username: z.string(), password: z.string() }) }),
  z.strictObject({ header: z.record(z.string(), z.string()) }),
  z.strictObject({ query: z.record(z.string(), z.string()) }),
  ...accountAuth,
]);
export type Auth = z.output<typeof auth>;

const action = z.union([
  z.strictObject({ toggles: z.record(z.string(), z.tuple([scalar, scalar])) }),
  z.strictObject({ counts: z.string() }),
  z.strictObject({ sets: scalars }),
]);

const route = z.strictObject({
  request: z
    .string()
    .regex(
      /^(GET|PUT|POST|PATCH|DELETE) \/\S*$/,
      'a route is a method and a path, like "GET /units" or "PATCH /units/1/mode"',
    ),
  /** `one`: this device. `list`: every device that has this same route. */
  read: z.enum(['one', 'list']).optional(),
  /** Field → where its value is in the body (`a.b`; `.` is the whole body). `{field}` in the path or query needs no mention. */
  send: z.record(z.string(), z.string()).optional(),
  action: z.string().optional(),
  shape: json.optional(),
  answer: conducts,
});

const scriptEvent = z.strictObject({
  after: duration,
  from: z.enum(['start', 'send']).default('start'),
  set: z.record(z.string(), json).optional(),
  behaviour: z.record(z.string(), json).optional(),
});

/** Options of the device as a whole. */
export const deviceOptions = {
  about: z.string().optional(),
  /** Parts of every reading that can't be set, like an id. */
  labels: z.record(z.string(), json).default({}),
  fields: z.record(z.string(), z.strictObject(fieldOptions)).default({}),
  actions: z.record(z.string(), action).default({}),
  routes: z.array(route).default([]),
  /** The reading as the API words it; "$field" stands for a field's value. Default: all fields, flat. */
  shape: json.optional(),
  onSend: conducts,
  onRead: conducts,
  onRefresh: conducts,
  onWake: conducts,
  /** Its API answers, the device can't be reached by it: takes nothing, and fields show this. */
  offline: z.union([z.boolean(), z.strictObject({ shows: json })]).optional(),
  /** Nobody answers at all. */
  down: z.boolean().optional(),
  /** A port of its own (0: any), so that `down` is a refused connection. */
  port: z.int().min(0).max(65_535).optional(),
  unlisted: z.boolean().optional(),
  stamp: z
    .strictObject({
      field: z.string().default('measuredAt'),
      moves: z.enum(['always', 'on-change', 'never']).default('always'),
    })
    .optional(),
  reports: z
    .strictObject({
      only: z.literal('on-refresh'),
      takes: duration.default(0),
      before: z.enum(['null', 'old']).default('null'),
    })
    .optional(),
  sleeps: z
    .union([
      /** Takes what it was sent when it next wakes by itself. */
      z.strictObject({ every: duration }),
      /** Its API answers `status` until somebody wakes it. */
      z.strictObject({
        untilWoken: z.literal(true),
        wakingTakes: duration.default(0),
        awakeFor: duration.optional(),
        status: z.int().min(200).max(599).default(408),
        body: json.optional(),
        reads: z.enum(['refused', 'cached']).default('refused'),
        says: z.strictObject({ field: z.string(), asleep: scalar, awake: scalar }).optional(),
      }),
    ])
    .optional(),
  limit: z.union([z.string(), limit]).optional(),
  /** A name: an entry of the file's `accounts`. */
  auth: z.union([z.string(), auth]).optional(),
  /** A second send with the same value in this header is answered and not acted on. */
  honoursKey: z.string().optional(),
  script: z.array(scriptEvent).default([]),
};

export const behaviour = z.strictObject({ ...fieldOptions, ...deviceOptions });
export const deviceDefinition = behaviour.extend({ state: z.record(z.string(), json) });
/** Names of all options, for hints about misspelt ones. */
export const OPTION_NAMES: readonly string[] = [
  ...new Set([
    ...Object.keys(fieldOptions),
    ...Object.keys(deviceOptions),
    ...Object.keys(conduct.shape),
    ...Object.keys(route.shape),
    ...Object.keys(limit.shape),
    'state',
    'profile',
    'profiles',
    'devices',
    'limits',
    'accounts',
  ]),
];

const fieldBehaviour = z.strictObject(fieldOptions);
export type FieldBehaviour = z.output<typeof fieldBehaviour>;
export type DeviceDefinition = z.output<typeof deviceDefinition>;
export type Conduct = z.output<typeof conduct>;
export type Limit = z.output<typeof limit>;
export type Refusal = z.output<typeof refusal>;
export type ScriptEvent = z.output<typeof scriptEvent>;
export const script = z.array(scriptEvent);

/** What a map of the devices file has for this value; never what every object inherits. */
export function entryOf<T>(map: Readonly<Record<string, T>> | undefined, value: Json): T | undefined {
  const key = textOf(value);
  return map && Object.hasOwn(map, key) ? map[key] : undefined;
}

export function textOf(value: Json): string {
  return typeof value === 'object' ? JSON.stringify(value) : String(value);
}
