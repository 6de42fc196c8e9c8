/** Devices and the profiles that they stand on. */
import type { ProfileExample } from '../examples.ts';
import type { DeviceDefinition } from './definition.ts';
import type { RawProfile } from './device-schema.ts';
import { type DeviceParts, layersOf, resolveDevice } from './devices.ts';
import { type Layer, originOf, written } from './layers.ts';
import type { RawMap } from './merge.ts';
import type { ReportIn } from './problem-log.ts';
import { didYouMean, listed } from './problems.ts';
import type { Sources } from './sources.ts';
import { ZIGBEE2MQTT_PROFILES } from './zigbee2mqtt.ts';

/** Every device of the file, and for each example of a profile a device to try it on. What is wrong is reported and left out. */
export function resolveDevices(
  sources: Sources,
  connections: DeviceParts['connections'],
  file: string,
  report: ReportIn,
): { readonly devices: readonly DeviceDefinition[]; readonly examples: readonly ProfileExample[] } {
  const layer = (
    section: string,
    name: string,
    source: { readonly file: string; readonly content: RawMap },
  ): Layer => ({
    file: source.file,
    path: [section, name],
    content: written(source.content),
  });
  const profiles = new Map<string, Layer>(
    [...sources.profiles].map(([name, source]) => [name, layer('profiles', name, source)]),
  );
  for (const [name, content] of Object.entries(ZIGBEE2MQTT_PROFILES))
    profiles.set(name, { file: '', path: null, content: written(content) });
  const { timeout: _timeout, ...common } = sources.main.defaults ?? {};
  const defaults: Layer | null =
    Object.keys(common).length === 0 ? null : { file, path: ['defaults'], content: written(common) };
  const complete = ({ broken }: Chain): boolean => {
    if (broken !== null) report(broken.at.file, [...(broken.at.path ?? []), broken.key], broken.message);
    return broken === null;
  };
  for (const profile of profiles.values()) complete(chainOf(profile, 'extends', profiles));
  const resolve = (id: string, device: Layer): readonly DeviceDefinition[] => {
    const chain = chainOf(device, 'profile', profiles);
    if (!complete(chain)) return [];
    const parts: DeviceParts = { id, device, profiles: chain.layers, defaults, connections };
    const layers = layersOf(parts);
    const definition = resolveDevice(parts, layers, (path, message) => {
      const origin = originOf(layers, path);
      report(origin.file, origin.path, message);
    });
    return definition === null ? [] : [definition];
  };
  const devices = [...sources.devices].flatMap(([id, source]) => resolve(id, layer('devices', id, source)));
  const examples = [...sources.profiles].flatMap(([profile, { file: at, content }]) =>
    ((content as RawProfile).examples ?? []).flatMap((example, index) => {
      const standIn = exampleDevice(profile, example, [...sources.devices.values()]);
      const device: Layer = { file: at, path: ['profiles', profile, 'examples', index], content: standIn };
      return resolve(profile, device).map((definition) => ({ profile, index, device: definition, example }));
    }),
  );
  return { devices, examples };
}

/** An example is tried on a device of its own: with the example's parameters, else as the first device of that profile. */
function exampleDevice(
  profile: string,
  example: ProfileExample['example'],
  devices: readonly { readonly content: RawMap }[],
): RawMap {
  const first = devices.find(({ content }) => content['profile'] === profile)?.content;
  const { connection, with: params, entity } = first ?? {};
  return {
    profile,
    ...(connection === undefined ? {} : { connection }),
    ...(entity === undefined ? {} : { entity }),
    with: example.with ?? params ?? {},
  };
}

interface Chain {
  /** Nearest first. */
  readonly layers: readonly Layer[];
  /** Where the chain ends badly, and why. */
  readonly broken: { readonly at: Layer; readonly key: string; readonly message: string } | null;
}

/** The profiles that a device (by `profile`) or a profile (by `extends`) stands on. */
function chainOf(from: Layer, key: 'profile' | 'extends', profiles: ReadonlyMap<string, Layer>): Chain {
  const names: string[] = [];
  const layers: Layer[] = [];
  for (let at = from, by = key; ; by = 'extends') {
    const name = at.content[by];
    if (typeof name !== 'string') return { layers, broken: null };
    const profile = profiles.get(name);
    if (profile === undefined) {
      const known = [...profiles.keys()];
      const message = `there is no profile ${JSON.stringify(name)}; profiles: ${listed(known)}.${didYouMean(name, known)}`;
      return { layers, broken: { at, key: by, message } };
    }
    if (names.includes(name)) {
      // Told in one way and at one place, wherever the circle was entered.
      const circle = names.slice(names.indexOf(name)).sort();
      const message = `goes in a circle: ${circle.join(', ')}`;
      return { layers, broken: { at: profiles.get(String(circle[0])) ?? at, key: 'extends', message } };
    }
    names.push(name);
    layers.push(profile);
    at = profile;
  }
}
