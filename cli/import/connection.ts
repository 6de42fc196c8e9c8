/** The connection over which an import asks, and over which its devices will be commanded. */
import { readFileSync } from 'node:fs';
import { dirname, relative, resolve } from 'node:path';
import type { Catalogue, Connection } from '../../domain/catalogue/definition.ts';
import { loadCatalogue } from '../../domain/catalogue/load.ts';
import { isMap, type RawMap } from '../../domain/catalogue/merge.ts';
import { parseYaml } from '../../domain/catalogue/yaml-file.ts';
import { EXIT, Failure } from '../failure.ts';

export type Source = 'home-assistant' | 'zigbee2mqtt';

/** How people say where to ask, and as whom. */
export interface ConnectionFlags {
  readonly from: Source;
  readonly url?: string;
  readonly connection?: string;
  readonly user?: string;
  readonly secretEnv?: string;
  readonly secretFile?: string;
  readonly ca?: string;
}

export interface ChosenConnection {
  readonly name: string;
  /** As it stands, or shall stand, in the catalogue: secrets are named, never written. */
  readonly content: RawMap;
  readonly isNew: boolean;
}

const KIND = { 'home-assistant': 'home-assistant', zigbee2mqtt: 'mqtt' } as const;
const DEFAULT_NAME = { 'home-assistant': 'home', zigbee2mqtt: 'zigbee2mqtt' } as const;
const DEFAULT_VARIABLE = { 'home-assistant': 'HA_TOKEN', zigbee2mqtt: 'MQTT_PASSWORD' } as const;

/**
 * One of the catalogue's own: that of `--connection`, that of `--url`, or the only one of its kind; else a new one at `--url`.
 * `file` is where the catalogue is, or will be. Throws a `Failure` where that is not enough to go by.
 */
export function chooseConnection(
  flags: ConnectionFlags,
  file: string,
  text: string,
  catalogue: Catalogue | null,
): ChosenConnection {
  const all = Object.values(catalogue?.connections ?? {});
  const url = flags.url?.replace(/\/+$/, '');
  const ofKind = all.filter(({ kind }) => kind === KIND[flags.from]);
  const at = url === undefined ? ofKind : ofKind.filter(({ baseUrl }) => baseUrl === url);
  const asked =
    flags.connection === undefined ? undefined : all.find(({ name }) => name === flags.connection);
  if (asked !== undefined && asked.kind !== KIND[flags.from])
    throw refused(`The connection ${asked.name} is ${asked.kind}, not ${KIND[flags.from]}.`);
  if (flags.connection === undefined && at.length > 1)
    throw refused(`Say with --connection which one: ${at.map(({ name }) => name).join(', ')}.`);
  const own = asked ?? (flags.connection === undefined ? at[0] : undefined);
  if (own !== undefined) return { name: own.name, content: contentOf(own.name, text, file), isNew: false };
  if (url === undefined) {
    const example =
      flags.from === 'zigbee2mqtt' ? 'mqtt://127.0.0.1:1883' : 'http://homeassistant.local:8123';
    throw refused(`Say with --url where it is, e.g. --url ${example}.`);
  }
  const name = flags.connection ?? DEFAULT_NAME[flags.from];
  if (all.some((other) => other.name === name))
    throw refused(`The catalogue has another connection ${name}: give the new one a name with --connection.`);
  return { name, content: newConnection(flags, url, file), isNew: true };
}

const refused = (message: string): Failure => new Failure(EXIT.usage, `${message} Nothing was written.`);

function contentOf(name: string, text: string, file: string): RawMap {
  const parsed = parseYaml(text);
  const connections = parsed.ok && isMap(parsed.value) ? parsed.value['connections'] : undefined;
  const content = isMap(connections) ? connections[name] : undefined;
  if (isMap(content)) return content;
  throw refused(`The connection ${name} stands in a file that ${file} includes: import --into that file.`);
}

function newConnection(flags: ConnectionFlags, url: string, file: string): RawMap {
  const beside = (path: string): string => relative(dirname(file), resolve(path));
  const secret =
    flags.secretFile === undefined
      ? `\${${flags.secretEnv ?? DEFAULT_VARIABLE[flags.from]}}`
      : `\${file:${beside(flags.secretFile)}}`;
  const trust = flags.ca === undefined ? {} : { tls: { ca: resolve(flags.ca) } };
  if (flags.from === 'home-assistant')
    return { kind: 'home-assistant', baseUrl: url, auth: { bearer: secret }, ...trust };
  const auth =
    flags.user === undefined ? {} : { auth: { basic: { username: flags.user, password: secret } } };
  return { kind: 'mqtt', url, ...auth, ...trust };
}

/** The connection with its secrets filled in, to be asked over. Throws a `Failure` that names what is missing. */
export async function openable({ name, content }: ChosenConnection, file: string): Promise<Connection> {
  const alone = JSON.stringify({ version: 1, connections: { [name]: content } });
  const loaded = await loadCatalogue({
    file,
    readFile: (path) => (path === file ? alone : readFileSync(path, 'utf8')),
    environment: process.env,
  });
  const connection = loaded.ok ? loaded.catalogue.connections[name] : undefined;
  if (connection !== undefined) return connection;
  const problems = loaded.ok ? [] : loaded.problems.map(({ path, message }) => `${path}: ${message}.`);
  throw refused(
    `${problems.join('\n')}\nMend that, or say with --url, --secret-env and --secret-file what holds.`,
  );
}
