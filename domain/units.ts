/** One unit of a measure, by how it turns into the measure's base unit and back. */
interface Unit {
  readonly toBase: (value: number) => number;
  readonly fromBase: (base: number) => number;
}

/** `factor` base units each, counted from `zero` (in this unit). */
function linear(factor: number, zero = 0): Unit {
  return { toBase: (value) => (value - zero) * factor, fromBase: (base) => base / factor + zero };
}

const reciprocal: Unit = { toBase: (value) => 1e6 / value, fromBase: (base) => 1e6 / base };

/**
 * Units that turn into each other. K stands in two measures: as a temperature it goes to °C and °F,
 * as the colour of light it goes to mired.
 */
const MEASURES: Readonly<Record<string, Readonly<Record<string, Unit>>>> = {
  temperature: { '°C': linear(1), '°F': linear(5 / 9, 32), K: linear(1, 273.15) },
  'colour temperature': { K: linear(1), mired: reciprocal },
  fraction: { '%': linear(0.01), '‰': linear(0.001), fraction: linear(1) },
  power: { W: linear(1), mW: linear(1e-3), kW: linear(1e3), MW: linear(1e6) },
  energy: {
    Wh: linear(1),
    kWh: linear(1e3),
    MWh: linear(1e6),
    J: linear(1 / 3600),
    kJ: linear(1 / 3.6),
    MJ: linear(1e3 / 3.6),
  },
  voltage: { V: linear(1), mV: linear(1e-3), kV: linear(1e3) },
  current: { A: linear(1), mA: linear(1e-3) },
  frequency: { Hz: linear(1), kHz: linear(1e3), MHz: linear(1e6), rpm: linear(1 / 60) },
  time: { s: linear(1), ms: linear(1e-3), min: linear(60), h: linear(3600), d: linear(86400) },
  length: {
    m: linear(1),
    mm: linear(1e-3),
    cm: linear(1e-2),
    km: linear(1e3),
    in: linear(0.0254),
    ft: linear(0.3048),
    mi: linear(1609.344),
  },
  speed: { 'm/s': linear(1), 'km/h': linear(1 / 3.6), mph: linear(0.44704), kn: linear(1852 / 3600) },
  pressure: {
    Pa: linear(1),
    hPa: linear(100),
    mbar: linear(100),
    kPa: linear(1e3),
    bar: linear(1e5),
    psi: linear(6894.757293168),
  },
  volume: { L: linear(1), mL: linear(1e-3), 'm³': linear(1e3), gal: linear(3.785411784) },
  flow: { 'L/min': linear(1), 'L/h': linear(1 / 60), 'm³/h': linear(1e3 / 60), gpm: linear(3.785411784) },
  mass: {
    kg: linear(1),
    g: linear(1e-3),
    t: linear(1e3),
    lb: linear(0.45359237),
    oz: linear(0.028349523125),
  },
  angle: { '°': linear(1), rad: linear(180 / Math.PI) },
};

/** Other spellings that vendors' documents use. */
const SPELLINGS: Readonly<Record<string, string>> = {
  C: '°C',
  F: '°F',
  '℃': '°C',
  '℉': '°F',
  mirek: 'mired',
  '1': 'fraction',
  l: 'L',
  ml: 'mL',
  deg: '°',
};

function named(unit: string): string {
  return Object.hasOwn(SPELLINGS, unit) ? (SPELLINGS[unit] ?? unit) : unit;
}

function measureOf(from: string, to: string): Readonly<Record<string, Unit>> | undefined {
  return Object.values(MEASURES).find((units) => Object.hasOwn(units, from) && Object.hasOwn(units, to));
}

/** null: `from` can be turned into `to`. Else why not, in words. A unit that is null is the same as the other one. */
export function conversionProblem(from: string | null, to: string | null): string | null {
  if (from === null || to === null || named(from) === named(to)) return null;
  if (measureOf(named(from), named(to))) return null;
  const reachable = unitsBeside(from);
  return reachable.length > 0
    ? `${from} can't be turned into ${to}; known for ${from}: ${reachable.join(', ')}`
    : `nothing is known about the unit ${from}; without a conversion, leave the device's unit out`;
}

/** `value` in another unit. Throws for a pair that `conversionProblem` names: the loader lets none through. */
export function convert(value: number, from: string | null, to: string | null): number {
  if (from === null || to === null || named(from) === named(to)) return value;
  const measure = measureOf(named(from), named(to));
  const [source, target] = [measure?.[named(from)], measure?.[named(to)]];
  if (!source || !target)
    throw new Error(conversionProblem(from, to) ?? `no conversion from ${from} to ${to}`);
  return target.fromBase(source.toBase(value));
}

/** Units in which people state the same thing, for "if you meant °F": only where mistaking them is common. */
export function unitsMistakenFor(unit: string | null): string[] {
  if (unit === null) return [];
  const mistaken = unit === 'K' ? ['mired', '°C', '°F'] : ['°F', '°C', 'K', 'mired', 'fraction', '%'];
  return mistaken.filter((other) => other !== named(unit) && measureOf(named(unit), other) !== undefined);
}

function unitsBeside(unit: string): string[] {
  const beside = Object.values(MEASURES)
    .filter((units) => Object.hasOwn(units, named(unit)))
    .flatMap((units) => Object.keys(units));
  return [...new Set(beside)].filter((other) => other !== named(unit));
}
