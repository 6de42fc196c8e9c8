/**
 * Approval rules, checked against the devices that they are about: a rule that can never match, by a typo say, would let
 * through what it was written to stop.
 */
import { conversionProblem } from '../units.ts';
import type { Value } from '../values.ts';
import type { ApprovalRule, DeviceDefinition, FieldDefinition } from './definition.ts';
import { milliseconds } from './durations.ts';
import { allowedValues, ownValue } from './fields.ts';
import { didYouMean, listed, type Path, type Report } from './problems.ts';
import type { RawApproval } from './schema.ts';
import { checkExpression, type Scope } from './scope.ts';

export interface ApprovalContext {
  readonly devices: readonly DeviceDefinition[];
  /** Some device or field could not be resolved: what seems unknown may be theirs, and has been reported with them. */
  readonly incomplete: boolean;
  /** Ids of all devices, those that could not be resolved as well; null: some file could not be read. */
  readonly ids: readonly string[] | null;
  /** null: the catalogue names none. */
  readonly timezone: string | null;
}

/** What `when` may look at. The command is described by names, not by a reply. */
function scopeOf(fields: readonly string[]): Scope {
  return {
    roots: [],
    params: [],
    groups: {
      desired: fields,
      before: fields,
      batch: ['size'],
      requester: ['subject', 'client', 'transport', 'unattended'],
      device: ['id', 'area', 'tags'],
    },
  };
}

type RawFor = NonNullable<RawApproval['for']>;

export function resolveApproval(
  raw: RawApproval,
  index: number,
  context: ApprovalContext,
  report: Report,
): ApprovalRule {
  const about = raw.for ?? {};
  const device = about.device === undefined ? null : deviceNamed(about.device, context, report);
  const devices = context.devices.filter(
    (candidate) =>
      (device === null || candidate.id === device) &&
      (about.tag === undefined || candidate.tags.includes(about.tag)) &&
      (about.area === undefined || candidate.area === about.area),
  );
  checkGroups(about, devices, context, report);
  const fields = devices
    .flatMap((candidate) => Object.values(candidate.fields))
    .filter((field) => field.name === about.field);
  checkField(about, devices, fields, context, report);
  if (raw.when !== undefined && !context.incomplete) {
    const names = [...new Set(devices.flatMap((candidate) => Object.keys(candidate.fields)))];
    checkExpression(raw.when, scopeOf(names), ['when'], report);
  }
  return {
    index,
    for: {
      device,
      tag: about.tag ?? null,
      area: about.area ?? null,
      field: about.field ?? null,
      becomes: valuesOf('becomes', about, fields, context, report),
      unless: valuesOf('unless', about, fields, context, report),
      above: about.above ?? null,
      below: about.below ?? null,
      changesBy: about.changesBy ?? null,
      unit: unitOf(about, fields, report),
    },
    between: betweenOf(raw, context, report),
    when: raw.when ?? null,
    by: raw.by ?? 'operator',
    expiresMs: expiresOf(raw, report),
    reason: raw.reason ?? null,
  };
}

/** Any case, a name or an alias will do; the rule itself keeps the id. */
function deviceNamed(name: string, { devices, ids }: ApprovalContext, report: Report): string {
  const wanted = name.trim().toLowerCase();
  const named = devices.filter(
    ({ id, name: shown, aliases }) =>
      id === name || [id, shown, ...aliases].some((known) => known.toLowerCase() === wanted),
  );
  const exact = named.find(({ id }) => id === name) ?? (named.length === 1 ? named[0] : undefined);
  if (exact !== undefined) return exact.id;
  if (named.length > 1)
    report(
      ['for', 'device'],
      `${JSON.stringify(name)} may be ${listed(named.map(({ id }) => id))}: give the id`,
    );
  else if (ids !== null && !ids.some((id) => id.toLowerCase() === wanted))
    report(
      ['for', 'device'],
      `matches no device: there is no ${JSON.stringify(name)}; devices: ${listed(ids)}.${didYouMean(name, ids)}`,
    );
  return name;
}

function checkGroups(
  about: RawFor,
  devices: readonly DeviceDefinition[],
  context: ApprovalContext,
  report: Report,
): void {
  if (context.incomplete) return;
  for (const key of ['tag', 'area'] as const) {
    const wanted = about[key];
    if (wanted === undefined) continue;
    const known = [
      ...new Set(
        context.devices.flatMap((device) =>
          key === 'tag' ? device.tags : device.area === null ? [] : [device.area],
        ),
      ),
    ];
    if (!known.includes(wanted)) {
      report(
        ['for', key],
        `matches no device: no device has the ${key} ${JSON.stringify(wanted)}; known: ${listed(known)}.${didYouMean(wanted, known)}`,
      );
      return;
    }
  }
  if (
    devices.length === 0 &&
    [about.device, about.tag, about.area].filter((key) => key !== undefined).length > 1
  ) {
    report(['for'], 'matches no device: none has all of these at once');
  }
}

function checkField(
  about: RawFor,
  devices: readonly DeviceDefinition[],
  fields: readonly FieldDefinition[],
  { incomplete }: ApprovalContext,
  report: Report,
): void {
  const { field } = about;
  if (field === undefined) {
    for (const key of ['becomes', 'unless', 'above', 'below', 'changesBy', 'unit'] as const) {
      if (about[key] !== undefined) report(['for', key], 'is about a field: say which with "field"');
    }
    return;
  }
  if (incomplete || devices.length === 0) return;
  const writable = [
    ...new Set(
      devices.flatMap((device) =>
        Object.values(device.fields)
          .filter(({ readOnly }) => !readOnly)
          .map(({ name }) => name),
      ),
    ),
  ];
  if (!writable.includes(field)) {
    const why =
      fields.length === 0
        ? 'no device it is about has this field'
        : 'this field is readOnly: no command ever sets it';
    report(
      ['for', 'field'],
      `matches nothing: ${why}; fields: ${listed(writable)}.${didYouMean(field, writable)}`,
    );
  }
}

function valuesOf(
  key: 'becomes' | 'unless',
  about: RawFor,
  fields: readonly FieldDefinition[],
  { incomplete }: ApprovalContext,
  report: Report,
): readonly Value[] | null {
  const wanted = about[key];
  if (wanted === undefined) return null;
  return (Array.isArray(wanted) ? wanted : [wanted]).flatMap((value) => {
    const own = [
      ...new Set(fields.map((field) => ownValue(field, value)).filter((found) => found !== undefined)),
    ];
    if (own.length === 0 && fields.length > 0 && !incomplete) {
      report(
        ['for', key],
        `${JSON.stringify(value)} is no value of ${about.field}; allowed: ${[...new Set(fields.map(allowedValues))].join('; or ')}`,
      );
    }
    return own.length === 0 ? [value] : own;
  });
}

/** The unit in which the rule's numbers are meant: its own, else the one that all its fields share. */
function unitOf(about: RawFor, fields: readonly FieldDefinition[], report: Report): string | null {
  const key = (['above', 'below', 'changesBy'] as const).find((name) => about[name] !== undefined);
  if (key === undefined) {
    if (about.unit !== undefined && about.field !== undefined)
      report(['for', 'unit'], 'belongs to above, below or changesBy, and none of them is given');
    return about.unit ?? null;
  }
  const texts = fields.filter(({ type }) => !['percent', 'celsius', 'number'].includes(type));
  if (texts.length > 0) {
    report(['for', key], `${about.field} is no number (${texts[0]?.type}): use becomes or unless`);
    return about.unit ?? null;
  }
  const units = [...new Set(fields.map(({ unit }) => unit))];
  if (about.unit === undefined) {
    if (units.length > 1)
      report(
        ['for', 'unit'],
        `is missing: the fields it is about are in ${listed(units.map((unit) => unit ?? 'no unit'))}`,
      );
    return units[0] ?? null;
  }
  for (const unit of units) {
    const problem =
      unit === null ? `${about.field} has no unit: leave it out` : conversionProblem(about.unit, unit);
    if (problem !== null) report(['for', 'unit'], problem);
  }
  return about.unit;
}

function betweenOf(
  raw: RawApproval,
  { timezone: common }: ApprovalContext,
  report: Report,
): ApprovalRule['between'] {
  if (raw.timezone !== undefined) checkTimezone(raw.timezone, ['timezone'], report);
  if (raw.between === undefined) return null;
  const timezone = raw.timezone ?? common;
  if (timezone === null)
    report(['between'], 'needs a time zone: write timezone: Europe/Berlin, say, at the top of the file');
  const [from = '', to = ''] = raw.between.split('-').map((time) => time.trim());
  if (from === to) report(['between'], `begins and ends at ${from}: for the whole day leave it out`);
  return { from, to, timezone: timezone ?? 'UTC' };
}

/** An approval that ends at once, or never, is no approval. */
function expiresOf({ expires }: RawApproval, report: Report): number {
  const ms = milliseconds(expires ?? '15m');
  if (ms === 0) report(['expires'], 'no time at all: give a duration such as 15m');
  return ms;
}

export function checkTimezone(timezone: string, path: Path, report: Report): void {
  try {
    Intl.DateTimeFormat('en', { timeZone: timezone });
  } catch {
    const near = didYouMean(timezone, Intl.supportedValuesOf('timeZone'));
    report(
      path,
      `there is no time zone ${JSON.stringify(timezone)}; write one such as Europe/Berlin or UTC.${near}`,
    );
  }
}
