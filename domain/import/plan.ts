/** From what was found to what changes in the catalogue: what is new, what differs, and what isn't there any more. */
import type { Catalogue, DeviceDefinition } from '../catalogue/definition.ts';
import { type Loaded, loadCatalogue } from '../catalogue/load.ts';
import { isMap, type RawMap } from '../catalogue/merge.ts';
import { parseYaml } from '../catalogue/yaml-file.ts';
import { describeField } from '../devices.ts';
import { plain } from '../text.ts';
import { type Additions, editedCatalogue } from './catalogue-text.ts';
import { rulesFor } from './guards.ts';
import { assignIds } from './names.ts';
import { type Found, identityOf, type LeftOut, type Proposal } from './proposal.ts';

export interface ImportRequest {
  /** The catalogue's text; empty: there is none yet. */
  readonly text: string;
  /** What is in it; null: there is none yet. */
  readonly catalogue: Catalogue | null;
  readonly connection: {
    readonly name: string;
    /** As it stands, or shall stand, in the file. */
    readonly content: RawMap;
    readonly isNew: boolean;
  };
  readonly found: Found;
  /** Which of what was found is wanted. */
  readonly isWanted: (proposal: Proposal) => boolean;
  /** Take out what isn't there any more. */
  readonly prune: boolean;
  /** Add approval rules for what may let somebody in, and the like. */
  readonly guard: boolean;
}

export interface ImportPlan {
  readonly text: string;
  readonly added: readonly ImportedDevice[];
  /** In the catalogue already, and as it is there. */
  readonly same: readonly string[];
  /** In the catalogue already, and told otherwise; nothing of it was changed. */
  readonly differing: readonly { readonly id: string; readonly differences: readonly string[] }[];
  /** In the catalogue, and not found. */
  readonly gone: readonly { readonly id: string; readonly identity: string; readonly removed: boolean }[];
  readonly leftOut: readonly LeftOut[];
  readonly approvals: readonly RawMap[];
}

export interface ImportedDevice {
  readonly id: string;
  readonly identity: string;
  readonly name: string;
  /** What may be asked, by field. */
  readonly fields: Readonly<Record<string, string>>;
}

/** Throws where not even the connection could be described. The text still has to be loaded as a whole. */
export async function planImport(request: ImportRequest): Promise<ImportPlan> {
  const { text, catalogue, connection, found, isWanted } = request;
  const here = Object.values(catalogue?.devices ?? {}).filter(
    (device) => device.connection === connection.name,
  );
  const known = new Map(here.flatMap((device) => identified(device)));
  const wanted = found.proposals.filter(isWanted);
  const ids = idsOf(wanted, known, catalogue);
  const { devices, refused } = await resolved(connection, wanted, ids);
  const written = devicesIn(text);
  const isNew = ({ identity }: Proposal): boolean => !known.has(identity);
  const added = devices.filter(({ proposal }) => isNew(proposal));
  const compared = devices
    .filter(({ proposal }) => !isNew(proposal))
    .map(({ proposal, definition }) => {
      const own = known.get(proposal.identity) as DeviceDefinition;
      return { id: own.id, differences: differences(own, definition, proposal, ownFields(written, own.id)) };
    });
  const gone = goneOf(request, known, written);
  const approvals = request.guard
    ? rulesFor(
        added.map(({ definition, proposal: { guard } }) => ({ definition, guard })),
        catalogue?.approvals ?? [],
      )
    : [];
  const additions: Additions = {
    connections: connection.isNew && added.length > 0 ? { [connection.name]: connection.content } : {},
    devices: added.map(({ id, proposal, entry }) => ({ id, entry, comment: proposal.comment })),
    approvals,
  };
  const removed = gone.flatMap(({ id, removed: isRemoved }) => (isRemoved ? [id] : []));
  return {
    text: added.length + removed.length === 0 ? text : editedCatalogue(text, additions, removed),
    added: added.map(({ id, proposal, definition }) => ({
      id,
      identity: proposal.identity,
      name: definition.name,
      fields: Object.fromEntries(
        Object.values(definition.fields).map((field) => [field.name, describeField(field)]),
      ),
    })),
    same: compared.filter((one) => one.differences.length === 0).map(({ id }) => id),
    differing: compared.filter((one) => one.differences.length > 0),
    gone,
    leftOut: [...found.leftOut, ...refused],
    approvals,
  };
}

function identified(device: DeviceDefinition): readonly (readonly [string, DeviceDefinition])[] {
  const identity = identityOf(device);
  return identity === null ? [] : [[identity, device]];
}

/** Who is in the catalogue keeps the id, whatever it would be called today. */
function idsOf(
  wanted: readonly Proposal[],
  known: ReadonlyMap<string, DeviceDefinition>,
  catalogue: Catalogue | null,
): ReadonlyMap<Proposal, string> {
  const taken = Object.values(catalogue?.devices ?? {}).flatMap(({ id, name, aliases }) => [
    id,
    name,
    ...aliases,
  ]);
  const fresh = wanted.filter(({ identity }) => !known.has(identity));
  const ids = assignIds(
    fresh.map((proposal) => proposal.ids),
    new Set(taken.map((name) => name.toLowerCase())),
  );
  const assigned = new Map(fresh.map((proposal, index) => [proposal, ids[index] ?? '']));
  return new Map(
    wanted.map((proposal) => [proposal, known.get(proposal.identity)?.id ?? assigned.get(proposal) ?? '']),
  );
}

interface Resolved {
  readonly id: string;
  readonly proposal: Proposal;
  readonly entry: RawMap;
  readonly definition: DeviceDefinition;
}

/** What the proposals mean. One that a catalogue can't hold is left out, and says why; the others stay. */
async function resolved(
  { name, content }: ImportRequest['connection'],
  wanted: readonly Proposal[],
  ids: ReadonlyMap<Proposal, string>,
): Promise<{ readonly devices: readonly Resolved[]; readonly refused: readonly LeftOut[] }> {
  const refused: LeftOut[] = [];
  const entries = wanted.map((proposal) => {
    const { name: called, area, tags, ...rest } = proposal.entry;
    const entry = {
      name: called,
      ...(area === undefined ? {} : { area }),
      ...(tags === undefined ? {} : { tags }),
    };
    return { id: ids.get(proposal) ?? '', proposal, entry: { ...entry, connection: name, ...rest } };
  });
  for (let left = entries; ; ) {
    const loaded = await loadTrial(name, content, left);
    if (loaded.ok) {
      const devices = left.flatMap((one) => {
        const definition = loaded.catalogue.devices[one.id];
        return definition === undefined ? [] : [{ ...one, definition }];
      });
      return { devices, refused };
    }
    const bad = new Map(loaded.problems.map(({ path, message }) => [path.split('.')[1] ?? '', message]));
    const stays = left.filter(({ id }) => !bad.has(id));
    if (stays.length === left.length)
      throw new Error(loaded.problems[0]?.message ?? 'nothing can be described');
    for (const { id, proposal } of left)
      if (bad.has(id)) refused.push({ identity: proposal.identity, why: plain(bad.get(id) ?? '', 200) });
    left = stays;
  }
}

async function loadTrial(
  name: string,
  content: RawMap,
  entries: readonly { readonly id: string; readonly entry: RawMap }[],
): Promise<Loaded> {
  const trial = {
    version: 1,
    connections: { [name]: content },
    devices: Object.fromEntries(entries.map(({ id, entry }) => [id, entry])),
  };
  // JSON is YAML.
  const text = JSON.stringify(trial);
  return await loadCatalogue({ file: 'import', readFile: () => text, environment: {}, withoutSecrets: true });
}

/** The devices as they stand in the file itself; those of other files are not looked at. */
function devicesIn(text: string): RawMap {
  const parsed = parseYaml(text);
  const devices = parsed.ok && isMap(parsed.value) ? parsed.value['devices'] : undefined;
  return isMap(devices) ? devices : {};
}

function ownFields(written: RawMap, id: string): RawMap {
  const device = Object.hasOwn(written, id) ? written[id] : undefined;
  const fields = isMap(device) ? device['fields'] : undefined;
  return isMap(fields) ? fields : {};
}

/** In words; what the user added or removed by hand is no difference. */
function differences(
  own: DeviceDefinition,
  told: DeviceDefinition,
  { entry }: Proposal,
  written: RawMap,
): readonly string[] {
  const shown = (text: string): string => JSON.stringify(plain(text, 64));
  const changes = isMap(entry['fields']) ? entry['fields'] : {};
  const fields = Object.values(told.fields).flatMap((field) => {
    const mine = own.fields[field.name];
    if (mine === undefined) return written[field.name] === null ? [] : [`${field.name} could be had as well`];
    const [here, there] = [describeField(mine), describeField(field)].map((text) => plain(text, 120));
    return here === there ? [] : [`${field.name} is ${there}, in the catalogue ${here}`];
  });
  const lost = Object.keys(own.fields).filter((name) => changes[name] === null);
  return [
    ...(own.name === told.name
      ? []
      : [`it is called ${shown(told.name)}, in the catalogue ${shown(own.name)}`]),
    ...(told.area === null || told.area === own.area
      ? []
      : [
          `it is in ${shown(told.area)}, in the catalogue ${own.area === null ? 'nowhere' : shown(own.area)}`,
        ]),
    ...fields,
    ...lost.map((name) => `it has no ${name} any more`),
  ];
}

/** Only what this very file holds is ever taken out. */
function goneOf(
  { found, prune }: ImportRequest,
  known: ReadonlyMap<string, DeviceDefinition>,
  written: RawMap,
): ImportPlan['gone'] {
  const there = new Set([...found.proposals, ...found.leftOut].map(({ identity }) => identity));
  return [...known].flatMap(([identity, { id }]) =>
    there.has(identity) ? [] : [{ id, identity, removed: prune && Object.hasOwn(written, id) }],
  );
}
