/** The shape of devices and profiles in the file, before anything is merged: every key may be left out, and `null` removes. */
import { z } from 'zod';
import { REPLY_CLASSES } from './definition.ts';
import { DURATION } from './durations.ts';
import { example } from './example-schema.ts';
import {
  condition,
  duration,
  expression,
  identifier,
  map,
  oneOrMore,
  request,
  requestKeys,
  requestLine,
  scalar,
  settle,
  text,
  topic,
} from './shapes.ts';

const step = map({
  ...requestKeys,
  for: oneOrMore(z.string())
    .nullish()
    .describe('Fields that this request sends. Default: all that can be written.'),
  when: condition.nullish().describe('Only if these fields are so: as desired, else as they are.'),
  fill: z
    .enum(['current'])
    .nullish()
    .describe('The request needs all fields: those not asked for are filled in from a fresh read.'),
  uses: oneOrMore(z.string()).nullish().describe('Further fields whose value the request needs.'),
  kind: z
    .enum(['set', 'toggle', 'pulse'])
    .nullish()
    .describe('Default: set. A toggle or a pulse is sent once, ever.'),
  repeatable: z.boolean().nullish().describe('Sending it twice does no harm. Default: false.'),
  then: z
    .union([z.enum(['verify', 'sent']), z.string().regex(DURATION)], {
      error: 'give verify, sent, or a pause such as 2s',
    })
    .nullish()
    .describe('What has to happen before the next step. Default: verify.'),
  keep: z
    .record(identifier, expression)
    .nullish()
    .describe('Values of the reply that later reads need as {kept.name}.'),
  idempotencyHeader: z
    .string()
    .regex(/^[A-Za-z0-9-]+$/)
    .nullish()
    .describe('The header in which this API takes an idempotency key.'),
}).meta({ id: 'step' });

const read = map({
  ...requestKeys,
  requests: z
    .record(identifier, request)
    .nullish()
    .describe('Several requests; expressions see each under its name, e.g. lock.body.state.'),
  pick: expression
    .nullish()
    .describe('Narrows body to this device, e.g. body[id = $id]; whole stays the whole reply.'),
  share: duration.nullish().describe('Devices with the same request may share a reply this old.'),
  refresh: z
    .union([requestLine, map({ ...requestKeys, wait: duration.nullish() })])
    .nullish()
    .describe('A request that makes the device report, and how long to wait after it.'),
  ask: z
    .union([topic, map(requestKeys)])
    .nullish()
    .describe('mqtt: the message that makes the device report.'),
  availability: oneOrMore(topic)
    .nullish()
    .describe('mqtt: topics that say "offline" while the device, or what connects it, is away.'),
  available: expression.nullish().describe('Only if this is true does the reading count.'),
  fresh: expression.nullish().describe('Only if this is true is the reading up to date.'),
  moving: expression
    .nullish()
    .describe('While this is true, another value means that the device is on its way.'),
  at: expression.nullish().describe("The device's own time stamp of the reading."),
}).meta({ id: 'read' });

const fieldKeys = map({
  type: z.enum(['onoff', 'percent', 'celsius', 'number', 'enum', 'text', 'action']).nullish(),
  key: z
    .string()
    .min(1)
    .max(200)
    .regex(/^[^`]*$/, 'a key must not hold `')
    .nullish()
    .describe("The device's name for it. Default: the field's name."),
  read: expression.nullish().describe('Where the reading is. Default: body.<key>.'),
  missing: scalar.nullish().describe('The value that counts when a good reply lacks the field.'),
  invalid: oneOrMore(scalar).nullish().describe('Values of the device that mean "no reading".'),
  values: z
    .union([z.array(scalar), z.record(z.string(), oneOrMore(scalar))])
    .nullish()
    .describe('The values, or a map from each value to how the device spells it; ">=20" is a range.'),
  sends: z
    .record(z.string(), scalar)
    .nullish()
    .describe('What is sent, where that differs from what is read.'),
  unit: z.string().min(1).max(16).nullish(),
  min: z.number().nullish(),
  max: z.number().nullish(),
  step: z.number().positive('a step is greater than 0').nullish(),
  device: map({
    unit: z.string().min(1).max(16).nullish(),
    range: z.array(z.number()).length(2, 'give two numbers, e.g. [0, 255]').nullish(),
    step: z.number().positive('a step is greater than 0').nullish(),
    round: z.enum(['nearest', 'down', 'up']).nullish(),
  })
    .nullish()
    .describe('How the device itself counts.'),
  tolerance: z
    .number()
    .min(0, 'a tolerance is 0 or more')
    .nullish()
    .describe('In our unit; less than one step.'),
  appliesWhen: condition
    .nullish()
    .describe('The field means something only while these fields are so; they are sent first.'),
  requires: oneOrMore(z.string()).nullish().describe('Fields that have to be given together with this one.'),
  confirm: expression.nullish().describe('Must also hold before the field counts as verified.'),
  readOnly: z.boolean().nullish(),
  readback: z.enum(['none']).nullish().describe('none: this field can never be read back.'),
  settle: settle.nullish(),
  hint: text.nullish().describe('What an agent should know about it.'),
});
const fieldType = z.enum(['onoff', 'percent', 'celsius', 'number', 'enum', 'text', 'action']);
export const field = z.union([fieldType, fieldKeys]).meta({ id: 'field' });

export const reply = map(
  Object.fromEntries(REPLY_CLASSES.map((name) => [name, expression.nullish()])) as Record<
    (typeof REPLY_CLASSES)[number],
    z.ZodOptional<z.ZodNullable<typeof expression>>
  >,
).meta({ id: 'reply', description: 'What replies mean, tried in this order.' });

export const deliver = z
  .union([duration, map({ within: duration.nullish() })])
  .describe('How long it may take to reach the device at all. Default: 15m.');
export const lane = z
  .enum(['queue', 'supersede', 'reject'])
  .describe('What a second command on the same device does. Default: queue.');

/** What a profile and a device have in common. */
export const deviceKeys = {
  connection: z.string().nullish(),
  with: z.record(identifier, scalar.nullable()).nullish().describe("Values of the profile's parameters."),
  name: z.string().min(1).max(64).nullish(),
  area: z.string().min(1).max(64).nullish(),
  tags: oneOrMore(z.string().min(1).max(64)).nullish(),
  hint: text.nullish().describe('What an agent should know about it.'),
  send: z.union([requestLine, step, z.array(z.union([requestLine, step]))]).nullish(),
  read: z.union([requestLine, read]).nullish(),
  fields: z.record(identifier, field.nullable()).nullish(),
  faults: z
    .record(identifier, expression.nullable())
    .nullish()
    .describe('While one of these is true or unknown, nothing counts as verified.'),
  settle: settle.nullish(),
  wake: map({
    ...requestKeys,
    until: expression.nullish(),
    within: duration.nullish(),
    atMost: z.int().min(1).max(10).nullish(),
  }).nullish(),
  deliver: deliver.nullish(),
  lane: lane.nullish(),
  reply: reply.nullish(),
};

export const device = map({
  profile: z.string().nullish(),
  entity: z
    .string()
    .regex(/^[a-z0-9_]+\.[a-z0-9_]+$/, 'give an entity such as climate.bedroom')
    .nullish()
    .describe('For home-assistant connections: fields come from its domain.'),
  aliases: oneOrMore(z.string().min(1).max(64)).nullish(),
  ...deviceKeys,
});

export const profile = map({
  extends: z.string().nullish(),
  params: z
    .record(identifier, scalar.nullable())
    .nullish()
    .describe('Each parameter: "required", or its default.'),
  examples: z
    .array(example)
    .nullish()
    .describe(
      'Replies with the fields that they mean, and desired values with the requests that they become: `readback doctor` tries them.',
    ),
  ...deviceKeys,
});

export type RawField = z.infer<typeof fieldKeys>;
export type RawStep = z.infer<typeof step>;
export type RawRead = z.infer<typeof read>;
export type RawProfile = z.infer<typeof profile>;
export type RawDevice = z.infer<typeof device>;
