/** How one device is read, and how it is woken. */
import type { Connection, ReadDefinition, RequestTemplate, WakePolicy } from './definition.ts';
import { milliseconds } from './durations.ts';
import type { MergedDevice, MergedRead } from './layers.ts';
import type { Path, Report } from './problems.ts';
import { resolveRequest } from './requests.ts';
import { checkExpression, checkPlaceholders, type Scope } from './scope.ts';

/** Names under which a single reply is seen; `whole` is the body before `pick`. */
const SINGLE_ROOTS = ['body', 'whole', 'status', 'headers'];

export interface ReadContext {
  readonly kind: Connection['kind'];
  readonly params: readonly string[];
  readonly fields: readonly string[];
  readonly kept: readonly string[];
}

/** What an expression about a reading may refer to. */
export function readScope(read: MergedRead | undefined, context: ReadContext): Scope {
  return {
    roots: read?.requests ? Object.keys(read.requests) : SINGLE_ROOTS,
    params: context.params,
    groups: { desired: context.fields, before: null, kept: context.kept },
  };
}

export function resolveRead(
  raw: MergedRead | undefined,
  context: ReadContext,
  report: Report,
): ReadDefinition | null {
  if (raw === undefined) return null;
  const scope = readScope(raw, context);
  const requests = resolveRequests(raw, context, report);
  if (raw.requests && raw.pick)
    report(
      ['read', 'pick'],
      'narrows a single reply; with several requests write the choice into each expression',
    );
  for (const key of ['pick', 'available', 'fresh', 'moving', 'at'] as const) {
    const source = raw[key];
    if (source) checkExpression(source, scope, ['read', key], report);
  }
  const once: Scope = { roots: [], params: context.params, groups: { kept: context.kept } };
  const refresh = raw.refresh
    ? resolveRequest(raw.refresh, context.kind, once, ['read', 'refresh'], report)
    : null;
  if (raw.ask && context.kind !== 'mqtt')
    report(['read', 'ask'], 'only mqtt devices are asked by a message; for http use "refresh"');
  return {
    requests,
    single: raw.requests === undefined,
    pick: raw.pick ?? null,
    shareMs: raw.share ? milliseconds(raw.share) : 0,
    refresh: refresh === null ? null : { request: refresh, waitMs: milliseconds(raw.refresh?.wait ?? 0) },
    ask:
      raw.ask && context.kind === 'mqtt'
        ? resolveRequest(raw.ask, 'mqtt', once, ['read', 'ask'], report)
        : null,
    availability: resolveAvailability(raw, context, once, report),
    available: raw.available ?? null,
    fresh: raw.fresh ?? null,
    moving: raw.moving ?? null,
    at: raw.at ?? null,
  };
}

function resolveAvailability(
  { availability }: MergedRead,
  { kind }: ReadContext,
  scope: Scope,
  report: Report,
): readonly string[] {
  const path: Path = ['read', 'availability'];
  if (availability && kind !== 'mqtt')
    report(path, 'only mqtt devices have availability topics; for http use "available"');
  for (const topic of availability ?? []) checkPlaceholders(topic, scope, path, report);
  return availability ?? [];
}

function resolveRequests(
  raw: MergedRead,
  context: ReadContext,
  report: Report,
): Readonly<Record<string, RequestTemplate>> {
  const scope: Scope = { roots: [], params: context.params, groups: { kept: context.kept } };
  if (raw.requests === undefined) {
    const request = resolveRequest(raw, context.kind, scope, ['read'], report);
    return request === null ? {} : { body: request };
  }
  if (raw.request) report(['read', 'request'], 'give either request or requests');
  if (Object.keys(raw.requests).length === 0)
    report(['read', 'requests'], 'is empty: give at least one request');
  const resolved: Record<string, RequestTemplate> = {};
  for (const [name, one] of Object.entries(raw.requests)) {
    const path: Path = ['read', 'requests', name];
    if ([...SINGLE_ROOTS, 'desired', 'before'].includes(name))
      report(path, `${name} has a meaning already: choose another name`);
    const request = resolveRequest(one, context.kind, scope, path, report);
    if (request !== null) resolved[name] = request;
  }
  return resolved;
}

export function resolveWake(
  { wake: raw, read }: MergedDevice,
  context: ReadContext,
  report: Report,
): WakePolicy | null {
  if (raw === undefined) return null;
  const request = resolveRequest(
    raw,
    context.kind,
    { roots: [], params: context.params, groups: {} },
    ['wake'],
    report,
  );
  if (read === undefined) report(['wake'], 'needs a "read": only a reading tells that the device is awake');
  if (!raw.until)
    report(['wake', 'until'], 'is missing: give an expression that is true once the device is awake');
  else checkExpression(raw.until, { ...readScope(read, context), groups: {} }, ['wake', 'until'], report);
  if (request === null || !raw.until) return null;
  return { request, until: raw.until, withinMs: milliseconds(raw.within ?? '60s'), atMost: raw.atMost ?? 1 };
}
