/** How a device spells the values of an onoff or enum field. */
import type { FieldType, FieldValue, ValueRange } from './definition.ts';
import type { RawField } from './device-schema.ts';
import { didYouMean, listed, type Report } from './problems.ts';

type Scalar = string | number | boolean;
type Accepted = FieldValue['accepts'][number];

/** The values with their spellings; null for types that have none. */
export function resolveValues(raw: RawField, type: FieldType, report: Report): readonly FieldValue[] | null {
  if (type !== 'onoff' && type !== 'enum') {
    for (const key of ['values', 'sends'] as const) {
      if (raw[key]) report([key], `only onoff and enum fields have ${key}; this one is ${type}`);
    }
    return null;
  }
  const spelled = spellingsOf(raw, type);
  const sends = raw.sends ?? {};
  for (const value of Object.keys(sends)) {
    if (!spelled.has(value))
      report(
        ['sends', value],
        `${value} is no value of this field; its values: ${listed([...spelled.keys()])}.${didYouMean(value, [...spelled.keys()])}`,
      );
  }
  checkValues(spelled, type, report);
  checkSpellings(spelled, report);
  return [...spelled].map(([value, spellings]) => {
    const accepts = spellings.map(asAccepted);
    const send = (Object.hasOwn(sends, value) ? sends[value] : undefined) ?? accepts.find(isScalar);
    if (send === undefined && raw.readOnly !== true)
      report(
        ['values', value],
        `${String(spellings[0])} is a range: say under "sends" what is sent for ${value}`,
      );
    return { value, send: send ?? value, accepts };
  });
}

function spellingsOf(raw: RawField, type: 'onoff' | 'enum'): Map<string, readonly Scalar[]> {
  const values = raw.values ?? (type === 'onoff' ? ['on', 'off'] : []);
  if (Array.isArray(values)) return new Map(values.map((value) => [String(value), [value]]));
  return new Map(
    Object.entries(values).map(([value, spelled]) => [value, Array.isArray(spelled) ? spelled : [spelled]]),
  );
}

function checkValues(
  spelled: ReadonlyMap<string, readonly Scalar[]>,
  type: 'onoff' | 'enum',
  report: Report,
): void {
  const names = [...spelled.keys()];
  if (type === 'enum' && names.length === 0)
    report(['values'], 'an enum needs its values, e.g. [open, closed]');
  if (type === 'onoff' && (names.length !== 2 || !spelled.has('on') || !spelled.has('off'))) {
    report(['values'], `an onoff field has the values "on" and "off", not ${listed(names)}`);
  }
  for (const [value, spellings] of spelled)
    if (spellings.length === 0) report(['values', value], 'give at least one spelling');
}

/** A reading must mean one value at most. */
function checkSpellings(spelled: ReadonlyMap<string, readonly Scalar[]>, report: Report): void {
  const all = [...spelled].flatMap(([value, spellings]) =>
    spellings.map((spelling) => ({ value, spelling, accepted: asAccepted(spelling) })),
  );
  for (const [index, one] of all.entries()) {
    const other = all
      .slice(0, index)
      .find(({ value, accepted }) => value !== one.value && overlap(accepted, one.accepted));
    if (other)
      report(
        ['values', one.value],
        `${JSON.stringify(one.spelling)} would mean both ${other.value} and ${one.value}`,
      );
  }
}

const isScalar = (accepted: Accepted): accepted is Scalar => typeof accepted !== 'object';

function asAccepted(spelling: Scalar): Accepted {
  const [, comparison, than] = /^(<=|>=|<|>)\s*(-?\d+(?:\.\d+)?)$/.exec(String(spelling)) ?? [];
  return comparison === undefined
    ? spelling
    : { comparison: comparison as ValueRange['comparison'], than: Number(than) };
}

function overlap(a: Accepted, b: Accepted): boolean {
  if (isScalar(a)) return isScalar(b) ? sameText(a, b) : typeof a === 'number' && holds(b, a);
  if (isScalar(b)) return overlap(b, a);
  const upward = (range: ValueRange): boolean => range.comparison.startsWith('>');
  if (upward(a) === upward(b)) return true;
  const [low, high] = upward(a) ? [a, b] : [b, a];
  return (
    low.than < high.than || (low.than === high.than && low.comparison === '>=' && high.comparison === '<=')
  );
}

const sameText = (a: Scalar, b: Scalar): boolean =>
  String(a).trim().toLowerCase() === String(b).trim().toLowerCase();

function holds({ comparison, than }: ValueRange, value: number): boolean {
  return comparison === '<'
    ? value < than
    : comparison === '<='
      ? value <= than
      : comparison === '>'
        ? value > than
        : value >= than;
}
