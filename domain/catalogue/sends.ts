/** The send steps of one device. */
import type { Connection, FieldDefinition, SendStep } from './definition.ts';
import type { RawStep } from './device-schema.ts';
import { milliseconds } from './durations.ts';
import { resolveCondition, unknownField } from './fields.ts';
import type { Path, Report } from './problems.ts';
import { resolveRequest } from './requests.ts';
import { checkExpression, type Scope } from './scope.ts';

export interface SendContext {
  readonly fields: Readonly<Record<string, FieldDefinition>>;
  readonly params: readonly string[];
  readonly kind: Connection['kind'];
  readonly readable: boolean;
  /** A connection's `secrets`, which only the adapter fills in. */
  readonly secrets: readonly string[];
}

/** Names under which the reply of a send is seen. */
const REPLY_ROOTS = ['body', 'status', 'headers'];

export function resolveSends(
  raw: RawStep | readonly RawStep[] | undefined,
  context: SendContext,
  report: Report,
): readonly SendStep[] {
  const several = Array.isArray(raw);
  const steps = raw === undefined ? [] : several ? (raw as readonly RawStep[]) : [raw as RawStep];
  const resolved = steps.map((step, index) =>
    resolveStep(step, index, context, several ? ['send', index] : ['send'], report),
  );
  for (const field of Object.values(context.fields)) {
    if (field.readOnly || resolved.some((step) => step.for.includes(field.name))) continue;
    const cure =
      steps.length === 0
        ? 'give the device a "send", or write readOnly: true'
        : 'name it in the "for" of a step, or write readOnly: true';
    report(['fields', field.name], `no send sends it: ${cure}`);
  }
  return resolved;
}

function resolveStep(
  raw: RawStep,
  index: number,
  context: SendContext,
  path: Path,
  report: Report,
): SendStep {
  const { fields } = context;
  const writable = Object.values(fields)
    .filter((field) => !field.readOnly)
    .map((field) => field.name);
  const sent = (raw.for as readonly string[] | undefined) ?? writable;
  const uses = (raw.uses as readonly string[] | undefined) ?? [];
  for (const name of sent) {
    if (!fields[name]) report([...path, 'for'], unknownField(name, fields));
    else if (fields[name].readOnly) report([...path, 'for'], `${name} is readOnly: it can't be sent`);
  }
  for (const name of uses) {
    if (!fields[name]) report([...path, 'uses'], unknownField(name, fields));
    else if (fields[name].read === null)
      report([...path, 'uses'], `${name} can't be read, so its value is never known`);
  }
  const scope: Scope = {
    roots: [],
    params: context.params,
    groups: { wire: [...sent, ...uses], desired: [...sent, ...uses], secret: context.secrets },
  };
  const request = resolveRequest(raw, context.kind, scope, path, report);
  const kind = raw.kind ?? 'set';
  const repeatable = raw.repeatable ?? false;
  if (repeatable && kind !== 'set')
    report([...path, 'repeatable'], `a ${kind} is sent once, ever: it can't be repeatable`);
  if (kind === 'toggle' && !(context.readable && sent.every((name) => fields[name]?.read !== null))) {
    report(
      [...path, 'kind'],
      'a toggle needs a reading of its field, to know which way it will go: give the device a "read"',
    );
  }
  if (raw.fill && !context.readable) report([...path, 'fill'], 'fill: current needs a "read" on the device');
  if (context.kind === 'mqtt') {
    for (const key of ['keep', 'idempotencyHeader'] as const) {
      if (raw[key]) report([...path, key], 'a broker acknowledges a message without a reply: only for http');
    }
  }
  for (const [name, source] of Object.entries(raw.keep ?? {})) {
    checkExpression(source, { roots: REPLY_ROOTS, params: [], groups: {} }, [...path, 'keep', name], report);
  }
  return {
    index,
    for: sent,
    when: resolveCondition((raw.when ?? {}) as SendStep['when'], fields, [...path, 'when'], report),
    request: request ?? { method: 'POST', path: '/', headers: {}, body: null, as: 'json', topic: null },
    fillFromCurrent: raw.fill === 'current',
    uses,
    kind,
    repeatable,
    then: thenOf(raw.then),
    keep: raw.keep ?? {},
    idempotencyHeader: raw.idempotencyHeader ?? null,
  };
}

function thenOf(then: string | null | undefined): SendStep['then'] {
  if (then === undefined || then === null || then === 'verify') return { kind: 'verify' };
  return then === 'sent' ? { kind: 'sent' } : { kind: 'pause', ms: milliseconds(then) };
}

/** Every `$kept.name` that some step keeps. */
export const keptNames = (raw: RawStep | readonly RawStep[] | undefined): readonly string[] =>
  (raw === undefined ? [] : Array.isArray(raw) ? (raw as readonly RawStep[]) : [raw as RawStep]).flatMap(
    (step) => Object.keys(step.keep ?? {}),
  );
