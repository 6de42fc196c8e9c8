/** The plainest device that there is, as often as a test needs it, in simulator and catalogue. */

export interface Thermostats {
  /** For the simulator. */
  readonly devices: Readonly<Record<string, object>>;
  /** For the catalogue, indented as entries of `devices`. */
  readonly entries: string;
}

/** `ids` with keys of their own in the catalogue, e.g. `{ busy: 'lane: reject' }`. Each follows one second after a send. */
export function thermostats(ids: Readonly<Record<string, string>>, follows = '1s'): Thermostats {
  const state = { power: 'off', temperature: 20, vane: 'auto' };
  const entry = ([id, more]: [string, string]) =>
    `  ${id}: { profile: thermostat, with: { id: ${id} }${more === '' ? '' : `, ${more}`} }`;
  return {
    devices: Object.fromEntries(Object.keys(ids).map((id) => [id, { state, follows }])),
    entries: Object.entries(ids).map(entry).join('\n'),
  };
}

/** `devices` and what follows in the file; times are short, so that tests are. */
export function thermostatCatalogue(devices: string, rest = ''): string {
  return `
version: 1
connections: { sim: { kind: http, baseUrl: "simulator:", timeout: 4s } }
defaults: { settle: { first: 200ms, every: 400ms, within: 6s, stable: 500ms } }
profiles:
  thermostat:
    connection: sim
    params: { id: required }
    send: { request: "PUT /devices/{id}", repeatable: true }
    read: "GET /devices/{id}"
    fields: { power: onoff, temperature: { type: celsius, min: 5, max: 30, step: 0.5 }, vane: { type: enum, values: [auto, top, bottom] } }
devices:
${devices}
${rest}`;
}

/** Each id without keys of its own. */
export const plain = (...ids: readonly string[]): Record<string, string> =>
  Object.fromEntries(ids.map((id) => [id, '']));
