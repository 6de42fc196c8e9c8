/** The topics on which a device is heard, and which of them have to bring news after a send. */
import type { DeviceDefinition } from '../domain/catalogue/definition.ts';
import { expressionReferences } from '../domain/catalogue/expressions.ts';
import type { ReadContext } from '../domain/exchange.ts';
import { fillTopic } from '../domain/path.ts';
import { type Rendered, renderRead } from '../domain/rendering.ts';

export interface Topics {
  /** Where it tells its state, by the name of the read's request. */
  readonly state: Readonly<Record<string, string>>;
  /** Where it, or what it hangs on, says that it is offline. */
  readonly availability: readonly string[];
}

export async function topicsOf(device: DeviceDefinition): Promise<Rendered<{ readonly topics: Topics }>> {
  const rendered = await renderRead(device, {});
  if (!rendered.ok) return rendered;
  const availability: string[] = [];
  for (const template of device.read?.availability ?? []) {
    const filled = fillTopic(template, (name) => textOf(device, name));
    if (!filled.ok) return filled;
    availability.push(filled.path);
  }
  const state = Object.fromEntries(
    Object.entries(rendered.requests).map(([name, request]) => [name, request.path]),
  );
  return { ok: true, topics: { state, availability } };
}

function textOf({ params }: DeviceDefinition, name: string): string | undefined {
  return Object.hasOwn(params, name) ? String(params[name]) : undefined;
}

/** The topics on which the desired fields are read; before a command, all. */
export function newsTopics(
  device: DeviceDefinition,
  state: Topics['state'],
  { desired }: ReadContext,
): readonly string[] {
  if (desired === null || device.read?.single !== false) return Object.values(state);
  const looked = Object.keys(desired).flatMap((name) =>
    [device.fields[name]?.read, device.fields[name]?.confirm].flatMap((source) =>
      source == null ? [] : expressionReferences(source).roots,
    ),
  );
  const telling = Object.entries(state).flatMap(([name, topic]) => (looked.includes(name) ? [topic] : []));
  return telling.length === 0 ? Object.values(state) : telling;
}
