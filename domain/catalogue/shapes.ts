/** The small shapes of which the file is made: durations, expressions, names, requests. */
import { z } from 'zod';
import { DURATION } from './durations.ts';
import { expressionProblem } from './expressions.ts';
import { unknownKeys } from './problems.ts';

/** A map with these keys and no others. */
export function map<Shape extends z.ZodRawShape>(shape: Shape) {
  return z.strictObject(shape, {
    error: (issue) =>
      issue.code === 'unrecognized_keys' ? unknownKeys(issue.keys, Object.keys(shape)) : undefined,
  });
}

/** A list, or its only item. */
export const oneOrMore = <Item extends z.ZodType>(item: Item) => z.union([item, z.array(item)]);

export const text = z.string().max(2000);
export const scalar = z
  .union([z.string(), z.number(), z.boolean()], {
    error: 'give text, a number, true or false',
  })
  .meta({ id: 'scalar' });
export const duration = z
  .union([z.literal(0), z.string().regex(DURATION)], {
    error: 'give a duration such as 500ms, 10s, 5m, 2h or 1d',
  })
  .meta({ id: 'duration', description: 'A duration such as 500ms, 10s, 5m, 2h or 1d.' });
export const expression = z
  .string()
  .superRefine((source, context) => {
    const problem = expressionProblem(source);
    if (problem !== null) context.addIssue(`this expression can't be used: ${problem}`);
  })
  .meta({ id: 'expression', description: 'A JSONata expression (a safe part of the language).' });

const reserved = (name: string): boolean => name in Object.prototype;
export const named = (pattern: RegExp, rule: string) =>
  z.string().refine((name) => pattern.test(name) && !name.includes('..') && !reserved(name), { error: rule });
export const deviceId = named(
  /^[A-Za-z0-9][A-Za-z0-9_.-]{0,63}$/,
  'an id is 1 to 64 letters, digits, ".", "-" or "_", begins with a letter or a digit, and holds no ".."',
);
export const identifier = named(
  /^[A-Za-z][A-Za-z0-9_]{0,63}$/,
  'this name is 1 to 64 letters, digits or "_", and begins with a letter',
);

const method = '(GET|HEAD|POST|PUT|PATCH|DELETE)';
export const requestLine = z
  .string()
  .refine((line) => new RegExp(`^${method} /(?!/)[^\\s\\\\#]*$`).test(line), {
    error: 'give a method and a path such as "PUT /heater"; methods: GET, HEAD, POST, PUT, PATCH or DELETE',
  })
  .refine((line) => !/\/\.\.?(\/|\?|$)/.test(line), { error: 'a path must not hold "." or ".." as a part' });
export const topic = z
  .string()
  .min(1)
  .refine((name) => !/[#+\s]/.test(name), { error: 'give one topic, without wildcards or spaces' });

/** A tree; its texts that begin with `=` are expressions. */
const body = z.unknown().superRefine((tree, context) => {
  const visit = (part: unknown, path: (string | number)[]): void => {
    if (typeof part === 'string' && part.startsWith('=')) {
      const problem = expressionProblem(part.slice(1));
      if (problem !== null)
        context.addIssue({ code: 'custom', path, message: `this expression can't be used: ${problem}` });
    } else if (Array.isArray(part)) part.forEach((item, index) => visit(item, [...path, index]));
    else if (typeof part === 'object' && part !== null) {
      for (const [key, value] of Object.entries(part)) visit(value, [...path, key]);
    }
  };
  visit(tree, []);
});

const headers = z.record(
  z.string().regex(/^[A-Za-z0-9!#$%&'*+.^_`|~-]+$/, 'this is no header name'),
  z.string(),
);
export const requestKeys = {
  request: requestLine
    .nullish()
    .describe(
      'Method and path, e.g. "PUT /heater". {param} and {wire.field} are filled in, percent-encoded.',
    ),
  topic: topic.nullish().describe('For mqtt connections, instead of request.'),
  headers: headers.nullish(),
  body: body
    .nullish()
    .describe(
      'A tree. A text that begins with = is an expression; a leaf whose fields were not asked for is left out.',
    ),
  as: z.enum(['json', 'form', 'text']).nullish().describe('How the body is written. Default: json.'),
};
export const request = z.union([requestLine, map(requestKeys)]).meta({ id: 'request' });

export const condition = z
  .record(z.string(), oneOrMore(scalar))
  .meta({ id: 'condition', description: 'Field: the value, or the values, that it has to have.' });

export const settle = map({
  first: duration.nullish().describe('Pause between a send and the first readback. Default: 1s.'),
  every: duration.nullish().describe('Pause between two readbacks. Default: 2s.'),
  within: duration.nullish().describe('How long after the last send the device may take. Default: 60s.'),
  stable: duration.nullish().describe('How long the desired value has to be seen. Default: 2s.'),
  reads: z
    .int()
    .min(2, 'at least 2 reads: a single one may be an echo of the request')
    .max(20)
    .nullish()
    .describe('How many readbacks in a row have to show it. Default: 2.'),
  lag: duration
    .nullish()
    .describe('How long the reading may show the old value after the device has changed. Default: 0.'),
  lagReason: text
    .nullish()
    .describe('What people are told meanwhile, e.g. "waiting for the device to wake".'),
  maxSends: z
    .int()
    .min(1)
    .max(5)
    .nullish()
    .describe('How often a repeatable send may be made in all. Default: 1.'),
}).meta({ id: 'settle' });

export type RawSettle = z.infer<typeof settle>;
const requestMap = map(requestKeys);
export type RawRequest = z.infer<typeof requestMap>;
