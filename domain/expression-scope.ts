/** What expressions about replies are evaluated on, and what comes of it. */
import type { DeviceDefinition, Expression, ReadDefinition } from './catalogue/definition.ts';
import { ExpressionError, evaluate } from './catalogue/expressions.ts';
import type { DeviceReply, RawRead, ReadContext } from './exchange.ts';
import type { Json } from './values.ts';

/** What the expressions about one read see. */
export interface Scope {
  readonly input: Json;
  readonly bindings: Readonly<Record<string, Json>>;
}

type RawReply = RawRead[string] & { readonly headers?: DeviceReply['headers'] };

export type Replies = Readonly<Record<string, DeviceReply>>;

/** `headers` can be seen of the present replies only: a baseline keeps none (`RawRead`). */
export function scopeOf(
  device: DeviceDefinition,
  read: ReadDefinition,
  raw: RawRead,
  replies: Replies,
  context: ReadContext,
): Scope {
  const bindings: Record<string, Json> = { ...device.params, kept: context.kept };
  if (context.desired !== null) bindings['desired'] = context.desired;
  if (context.before !== null) bindings['before'] = seen(read, context.before);
  const present: Record<string, RawReply> = {};
  for (const [name, reply] of Object.entries(raw))
    present[name] = { ...reply, headers: replies[name]?.headers ?? {} };
  return { input: seen(read, present), bindings };
}

/** `body`, `whole` and `status` of the only request, or the same under each request's name. */
function seen(read: ReadDefinition, raw: Readonly<Record<string, RawReply>>): Json {
  const [only] = Object.values(raw);
  return read.single && only
    ? { ...only }
    : Object.fromEntries(Object.entries(raw).map(([name, reply]) => [name, { ...reply }]));
}

/** An expression's value, undefined where it is absent; `problem` where it doesn't fit the reply. */
export async function outcomeOf(
  source: Expression,
  scope: Scope,
): Promise<{ readonly value: Json | undefined; readonly problem: string | null }> {
  try {
    const result = await evaluate(source, scope);
    return { value: result.kind === 'value' ? result.value : undefined, problem: null };
  } catch (error) {
    if (error instanceof ExpressionError) return { value: undefined, problem: error.message };
    throw error;
  }
}
