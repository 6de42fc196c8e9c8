/** The shape of a profile's examples in the file. */
import { z } from 'zod';
import { identifier, map, oneOrMore, scalar } from './shapes.ts';

const withParams = z
  .record(identifier, scalar.nullable())
  .optional()
  .describe("The profile's parameters. Default: those of the first device with this profile.");

const readExample = map({
  with: withParams,
  reply: z
    .unknown()
    .refine((reply) => reply !== undefined, { error: 'give the reply' })
    .describe(
      "The body of the device's reply; with several requests a map from each request's name to its reply.",
    ),
  status: z.int().min(100).max(599).optional().describe('Default: 200.'),
  headers: z.record(z.string(), z.string()).optional(),
  fields: z
    .record(identifier, scalar.nullable())
    .describe('What fields read then; null: no value (unreadable, or not applicable).'),
  moving: z.boolean().optional(),
  faults: oneOrMore(identifier).optional().describe('Those that are raised or unknown then; []: none.'),
});

const sendExample = map({
  with: withParams,
  desired: z.record(identifier, scalar).describe('What is asked.'),
  current: z
    .record(identifier, scalar)
    .optional()
    .describe('What the device reads before, where that matters.'),
  send: oneOrMore(z.union([z.string(), map({ request: z.string(), body: z.unknown().optional() })])).describe(
    'The requests that it becomes, in order, with all {} filled in: as one line, or with the body.',
  ),
});

/** Told apart by whether they have a reply. */
export const example = z.union([readExample, sendExample]).meta({ id: 'example' });

export type ReadExample = z.infer<typeof readExample>;
export type SendExample = z.infer<typeof sendExample>;
