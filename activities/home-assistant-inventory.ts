/** Asks a Home Assistant for all that it has. */
import type { Connection } from '../domain/catalogue/definition.ts';
import type { DeviceRequest } from '../domain/exchange.ts';
import type { HomeAssistantInventory } from '../domain/import/home-assistant.ts';
import type { Json } from '../domain/values.ts';
import { memberOf, TOKEN_NOT_ACCEPTED } from './home-assistant-units.ts';
import { type HttpConnection, openHttpConnection } from './http-connection.ts';

/** A thousand entities are about 1 MB. */
const MAX_REPLY_BYTES = 50_000_000;
const JSON_BODY = { 'content-type': 'application/json' };
/** The REST API tells no areas; its templates do. */
const AREAS =
  '{% set found = namespace(areas=[]) %}{% for state in states %}{% set area = area_name(state.entity_id) %}' +
  '{% if area %}{% set found.areas = found.areas + [[state.entity_id, area]] %}{% endif %}{% endfor %}{{ found.areas | to_json }}';

/** Throws, in words for people, where it can't be asked or has not started yet. Without the right to know areas there are none. */
export async function homeAssistantInventory(connection: Connection): Promise<HomeAssistantInventory> {
  const http = openHttpConnection(connection, { maxReplyBytes: MAX_REPLY_BYTES });
  try {
    const config = await ask(http, { method: 'GET', path: '/api/config', headers: {}, body: null });
    const temperatureUnit = memberOf(memberOf(config, 'unit_system'), 'temperature');
    if (typeof temperatureUnit !== 'string')
      throw new Error(`${connection.baseUrl} answers, but not as a Home Assistant does: is it one?`);
    // What starts has not all of its entities yet: those that are missing would seem to be gone.
    if (memberOf(config, 'state') !== 'RUNNING')
      throw new Error('Home Assistant has not started yet, or is stopping: try again in a minute');
    const states = await ask(http, { method: 'GET', path: '/api/states', headers: {}, body: null });
    return { states, temperatureUnit, areas: await areasOf(http) };
  } finally {
    await http.close();
  }
}

/** Only administrators may ask by template. */
async function areasOf(http: HttpConnection): Promise<ReadonlyMap<string, string>> {
  const body = JSON.stringify({ template: AREAS });
  const areas = await ask(http, { method: 'POST', path: '/api/template', headers: JSON_BODY, body }).catch(
    () => [],
  );
  return new Map(Array.isArray(areas) ? areas.flatMap(pairIn) : []);
}

function pairIn(area: Json): readonly (readonly [string, string])[] {
  const pair: readonly Json[] = Array.isArray(area) ? (area as readonly Json[]) : [];
  const [entity, name] = pair;
  return typeof entity === 'string' && typeof name === 'string' ? [[entity, name]] : [];
}

async function ask(http: HttpConnection, request: DeviceRequest): Promise<Json> {
  const answer = await http.exchange(request, { device: '', purpose: 'look', rules: {} });
  if (answer.kind === 'held') throw new Error('the limit of requests of this connection is used up');
  if (answer.kind !== 'reply') throw new Error(answer.why);
  const { status, body } = answer.reply;
  if (status === 401) throw new Error(TOKEN_NOT_ACCEPTED);
  if (status !== 200 || answer.flaw !== null)
    throw new Error(
      `${request.path} was answered with HTTP ${status}${answer.flaw === null ? '' : `, but ${answer.flaw}`}`,
    );
  return body;
}
