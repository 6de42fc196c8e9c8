/** Which device a request is for, and what it wants of it. */
import { type Conduct, entryOf, type Json } from './behaviour.ts';
import type { Device, Values } from './device.ts';

export interface IncomingRequest {
  readonly method: string;
  readonly path: string;
  readonly query: URLSearchParams;
}

/** What a matched request is for. `fieldsIn` finds the values that a send carries. */
export type Matched = {
  /** For a list read several; else one. */
  readonly devices: readonly Device[];
  /** undefined: each device's own. */
  readonly shape: Json | undefined;
  readonly answer: readonly Conduct[] | undefined;
  /** Counts per conduct are kept under this name. */
  readonly name: string;
} & (
  | {
      readonly purpose: 'send';
      readonly fieldsIn: (body: Json) => Values | string;
      readonly action: string | null;
    }
  | { readonly purpose: 'read'; readonly list: boolean }
  | { readonly purpose: 'refresh' | 'wake' }
);

/** Everything under `/devices/{id}` unless told otherwise; a device's own routes come first. undefined: nothing there. */
export function match(request: IncomingRequest, devices: readonly Device[]): Matched | undefined {
  return matchOwn(request, devices) ?? matchPlain(request, devices);
}

/** The routes that every device has, for a 404 that helps. */
export const PLAIN_ROUTES = ['GET /devices/{id}', 'PUT /devices/{id}', 'POST /devices/{id}/{action}'];

function matchPlain({ method, path }: IncomingRequest, devices: readonly Device[]): Matched | undefined {
  const [, root, id, action, ...rest] = path.split('/').map(decode);
  const device = devices.find((one) => one.id === id);
  if (root !== 'devices' || !device || rest.length > 0) return undefined;
  const found = { devices: [device], shape: device.definition.shape, answer: undefined };
  if (action === undefined && method === 'GET')
    return { ...found, name: 'read', purpose: 'read', list: false };
  if (action === undefined && (method === 'PUT' || method === 'PATCH'))
    return {
      ...found,
      name: 'send',
      purpose: 'send',
      fieldsIn: (body) => plainFields(body, device),
      action: null,
    };
  if (action === undefined || method !== 'POST') return undefined;
  return actionMatch(action, found);
}

function actionMatch(
  action: string,
  found: Pick<Matched, 'devices' | 'shape' | 'answer'>,
): Matched | undefined {
  const device = found.devices[0];
  if (action === 'refresh' || action === 'wake') return { ...found, name: action, purpose: action };
  if (!device || !entryOf(device.definition.actions, action)) return undefined;
  return { ...found, name: action, purpose: 'send', fieldsIn: () => ({}), action };
}

function matchOwn(request: IncomingRequest, devices: readonly Device[]): Matched | undefined {
  const hits = devices.flatMap((device) =>
    device.definition.routes.flatMap((route) => {
      const inPath = valuesInRequest(route.request, request);
      return inPath ? [{ device, route, inPath }] : [];
    }),
  );
  const hit = hits[0];
  if (!hit) return undefined;
  const { device, route } = hit;
  const listed = hits
    .filter(({ route: { request: same } }) => same === route.request)
    .map((one) => one.device);
  if (route.read === 'list') {
    const { request: name, shape, answer } = route;
    return { devices: listed, shape, answer, name, purpose: 'read', list: true };
  }
  const found = { devices: [device], shape: route.shape ?? device.definition.shape, answer: route.answer };
  if (route.read) return { ...found, name: route.request, purpose: 'read', list: false };
  if (route.action) return actionMatch(route.action, found);
  const fieldsIn = (body: Json) => ownFields(body, route.send ?? {}, hit.inPath, device);
  return { ...found, name: route.request, purpose: 'send', fieldsIn, action: null };
}

/** `PATCH /units/{id}/mode?x={field}` against a request; the values that stand where a `{name}` is. undefined: another request. */
function valuesInRequest(pattern: string, request: IncomingRequest): Record<string, string> | undefined {
  const [method, target = ''] = pattern.split(' ');
  const [path = '', query = ''] = target.split('?');
  const expected = path.split('/');
  const given = request.path.split('/');
  if (method !== request.method || expected.length !== given.length) return undefined;
  const pairs = expected.map((part, index) => [part, decode(given[index] ?? '')] as const);
  for (const [name, value] of new URLSearchParams(query)) {
    const sent = request.query.get(name);
    if (sent === null) return undefined;
    pairs.push([value, sent]);
  }
  const values: Record<string, string> = {};
  for (const [part, value] of pairs) {
    const name = /^\{(\w+)\}$/.exec(part)?.[1];
    if (name) values[name] = value;
    else if (decode(part) !== value) return undefined;
  }
  return values;
}

function ownFields(
  body: Json,
  places: Readonly<Record<string, string>>,
  inPath: Readonly<Record<string, string>>,
  device: Device,
): Values | string {
  const values: Record<string, Json> = {};
  for (const [name, text] of Object.entries(inPath))
    if (Object.hasOwn(device.definition.state, name)) values[name] = text;
  for (const [field, place] of Object.entries(places)) {
    const value = place === '.' ? body : valueAtPlace(body, place.split('.'));
    if (value !== undefined) values[field] = value;
  }
  return Object.keys(values).length > 0 ? typed(values, device) : 'none of its fields is in this request';
}

function valueAtPlace(body: Json, keys: readonly string[]): Json | undefined {
  let value: Json | undefined = body;
  for (const key of keys) value = isMap(value) ? entryOf(value, key) : undefined;
  return value;
}

function plainFields(body: Json, device: Device): Values | string {
  if (!isMap(body)) return 'the body must be a JSON object of fields and values';
  const unknown = Object.keys(body).filter((field) => !Object.hasOwn(device.definition.state, field));
  if (unknown.length > 0)
    return `no such field: ${unknown.join(', ')}; there are ${Object.keys(device.definition.state).join(', ')}`;
  if (Object.keys(body).length === 0) return 'the body names no field';
  return typed(body, device);
}

/** Values of the type that the device's state has, or what is wrong. What a field `understands` may be of any type. */
function typed(values: Readonly<Record<string, Json>>, device: Device): Values | string {
  const result: Record<string, Json> = {};
  for (const [field, given] of Object.entries(values)) {
    const like = device.definition.state[field];
    const understands = device.definition.fields[field]?.understands ?? device.definition.understands;
    const value = typeof given === 'string' ? fromText(given, like) : given;
    if (
      (typeof like === 'number' || typeof like === 'boolean') &&
      typeof value !== typeof like &&
      entryOf(understands, value) === undefined
    )
      return `${field} must be a ${typeof like}`;
    result[field] = value;
  }
  return result;
}

/** Paths, queries and forms hold text only, and many APIs take numbers in quotes. */
function fromText(text: string, like: Json | undefined): Json {
  if (typeof like === 'number' && text.trim() !== '' && Number.isFinite(Number(text))) return Number(text);
  if (typeof like === 'boolean' && (text === 'true' || text === 'false')) return text === 'true';
  return text;
}

function decode(text: string): string {
  try {
    return decodeURIComponent(text);
  } catch {
    return text;
  }
}

function isMap(value: Json | undefined): value is Record<string, Json> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}
