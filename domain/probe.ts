/** What one read of a device says about its catalogue entry: which fields really read back, and what of the entry it contradicts. */
import type {
  Connection,
  DeviceDefinition,
  Expression,
  FieldDefinition,
  ReadDefinition,
} from './catalogue/definition.ts';
import { expressionLookups } from './catalogue/expressions.ts';
import { isOnStep } from './desired-number.ts';
import type { DeviceReply, ReplyEvidence, Sample } from './exchange.ts';
import { outcomeOf, type Replies, type Scope, scopeOf } from './expression-scope.ts';
import { evidenceOf, interpretRead } from './interpretation.ts';
import { nearest } from './nearest.ts';
import { quoted } from './quoted.ts';
import { memberOf, pathsIn } from './reply-paths.ts';
import { formatValue, plain } from './text.ts';
import type { Reading, Value } from './values.ts';
import { meansNoReading } from './wire.ts';

/**
 * `readsBack`: a value came. `unreadable`: none came, `why` says what did. `onlyConfirmed`: no value of its own, only a
 * confirmation after a send. `noReadback`: so it is declared.
 */
export type ProbeVerdict = 'readsBack' | 'notApplicable' | 'unreadable' | 'onlyConfirmed' | 'noReadback';

export interface ProbedField {
  readonly verdict: ProbeVerdict;
  readonly value: Value | null;
  readonly unit: string | null;
  readonly why: string | null;
}

/** Something written in the catalogue that the device's reply doesn't bear out. */
export interface Contradiction {
  /** Where it stands in the device's entry, its profile or its connection, e.g. `fields.vane.read`. */
  readonly entry: string;
  readonly says: string;
}

export interface Probe {
  /** Why nothing could be read at all; null: a reply came and was understood, or the entry declares no read. */
  readonly trouble: string | null;
  readonly fields: Readonly<Record<string, ProbedField>>;
  readonly contradictions: readonly Contradiction[];
  /** Scalars of the reply that no expression of the entry looks at, as paths: what else could be read. */
  readonly unused: readonly string[];
  /** What came, by request: the body as text, at most `MAX_REPLY` characters. */
  readonly replies: Readonly<Record<string, ReplyEvidence>>;
}

/** Long enough to find one's way in it; the whole may be megabytes. */
const MAX_REPLY = 4000;
const MAX_UNUSED = 40;

/**
 * `sample` is what the adapter made of `replies`; `device` the definition by which it did. Never throws for anything that a
 * device may answer.
 */
export async function probeRead(
  device: DeviceDefinition,
  limits: Connection['limits'],
  { sample, replies }: { readonly sample: Sample; readonly replies: Replies },
): Promise<Probe> {
  const fields = Object.fromEntries(
    Object.values(device.fields).map((field) => [field.name, probedField(field, sample.fields[field.name])]),
  );
  const shown = Object.fromEntries(
    Object.entries(replies).map(([name, reply]) => [name, evidenceOf(reply, MAX_REPLY)]),
  );
  const headers = limitContradictions(limits, Object.values(replies));
  const blank = { trouble: device.read === null ? null : sample.trouble, fields, replies: shown };
  if (device.read === null || Object.keys(replies).length < Object.keys(device.read.requests).length)
    return { ...blank, contradictions: headers, unused: [] };

  const context = { desired: null, before: null, kept: {}, baselineDeviceAt: null };
  const { raw, isOfDevice, sample: told } = await interpretRead(device, replies, context, sample.at);
  // An error, a web page or a list without the device contradicts nothing that the entry says of the device's own replies.
  if (!isOfDevice || told.trouble !== sample.trouble)
    return { ...blank, contradictions: headers, unused: [] };
  const scope = scopeOf(device, device.read, raw, replies, context);
  const paths = pathsIn(scope.input);
  const contradictions = [
    ...(await readContradictions(device.read, scope, paths)),
    ...(await faultContradictions(device, scope, paths)),
    ...(sample.trouble === null ? await fieldContradictions(device, sample, scope, paths) : []),
    ...headers,
  ];
  const unused = sample.trouble === null ? unusedPaths(device, device.read, paths) : [];
  return { ...blank, contradictions, unused };
}

function probedField(field: FieldDefinition, reading: Reading | undefined): ProbedField {
  const blank = { value: null, unit: field.unit, why: null };
  if (field.read === null)
    return { ...blank, verdict: field.confirm === null ? 'noReadback' : 'onlyConfirmed' };
  if (reading === undefined) return { ...blank, verdict: 'unreadable', why: 'not read' };
  if (reading.kind === 'value') return { ...blank, verdict: 'readsBack', value: reading.value };
  return { ...blank, verdict: reading.kind, why: reading.why };
}

async function readContradictions(
  read: ReadDefinition,
  scope: Scope,
  paths: readonly string[],
): Promise<Contradiction[]> {
  const found: Contradiction[] = [];
  for (const name of ['available', 'fresh', 'moving', 'at'] as const) {
    const rule = read[name];
    if (rule === null) continue;
    const entry = `read.${name}`;
    const { value, problem } = await outcomeOf(rule, scope);
    if (problem !== null) found.push({ entry, says: problem });
    else if (value === undefined) found.push({ entry, says: await lacking(rule, scope, paths) });
    else if (name !== 'at' && typeof value !== 'boolean')
      found.push({
        entry,
        says: `gives ${quoted(value)}, and only a real true counts: compare it with something`,
      });
  }
  return found;
}

async function faultContradictions(
  { faults }: DeviceDefinition,
  scope: Scope,
  paths: readonly string[],
): Promise<Contradiction[]> {
  const found: Contradiction[] = [];
  for (const [name, rule] of Object.entries(faults)) {
    const { value, problem } = await outcomeOf(rule, scope);
    if (typeof value === 'boolean') continue;
    const what =
      problem ??
      (value === undefined
        ? await lacking(rule, scope, paths)
        : `gives ${quoted(value)}, which is neither true nor false`);
    found.push({ entry: `faults.${name}`, says: `${what}; while it is unknown nothing counts as verified` });
  }
  return found;
}

async function fieldContradictions(
  device: DeviceDefinition,
  sample: Sample,
  scope: Scope,
  paths: readonly string[],
): Promise<Contradiction[]> {
  const found: Contradiction[] = [];
  for (const field of Object.values(device.fields)) {
    const reading = sample.fields[field.name];
    const entry = `fields.${field.name}`;
    if (field.read === null) {
      const value = field.confirm === null ? memberOf(scope.input, field.key) : undefined;
      if (value !== undefined)
        found.push({
          entry: `${entry}.readback`,
          says: `declared as none, and the reply holds body.${field.key} = ${quoted(value)}: perhaps it reads back`,
        });
    } else if (reading?.kind === 'value') {
      found.push(
        ...rangeContradictions(field, reading.value).map(([key, says]) => ({
          entry: `${entry}.${key}`,
          says,
        })),
      );
    } else if (reading?.kind === 'unreadable') {
      const says = await unreadableContradiction(field, field.read, reading, scope, paths);
      if (says !== null) found.push({ entry: `${entry}.${says.key}`, says: says.text });
    }
    if (field.confirm !== null) {
      const absent = await firstAbsent(field.confirm, scope);
      if (absent !== null) found.push({ entry: `${entry}.confirm`, says: lacks(absent, paths) });
    }
  }
  return found;
}

/** null: the device gave no reading now, as devices do; that says nothing against the entry. */
async function unreadableContradiction(
  field: FieldDefinition,
  source: Expression,
  reading: Extract<Reading, { kind: 'unreadable' }>,
  scope: Scope,
  paths: readonly string[],
): Promise<{ readonly key: string; readonly text: string } | null> {
  const { value, problem } = await outcomeOf(source, scope);
  if (problem !== null) return { key: 'read', text: problem };
  if (value === undefined) return { key: 'read', text: await lacking(source, scope, paths) };
  if (value === null || (typeof value !== 'object' && meansNoReading(field, value))) return null;
  return { key: field.values === null ? 'type' : 'values', text: `the device says ${reading.why}` };
}

/** What a device reads of itself can't be outside what it can be set to. */
function rangeContradictions(field: FieldDefinition, value: Value): (readonly [key: string, says: string])[] {
  const { readOnly, min, max, step, unit, device } = field;
  if (typeof value !== 'number' || readOnly) return [];
  const reads = `reads ${formatValue(value, unit)}`;
  const ownScale = device.unit !== null || device.range !== null || device.step !== null;
  return [
    ...(min !== null && value < min
      ? [['min', `${reads}, below the declared ${formatValue(min, unit)}`] as const]
      : []),
    ...(max !== null && value > max
      ? [['max', `${reads}, above the declared ${formatValue(max, unit)}`] as const]
      : []),
    ...(isOnStep(field, value) || ownScale
      ? []
      : [
          [
            'step',
            `${reads}, which the declared step ${step} does not lead to${min === null ? '' : ` from ${formatValue(min, unit)}`}`,
          ] as const,
        ]),
  ];
}

function limitContradictions(limits: Connection['limits'], replies: readonly DeviceReply[]): Contradiction[] {
  const answered = replies.filter(({ status }) => status >= 200 && status < 300);
  if (answered.length === 0) return [];
  return limits.flatMap((limit, index) =>
    (['resetHeader', 'remainingHeader'] as const).flatMap((key) => {
      const name = limit[key];
      if (name === null || answered.some(({ headers }) => headers[name.toLowerCase()] !== undefined))
        return [];
      return [{ entry: `limits[${index}].${key}`, says: `the reply has no header ${name}` }];
    }),
  );
}

/** Why an expression is absent. */
async function lacking(source: Expression, scope: Scope, paths: readonly string[]): Promise<string> {
  const absent = await firstAbsent(source, scope);
  return absent === null ? `${plain(source, 80)} gives nothing` : lacks(absent, paths);
}

function lacks(path: string, paths: readonly string[]): string {
  const near = nearest(path, paths, 3);
  return `the reply lacks ${plain(path, 120)}${near.length === 0 ? '' : `; it has ${near.join(', ')}`}`;
}

async function firstAbsent(source: Expression, scope: Scope): Promise<string | null> {
  for (const path of expressionLookups(source)) {
    // What was asked, and what came before it, is only there after a send.
    if (path.startsWith('$') && !path.startsWith('$lookup')) continue;
    if ((await outcomeOf(path, scope)).value === undefined) return path.replaceAll(/`([A-Za-z_]\w*)`/g, '$1');
  }
  return null;
}

/** What the reply holds besides. A path counts as used where each of its names stands somewhere in the entry's expressions. */
function unusedPaths(
  device: DeviceDefinition,
  read: ReadDefinition,
  paths: readonly string[],
): readonly string[] {
  const sources = [
    ...Object.values(device.fields).flatMap((field) => [field.read, field.confirm]),
    ...Object.values(device.faults),
    ...[read.available, read.fresh, read.moving, read.at],
  ].filter((source) => source !== null);
  const words = new Set(sources.flatMap((source) => source.match(/[A-Za-z_]\w*/g) ?? []));
  const isUsed = (path: string): boolean =>
    (path.match(/[A-Za-z_]\w*/g) ?? []).every((word) => words.has(word));
  return paths.filter((path) => !isUsed(path)).slice(0, MAX_UNUSED);
}
