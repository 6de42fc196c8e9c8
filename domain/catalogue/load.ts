/** From the user's file to a catalogue that the rest of Readback works with, or to everything that is wrong with it, at once. */

import type { ProfileExample } from '../examples.ts';
import { checkTimezone, resolveApproval } from './approvals.ts';
import { resolveConnection } from './connections.ts';
import type { Catalogue, ReplyRules, Settings } from './definition.ts';
import { checkNames } from './device-names.ts';
import type { ConnectionPart, DeviceParts } from './devices.ts';
import { digestOf } from './digest.ts';
import { written } from './layers.ts';
import { collectProblems, type ReportIn } from './problem-log.ts';
import type { Path, Problem } from './problems.ts';
import { resolveDevices } from './profiles.ts';
import type { RawCatalogue } from './schema.ts';
import { fillSecrets, refuseSecrets, refuseSecretsThatShow } from './secrets.ts';
import { beside, readSources, type Sources } from './sources.ts';
import { checkWebhook } from './webhook.ts';

export type { Problem } from './problems.ts';

export interface LoadOptions {
  /** Path of the catalogue, as the user knows it: it stands in every problem. */
  readonly file: string;
  /** Rejects or throws where there is no such file. Also reads `include` and `${file:PATH}`, both relative to the catalogue's folder. */
  readonly readFile: (path: string) => string | Promise<string>;
  readonly environment: Readonly<Record<string, string | undefined>>;
  /** Where the built-in simulator listens, for `baseUrl: "simulator:"`, e.g. `http://127.0.0.1:4100`. */
  readonly simulatorUrl?: string | null | undefined;
  /**
   * For those that never talk to a device: secrets are not looked up, and what would need one, or the simulator, stays as it is
   * written. Devices, approvals and all digests are the same.
   */
  readonly withoutSecrets?: boolean | undefined;
}

export type Loaded =
  | {
      readonly ok: true;
      readonly catalogue: Catalogue;
      readonly warnings: readonly string[];
      readonly examples: readonly ProfileExample[];
    }
  | { readonly ok: false; readonly problems: readonly Problem[] };

type ConnectionParts = DeviceParts['connections'];

export async function loadCatalogue(options: LoadOptions): Promise<Loaded> {
  const { problems, report, shapeDone } = collectProblems();
  const sources = await readSources(options.file, options.readFile, report);
  if (sources === null) return { ok: false, problems: problems() };
  shapeDone();
  const misshapen = problems();
  const { main } = sources;
  if (main.timezone !== undefined)
    checkTimezone(main.timezone, ['timezone'], (path, message) => report(options.file, path, message));
  refuseSecretsOutsideConnections(sources, options.file, report);
  const connections = await resolveConnections(sources, options, report);
  const { devices, examples } = resolveDevices(sources, connections, options.file, report);
  checkWebhook(main.settings?.webhook, connections, (path, message) =>
    report(options.file, ['settings', 'webhook', ...path], message),
  );
  const warnings = checkNames(devices, (id) => sources.devices.get(id)?.file ?? '', report);
  const incomplete = devices.length < sources.devices.size || misshapen.some(hidesDevices);
  const approvals = sources.approvals.map(({ file, content, index }, position) =>
    resolveApproval(
      content,
      position,
      {
        devices,
        incomplete,
        ids: misshapen.some(hidesFiles) ? null : [...sources.devices.keys()],
        timezone: main.timezone ?? null,
      },
      (path, message) => report(file, ['approvals', index, ...path], message),
    ),
  );
  if (problems().length > 0) return { ok: false, problems: problems() };
  const content = {
    timezone: main.timezone ?? 'UTC',
    settings: settingsOf(main),
    connections: mapOf([...connections].map(([name, { connection }]) => [name, connection])),
    devices: mapOf(devices.map((device) => [device.id, device])),
    approvals,
  };
  return {
    ok: true,
    catalogue: { ...content, digest: catalogueDigest(content, sources) },
    warnings,
    examples,
  };
}

/** A rule may be about a device, a field or a group that was left out for being misshapen. */
const hidesDevices = ({ path }: Problem): boolean =>
  path === '' ||
  /^(include|devices|profiles)(\.[^.]+)?$|\.(fields|tags|area|name|aliases|profile|extends|entity)\b/.test(
    path,
  );

const hidesFiles = ({ path }: Problem): boolean => path === '' || path.startsWith('include');

function refuseSecretsOutsideConnections(sources: Sources, file: string, report: ReportIn): void {
  const {
    connections: _connections,
    profiles: _profiles,
    devices: _devices,
    approvals: _approvals,
    ...rest
  } = sources.main;
  refuseSecrets(rest, [], (path, message) => report(file, path, message));
  for (const section of ['profiles', 'devices'] as const) {
    for (const [name, { file: at, content }] of sources[section]) {
      refuseSecrets(content, [section, name], (path, message) => report(at, path, message));
    }
  }
  for (const { file: at, content, index } of sources.approvals) {
    refuseSecrets(content, ['approvals', index], (path, message) => report(at, path, message));
  }
}

async function resolveConnections(
  sources: Sources,
  options: LoadOptions,
  report: ReportIn,
): Promise<ConnectionParts> {
  const defaults = sources.main.defaults ?? {};
  const context = {
    defaultTimeout: defaults.timeout ?? '10s',
    defaultReply: (defaults.reply ?? {}) as ReplyRules,
    simulatorUrl: options.simulatorUrl ?? null,
    withoutSecrets: options.withoutSecrets ?? false,
  } as const;
  const secretSources = {
    environment: options.environment,
    readFile: (path: string) => options.readFile(beside(options.file, path)),
  };
  const resolved = new Map<string, ConnectionPart>();
  for (const [name, { file, content }] of sources.connections) {
    const path: Path = ['connections', name];
    const here = (below: Path, message: string): void => report(file, [...path, ...below], message);
    const isRefused = refuseSecretsThatShow(content, [], here);
    const filled =
      options.withoutSecrets === true || isRefused
        ? content
        : ((await fillSecrets(content, secretSources, [], here)) as typeof content);
    const connection = resolveConnection(name, filled, context, here);
    const { settle, deliver, lane, reply } = content;
    const shared = Object.fromEntries(
      Object.entries({ settle, deliver, lane, reply }).filter(([, value]) => value !== undefined),
    );
    resolved.set(name, {
      connection,
      layer: { file, path, content: written(shared) },
      secrets: Object.keys(content.secrets ?? {}),
      address: content.baseUrl ?? content.url ?? '',
    });
  }
  return resolved;
}

function settingsOf({ settings }: RawCatalogue): Settings {
  return {
    operatorWait: settings?.operatorWait ?? 'answer',
    webhook: settings?.webhook ?? null,
    decideInTemporalUi: settings?.decideInTemporalUi ?? false,
  };
}

/** Without a prototype, so that a stranger's name such as "constructor" finds nothing. */
function mapOf<Content>(entries: readonly (readonly [string, Content])[]): Readonly<Record<string, Content>> {
  return Object.assign(Object.create(null) as Record<string, Content>, Object.fromEntries(entries));
}

/** The same for the same file: neither secrets nor the simulator's port of the day count. */
function catalogueDigest(content: Omit<Catalogue, 'digest'>, { connections: sources }: Sources): string {
  const connections = Object.values(content.connections).map(({ auth, secrets, ...connection }) => ({
    ...connection,
    secrets: Object.keys(secrets),
    baseUrl: sources.get(connection.name)?.content.baseUrl ?? connection.baseUrl,
    auth: auth.kind,
  }));
  return digestOf({
    ...content,
    devices: Object.values(content.devices).map(({ digest }) => digest),
    connections,
  });
}
