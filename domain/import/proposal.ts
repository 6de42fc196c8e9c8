/** What an import proposes: one entry of a catalogue for each device that it found. */
import type { z } from 'zod';
import type { DeviceDefinition } from '../catalogue/definition.ts';
import type { RawMap } from '../catalogue/merge.ts';
import type { Json } from '../values.ts';
import type { GuardName } from './guards.ts';

export interface Proposal {
  /** What the other side knows it by, as `identityOf` says it of a definition: `light.bed_light`, `zigbee2mqtt/desk lamp`. */
  readonly identity: string;
  /** Wanted ids, the best first; the last one is nobody else's. */
  readonly ids: readonly string[];
  /** As it stands in the file, but for its connection. */
  readonly entry: RawMap;
  /** What a reader of the file should know; harmless, one line. */
  readonly comment: string | null;
  readonly guard: GuardName | null;
}

/** Something that was found and can't be, or need not be, in a catalogue. */
export interface LeftOut {
  readonly identity: string;
  readonly why: string;
}

export interface Found {
  readonly proposals: readonly Proposal[];
  readonly leftOut: readonly LeftOut[];
}

/** What the other side knows a device of the catalogue by; null: it is none that an import could have found. */
export function identityOf({ entity, params }: DeviceDefinition): string | null {
  if (entity !== null) return entity;
  const { friendly_name: name, base } = params;
  return typeof name === 'string' && typeof base === 'string' ? `${base}/${name}` : null;
}

/** Throws, in words for people, for a list of devices that is not as expected. */
export function asExpected<Schema extends z.ZodType>(schema: Schema, list: Json): z.infer<Schema> {
  const parsed = schema.safeParse(list);
  if (parsed.success) return parsed.data;
  const [issue] = parsed.error.issues;
  throw new Error(`the list of devices is not as expected: ${issue?.message} at "${issue?.path.join('.')}"`);
}
