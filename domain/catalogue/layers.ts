/** The layers of which a device is made, weakest first: built-in, defaults, connection, profiles, the device itself. */
import type { RawDevice, RawRead, RawStep } from './device-schema.ts';
import { isMap, merge, type RawMap } from './merge.ts';
import type { Path } from './problems.ts';
import type { RawRequest } from './shapes.ts';

export interface Layer {
  readonly file: string;
  /** Where it stands in the file; null: it comes with Readback. */
  readonly path: Path | null;
  /** With all short forms written out. */
  readonly content: RawMap;
}

/** A device with its layers merged and its short forms written out. Every key may still be missing. */
export type MergedDevice = Omit<
  RawDevice,
  'send' | 'read' | 'fields' | 'tags' | 'aliases' | 'deliver' | 'wake' | 'with'
> & {
  readonly send?: RawStep | readonly RawStep[];
  readonly read?: MergedRead;
  readonly fields?: Readonly<Record<string, RawMap>>;
  readonly tags?: readonly string[];
  readonly aliases?: readonly string[];
  readonly deliver?: { readonly within?: string | 0 };
  readonly wake?: RawRequest & {
    readonly until?: string;
    readonly within?: string | 0;
    readonly atMost?: number;
  };
  readonly with?: Readonly<Record<string, string | number | boolean>>;
  readonly params?: Readonly<Record<string, string | number | boolean>>;
};
export type MergedRead = Omit<RawRead, 'requests' | 'refresh' | 'ask' | 'availability'> & {
  readonly requests?: Readonly<Record<string, RawRequest>>;
  readonly refresh?: RawRequest & { readonly wait?: string | 0 };
  readonly ask?: RawRequest;
  readonly availability?: readonly string[];
};

export function mergeLayers(layers: readonly Layer[]): MergedDevice {
  return layers.reduce<RawMap>((below, { content }) => merge(below, content), {});
}

/** The layer in which a value stands that is wrong after merging, and its whole path there: the strongest one that holds most of the path. */
export function originOf(
  layers: readonly Layer[],
  path: Path,
): { readonly file: string; readonly path: Path } {
  const device = layers.at(-1) as Layer;
  let best = {
    file: device.file,
    path: [...(device.path ?? []), ...path],
    depth: depthIn(device.content, path),
  };
  for (const { file, path: at, content } of layers.slice(0, -1).reverse()) {
    const depth = depthIn(content, path);
    if (at !== null && depth > best.depth) best = { file, path: [...at, ...path], depth };
  }
  return { file: best.file, path: best.path };
}

function depthIn(content: unknown, path: Path): number {
  let part = content;
  for (const [depth, key] of path.entries()) {
    // A single step may stand where the merged device has a list of one.
    if (key === 0 && isMap(part)) continue;
    if (typeof part !== 'object' || part === null || !Object.hasOwn(part, key)) return depth;
    part = (part as Record<string | number, unknown>)[key];
  }
  return path.length;
}

const asMap = (value: unknown, key: string): unknown =>
  typeof value === 'string' ? { [key]: value } : value;
const asList = (value: unknown): unknown => (value === null || Array.isArray(value) ? value : [value]);

function rewrite(content: RawMap, rewrites: Readonly<Record<string, (value: unknown) => unknown>>): RawMap {
  const rewritten: Record<string, unknown> = { ...content };
  for (const [key, change] of Object.entries(rewrites)) {
    if (rewritten[key] !== undefined && rewritten[key] !== null) rewritten[key] = change(rewritten[key]);
  }
  return rewritten;
}

const each = (value: unknown, change: (member: unknown) => unknown): unknown =>
  isMap(value)
    ? Object.fromEntries(Object.entries(value).map(([key, member]) => [key, change(member)]))
    : value;

const request = (value: unknown): unknown => asMap(value, 'request');

const step = (value: unknown): unknown => {
  const written = request(value);
  return isMap(written)
    ? rewrite(written, { for: asList, uses: asList, when: (when) => each(when, asList) })
    : written;
};

const field = (value: unknown): unknown => {
  const written = asMap(value, 'type');
  if (!isMap(written)) return written;
  return rewrite(written, { invalid: asList, requires: asList, appliesWhen: (when) => each(when, asList) });
};

const read = (value: unknown): unknown => {
  const written = request(value);
  if (!isMap(written)) return written;
  return rewrite(written, {
    requests: (requests) => each(requests, request),
    refresh: request,
    ask: (ask) => asMap(ask, 'topic'),
    availability: asList,
  });
};

/** A device, profile, connection or `defaults` with its short forms written out, so that it can be merged. */
export function written(content: RawMap): RawMap {
  return rewrite(content, {
    send: (send) => (Array.isArray(send) ? send.map(step) : step(send)),
    read,
    fields: (fields) => each(fields, field),
    tags: asList,
    aliases: asList,
    deliver: (deliver) => (isMap(deliver) ? deliver : { within: deliver }),
  });
}
