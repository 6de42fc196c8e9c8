/** One tool of the server: how it is listed, and what it does. */
import type { CallToolResult } from '@modelcontextprotocol/server';
import { z } from 'zod';
import { InputError } from '../../commands/commands.ts';
import type { Asking } from '../asking.ts';
import type { CreateTaskResult } from '../task-snapshot.ts';
import type { Call } from '../waiting.ts';

export interface Tool {
  readonly name: string;
  readonly description: string;
  /** JSON Schema without oneOf, anyOf, const or $ref: several hosts refuse those. */
  readonly inputSchema: JsonSchema;
  readonly annotations: {
    readonly readOnlyHint?: boolean;
    readonly destructiveHint?: boolean;
    readonly openWorldHint?: boolean;
  };
  /** Throws `InputError` for what the agent can mend, `EngineUnreachable`, or a protocol error. */
  call(args: unknown, call: Call): Promise<CallToolResult | CreateTaskResult | Asking>;
}

export interface JsonSchema {
  readonly type: 'object';
  readonly properties: Readonly<Record<string, JsonObject>>;
  readonly required?: readonly string[];
}
type JsonObject = Readonly<Record<string, unknown>>;

/** Numbers as agents write them: `5` or `"5"`. */
export const looseInteger = (minimum: number, maximum: number) =>
  z
    .preprocess(
      (value) => (typeof value === 'string' && value.trim() !== '' ? Number(value) : value),
      z.int().min(minimum).max(maximum),
    )
    .describe(`a whole number from ${minimum} to ${maximum}`);

export const shortText = (maximum: number) =>
  z.string().min(1).max(maximum).describe(`a text of 1 to ${maximum} characters`);

export const yesOrNo = z
  .preprocess((value) => (value === 'true' ? true : value === 'false' ? false : value), z.boolean())
  .describe('true or false');

/**
 * Checks a tool's arguments. Throws `InputError` that names the argument, what it may be, and `consequence`
 * (what did not happen). An argument given as null counts as not given.
 */
export function parseArguments<T extends z.ZodRawShape>(
  shape: T,
  args: unknown,
  consequence: string,
): z.infer<z.ZodObject<T>> {
  const given = Object.fromEntries(Object.entries(args ?? {}).filter(([, value]) => value !== null));
  const unknown = Object.keys(given).find((key) => !Object.hasOwn(shape, key));
  if (unknown !== undefined) {
    const allowed = Object.keys(shape).join(', ');
    throw new InputError(
      `There is no argument ${JSON.stringify(unknown.slice(0, 64))}; allowed: ${allowed}. ${consequence}`.trim(),
    );
  }
  const parsed = z.object(shape).safeParse(given);
  if (parsed.success) return parsed.data;
  const name = String(parsed.error.issues[0]?.path[0] ?? 'arguments');
  const what = Object.hasOwn(given, name) ? 'is not valid' : 'is missing';
  const allowed = shape[name] === undefined ? '' : ` It must be ${describedAs(shape[name])}.`;
  throw new InputError(`${name} ${what}.${allowed} ${consequence}`.trim());
}

function describedAs(type: z.core.$ZodType): string {
  const inner = type instanceof z.ZodOptional ? type.unwrap() : type;
  return (inner as z.ZodType).description ?? 'given';
}
