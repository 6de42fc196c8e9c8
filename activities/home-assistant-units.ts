/** Home Assistant converts every temperature into its instance's own unit: ours have to follow. */
import type { DeviceDefinition, FieldDefinition, ReplyRules } from '../domain/catalogue/definition.ts';
import type { DeviceRequest, SendResult } from '../domain/exchange.ts';
import { evidenceOf } from '../domain/interpretation.ts';
import type { Json } from '../domain/values.ts';
import { notSent, unrepliedResult } from './http.ts';
import type { Exchanged, HttpConnection } from './http-connection.ts';

export type TemperatureUnit = '°C' | '°F';

export type KnownUnit =
  | { readonly unit: TemperatureUnit }
  /** What a send ends with for want of the unit: in every case, nothing was sent. */
  | { readonly unit: null; readonly failure: SendResult };

/** People change it once in a lifetime, while setting up. */
const ASK_AGAIN_AFTER_MS = 10 * 60_000;
const CONFIG: DeviceRequest = { method: 'GET', path: '/api/config', headers: {}, body: null };

/** Asks the instance for its unit of temperature, and remembers the answer for a while. Rejects only when `signal` aborts. */
export function instanceUnit(
  http: HttpConnection,
): (rules: ReplyRules, signal: AbortSignal) => Promise<KnownUnit> {
  let known: { readonly unit: TemperatureUnit; readonly until: number } | null = null;
  return async (rules, signal) => {
    if (known !== null && Date.now() < known.until) return known;
    const exchanged = await http.exchange(CONFIG, { device: '', purpose: 'readback', rules, signal });
    const unit = exchanged.kind === 'reply' ? unitIn(exchanged.reply.body) : null;
    if (unit === null) return { unit: null, failure: failureOf(exchanged) };
    known = { unit, until: Date.now() + ASK_AGAIN_AFTER_MS };
    return known;
  };
}

function unitIn(config: Json): TemperatureUnit | null {
  const unit = memberOf(memberOf(config, 'unit_system'), 'temperature');
  return unit === '°C' || unit === '°F' ? unit : null;
}

function failureOf(one: Exchanged): SendResult {
  if (one.kind === 'lost') return notSent('unreached', one.why);
  if (one.kind !== 'reply') return unrepliedResult(one);
  const { status } = one.reply;
  const found = { ...notSent('unreached', ''), reply: evidenceOf(one.reply), retryAfterMs: one.pauseMs };
  if (one.class === 'signedOut') return { ...found, class: 'signedOut', detail: TOKEN_NOT_ACCEPTED };
  if (one.class === 'limited') return { ...found, class: 'limited', detail: `HTTP ${status}` };
  return {
    ...found,
    detail: `GET ${CONFIG.path} was answered with HTTP ${status} and no unit; is this a Home Assistant?`,
  };
}

export const TOKEN_NOT_ACCEPTED = 'Home Assistant does not accept the access token (HTTP 401)';

/** A field of the object `json`; undefined where there is none. */
export function memberOf(json: Json | undefined, name: string): Json | undefined {
  const holder = typeof json === 'object' && json !== null && !Array.isArray(json) ? json : {};
  return Object.hasOwn(holder, name) ? (holder as Readonly<Record<string, Json>>)[name] : undefined;
}

/** Is there a temperature whose unit on the device's side the catalogue leaves open? */
export const dependsOnUnit = (device: DeviceDefinition): boolean => Object.values(device.fields).some(isOpen);

const isOpen = ({ unit, device }: FieldDefinition): boolean =>
  (unit === '°C' || unit === '°F') && device.unit === null;

/** Requests and readings in the instance's unit. */
export function inUnit(device: DeviceDefinition, unit: TemperatureUnit): DeviceDefinition {
  return withTemperatures(device, (field) => ({ ...field, device: { ...field.device, unit } }));
}

/**
 * The definition to compare readings by: with the step in which the entity counts and in which Home Assistant shows it.
 * Only for that: what is sent is not rounded, since the device behind may count more finely than Home Assistant shows.
 */
export function inSteps(
  device: DeviceDefinition,
  unit: TemperatureUnit,
  attributes: Json | undefined,
): DeviceDefinition {
  const declared = memberOf(attributes, 'target_temp_step') ?? memberOf(attributes, 'step');
  // Without a step of its own, an entity is shown in whole °F, or in tenths of a °C.
  const step = typeof declared === 'number' && declared > 0 ? declared : unit === '°F' ? 1 : 0.1;
  return withTemperatures(device, (field) => ({
    ...field,
    device: { ...field.device, unit, step: field.device.step ?? step },
  }));
}

function withTemperatures(
  device: DeviceDefinition,
  complete: (field: FieldDefinition) => FieldDefinition,
): DeviceDefinition {
  const fields = Object.entries(device.fields).map(
    ([name, field]) => [name, isOpen(field) ? complete(field) : field] as const,
  );
  return { ...device, fields: Object.fromEntries(fields) };
}
