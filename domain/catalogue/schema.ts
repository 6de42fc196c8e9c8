/** The shape of a catalogue file. Its JSON Schema comes from here too, so that editors know it. */
import { z } from 'zod';
import { auth, secretText } from './auth-schema.ts';
import { deliver, device, lane, profile, reply } from './device-schema.ts';
import {
  deviceId,
  duration,
  expression,
  identifier,
  map,
  named,
  oneOrMore,
  scalar,
  settle,
  text,
} from './shapes.ts';

const limit = map({
  requests: z.int().min(1),
  per: duration,
  keepForReads: z
    .int()
    .min(0)
    .optional()
    .describe('Part of the budget that is left for reading back what was sent.'),
  resetHeader: z.string().optional(),
  remainingHeader: z.string().optional(),
}).superRefine(({ requests, keepForReads }, context) => {
  if ((keepForReads ?? 0) < requests) return;
  context.addIssue({
    code: 'custom',
    path: ['keepForReads'],
    message: `${keepForReads} leaves nothing to send: give less than requests (${requests})`,
  });
});

/** Shorter, it could be hidden in replies only by hiding half of them. */
const SHORTEST_SECRET = 4;
const secret = secretText.min(SHORTEST_SECRET, {
  error: `give at least ${SHORTEST_SECRET} characters: a shorter one can't be kept out of what replies show`,
});

const connection = map({
  kind: z.enum(['http', 'home-assistant', 'mqtt']),
  baseUrl: z.string().optional().describe('Origin and base path. "simulator:" is the built-in simulator.'),
  url: z.string().optional().describe('For mqtt, e.g. mqtt://127.0.0.1:1883.'),
  timeout: duration.nullish().describe('How long one request may take. Default: 10s.'),
  auth: auth.optional(),
  tls: map({
    ca: z.string().optional().describe('PEM file of the authorities to trust.'),
    cert: z.string().optional().describe('PEM file of the certificate that shows who we are.'),
    key: z.string().optional().describe("PEM file of that certificate's key."),
    insecure: z.boolean().optional().describe('Trust anybody.'),
  }).optional(),
  secrets: z.record(identifier, secret).optional().describe('For bodies, as =$secret.name.'),
  limits: z.array(limit).optional(),
  spacing: duration.optional().describe('Least pause between two requests.'),
  reply: reply.nullish(),
  settle: settle.nullish(),
  deliver: deliver.nullish(),
  lane: lane.nullish(),
});

const between = z
  .string()
  .regex(
    /^([01]\d|2[0-3]):[0-5]\d\s*-\s*([01]\d|2[0-3]):[0-5]\d$/,
    'give two times of day, e.g. "23:00-06:00"',
  );
const approval = map({
  for: map({
    device: z.string().optional(),
    tag: z.string().optional(),
    area: z.string().optional(),
    field: z.string().optional(),
    becomes: oneOrMore(scalar).optional(),
    unless: oneOrMore(scalar).optional(),
    above: z.number().optional(),
    below: z.number().optional(),
    changesBy: z.number().positive('give a number greater than 0').optional(),
    unit: z.string().optional(),
  })
    .optional()
    .describe('What the rule is about; left out: every command.'),
  between: between
    .optional()
    .describe('Only at these times of day, in the time zone of the catalogue or of the rule.'),
  timezone: z.string().optional(),
  when: expression.optional().describe('Only if this is true, or cannot be told.'),
  by: z.enum(['requester', 'operator']),
  expires: duration.optional().describe('Default: 15m.'),
  reason: text.optional().describe('What the approver reads.'),
});

export const catalogueFile = map({
  version: z
    .literal(1, { error: 'this Readback reads catalogues of version 1: write "version: 1"' })
    .optional(),
  include: oneOrMore(z.string().min(1)).optional().describe('Further files, with paths from this one.'),
  timezone: z.string().optional().describe('For "between" in approvals, e.g. Europe/Berlin.'),
  settings: map({
    operatorWait: z.enum(['answer', 'task']).optional(),
    webhook: z.string().optional().describe('Connection that is rung when an approval waits.'),
    decideInTemporalUi: z.boolean().optional(),
  }).optional(),
  defaults: map({
    connection: z.string().nullish(),
    timeout: duration.nullish(),
    settle: settle.nullish(),
    deliver: deliver.nullish(),
    lane: lane.nullish(),
    reply: reply.nullish(),
  }).optional(),
  connections: z
    .record(
      named(/^[A-Za-z0-9][A-Za-z0-9_-]{0,63}$/, 'a name is 1 to 64 letters, digits, "-" or "_"'),
      connection,
    )
    .optional(),
  profiles: z.record(deviceId, profile).optional(),
  devices: z.record(deviceId, device).optional(),
  approvals: z.array(approval).optional(),
});

export type RawCatalogue = z.infer<typeof catalogueFile>;
export type RawConnection = z.infer<typeof connection>;
export type RawApproval = z.infer<typeof approval>;

/** JSON Schema of a catalogue file, for editors. What needs the whole file to be judged is in no schema. */
export function catalogueJsonSchema(): Record<string, unknown> {
  return {
    $id: 'catalogue.schema.json',
    title: 'Readback catalogue',
    ...z.toJSONSchema(catalogueFile, { io: 'input', unrepresentable: 'any' }),
  };
}
