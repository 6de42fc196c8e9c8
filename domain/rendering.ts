/** Writes the requests that the catalogue describes, so that no value can leave its place in them. */
import { type BodyScope, renderBody } from './body.ts';
import type { DeviceDefinition, RequestTemplate, SendStep } from './catalogue/definition.ts';
import { ExpressionError } from './catalogue/expressions.ts';
import type { DeviceRequest } from './exchange.ts';
import { fillPath, fillTopic } from './path.ts';
import { unmetCondition } from './steps.ts';
import type { Desired, Json, Reading, Value } from './values.ts';
import { toWire } from './wire.ts';

/** `why` says what keeps the request from being written. Nothing may be sent then. */
export type Rendered<T> = ({ readonly ok: true } & T) | { readonly ok: false; readonly why: string };

type Readings = Readonly<Record<string, Reading>>;
type Kept = Readonly<Record<string, Value>>;

/** What the templates of one request may mention. */
interface Scope extends BodyScope {
  readonly device: DeviceDefinition;
  readonly kept: Kept;
  readonly wire: Readonly<Record<string, Json>>;
}

/**
 * One send: `fields` of `desired` by one step. `current` completes whole-state requests (`fill`) and gives `uses`.
 * `body` is the request's body as a tree, for people to look at before it is sent; null: none.
 * `secrets`: given by the adapter that sends it, and by nobody else; without them a secret in the body is hidden.
 */
export async function renderSend(
  device: DeviceDefinition,
  step: SendStep,
  fields: readonly string[],
  desired: Desired,
  current: Readings,
  secrets: BodyScope['secrets'] = null,
): Promise<Rendered<{ readonly request: DeviceRequest; readonly body: Json }>> {
  const carried = carriedValues(device, step, fields, desired, current);
  if (!carried.ok) return carried;
  const helping = helpingValues(device, step, carried.values, desired, current);
  if (!helping.ok) return helping;
  const wire: Record<string, Json> = { ...helping.values, ...carried.values };
  const scope: Scope = {
    device,
    kept: {},
    wire,
    bindings: { ...device.params, wire, desired },
    carried: new Set(Object.keys(carried.values)),
    helping: new Set(Object.keys(helping.values)),
    secrets,
  };
  return renderRequest(step.request, scope, defaultBody(step.request, scope));
}

/** The requests of one read, by name. `kept` holds what earlier sends of the command left (`{kept.job}`). */
export async function renderRead(
  device: DeviceDefinition,
  kept: Kept,
): Promise<Rendered<{ readonly requests: Readonly<Record<string, DeviceRequest>> }>> {
  const requests: Record<string, DeviceRequest> = {};
  for (const [name, template] of Object.entries(device.read?.requests ?? {})) {
    const rendered = await renderTemplate(device, template, kept);
    if (!rendered.ok) return rendered;
    requests[name] = rendered.request;
  }
  return { ok: true, requests };
}

/** A request that carries no field: a read, a refresh, a wake. */
export async function renderTemplate(
  device: DeviceDefinition,
  template: RequestTemplate,
  kept: Kept,
): Promise<Rendered<{ readonly request: DeviceRequest; readonly body: Json }>> {
  const bindings = { ...device.params, kept };
  const scope: Scope = {
    device,
    kept,
    wire: {},
    bindings,
    carried: new Set(),
    helping: new Set(),
    secrets: null,
  };
  return renderRequest(template, scope, null);
}

async function renderRequest(
  template: RequestTemplate,
  scope: Scope,
  fallbackBody: Json,
): Promise<Rendered<{ readonly request: DeviceRequest; readonly body: Json }>> {
  const place =
    template.topic === null ? fillPath(template.path, known(scope)) : fillTopic(template.topic, known(scope));
  if (!place.ok) return place;
  const body =
    template.body === null ? { ok: true as const, tree: fallbackBody } : await bodyTree(template.body, scope);
  if (!body.ok) return body;
  const text = serialise(body.tree, template.as);
  if (!text.ok) return text;
  const method = template.topic === null ? template.method : 'PUBLISH';
  const headers = headersFor(template, text.text !== null);
  return { ok: true, request: { method, path: place.path, headers, body: text.text }, body: body.tree };
}

async function bodyTree(template: Json, scope: Scope): Promise<Rendered<{ readonly tree: Json }>> {
  try {
    const rendered = await renderBody(template, scope);
    if (rendered.kind === 'problem') return { ok: false, why: rendered.why };
    return { ok: true, tree: rendered.kind === 'value' ? rendered.value : null };
  } catch (error) {
    if (error instanceof ExpressionError) return { ok: false, why: `the request's body: ${error.message}` };
    throw error;
  }
}

type Values = Rendered<{ readonly values: Readonly<Record<string, Json>> }>;

/** The asked fields in the device's terms; with `fill: current` also the others that the step sends and that apply. */
function carriedValues(
  device: DeviceDefinition,
  step: SendStep,
  fields: readonly string[],
  desired: Desired,
  current: Readings,
): Values {
  const values: Record<string, Json> = {};
  for (const name of step.fillFromCurrent ? step.for : fields) {
    const field = device.fields[name];
    const value = fields.includes(name) ? desired[name] : undefined;
    if (field && value !== undefined) values[name] = toWire(field, value);
    if (!field || value !== undefined || field.type === 'action') continue;
    if (unmetCondition(field.appliesWhen, desired, current) !== null) continue;
    const reading = current[name];
    if (reading?.kind === 'notApplicable') continue;
    if (reading?.kind !== 'value') {
      return {
        ok: false,
        why: `the request has to hold ${name} as it is, and it can't be read (${whyUnread(reading)})`,
      };
    }
    values[name] = toWire(field, reading.value);
  }
  return { ok: true, values };
}

/** `uses`: as desired where another step of this command sets it, else as it is. */
function helpingValues(
  device: DeviceDefinition,
  step: SendStep,
  carried: Readonly<Record<string, Json>>,
  desired: Desired,
  current: Readings,
): Values {
  const values: Record<string, Json> = {};
  for (const name of step.uses.filter((used) => !Object.hasOwn(carried, used))) {
    const field = device.fields[name];
    const reading = current[name];
    const value = desired[name] ?? (reading?.kind === 'value' ? reading.value : undefined);
    if (!field || value === undefined) {
      return {
        ok: false,
        why: `the request needs the present ${name}, and it can't be read (${whyUnread(reading)})`,
      };
    }
    values[name] = toWire(field, value);
  }
  return { ok: true, values };
}

function whyUnread(reading: Reading | undefined): string {
  return reading === undefined || reading.kind === 'value' ? 'not read' : reading.why;
}

/** No body in the catalogue: the fields under their keys, without those that the path holds already. */
function defaultBody(template: RequestTemplate, scope: Scope): Json {
  if (template.topic === null && !['POST', 'PUT', 'PATCH'].includes(template.method.toUpperCase()))
    return null;
  const entries = [...scope.carried]
    .filter((name) => !template.path.includes(`{wire.${name}}`))
    .map((name): [string, Json] => [scope.device.fields[name]?.key ?? name, scope.wire[name] ?? null]);
  if (entries.length === 0) return null;
  return template.as === 'text' && entries.length === 1
    ? (entries[0]?.[1] ?? null)
    : Object.fromEntries(entries);
}

/** Looks up what stands in braces: a parameter, `wire.field` or `kept.name`. */
function known(scope: Scope): (name: string) => string | undefined {
  return (name) => {
    const [, group, key] = /^(wire|kept)\.(.+)$/.exec(name) ?? [];
    const source = group === 'wire' ? scope.wire : group === 'kept' ? scope.kept : scope.device.params;
    const value = Object.hasOwn(source, key ?? name) ? source[key ?? name] : undefined;
    return value === undefined || value === null || typeof value === 'object' ? undefined : String(value);
  };
}

function serialise(body: Json, as: RequestTemplate['as']): Rendered<{ readonly text: string | null }> {
  if (body === null) return { ok: true, text: null };
  if (as === 'json') return { ok: true, text: JSON.stringify(body) };
  if (as === 'text')
    return { ok: true, text: typeof body === 'object' ? JSON.stringify(body) : String(body) };
  if (typeof body !== 'object' || Array.isArray(body))
    return { ok: false, why: 'a form body has to be a map of names to values' };
  const form = new URLSearchParams();
  for (const [name, value] of Object.entries(body)) {
    if (value !== null && typeof value === 'object')
      return { ok: false, why: `a form body can't hold a tree under ${name}` };
    form.append(name, String(value));
  }
  return { ok: true, text: form.toString() };
}

const CONTENT_TYPES = {
  json: 'application/json',
  form: 'application/x-www-form-urlencoded',
  text: 'text/plain; charset=utf-8',
};

function headersFor(template: RequestTemplate, hasBody: boolean): Record<string, string> {
  const declared = Object.entries(template.headers).map(
    ([name, value]) => [name.toLowerCase(), value] as const,
  );
  const contentType =
    hasBody && template.topic === null ? { 'content-type': CONTENT_TYPES[template.as] } : {};
  return { ...contentType, ...Object.fromEntries(declared) };
}
