/** `readback devices import`: what a Home Assistant or a zigbee2mqtt has, as entries of the catalogue. */
import { existsSync, readFileSync } from 'node:fs';
import { resolve } from 'node:path';
import { type Command, InvalidArgumentError } from 'commander';
import { createTwoFilesPatch, FILE_HEADERS_ONLY } from 'diff';
import type { Catalogue, Connection } from '../domain/catalogue/definition.ts';
import { loadCatalogue } from '../domain/catalogue/load.ts';
import { formatProblem } from '../domain/catalogue/problems.ts';
import { parseYaml } from '../domain/catalogue/yaml-file.ts';
import { harmlessJson } from '../domain/harmless-json.ts';
import { type ImportPlan, planImport } from '../domain/import/plan.ts';
import type { Found } from '../domain/import/proposal.ts';
import { EXIT, Failure } from './failure.ts';
import { addJsonFlag, flag, type JsonFlag } from './flags.ts';
import {
  type ChosenConnection,
  type ConnectionFlags,
  chooseConnection,
  openable,
} from './import/connection.ts';
import { type ImportReport, reportText } from './import/report.ts';
import { replaceCatalogue } from './import/writing.ts';

interface ImportFlags extends ConnectionFlags, JsonFlag {
  readonly into: string;
  readonly base: string;
  readonly only?: readonly string[];
  readonly except?: readonly string[];
  readonly prune?: true;
  /** `--no-approvals` sets it to false. */
  readonly approvals: boolean;
  readonly dryRun?: true;
}

export function addImport(devices: Command): void {
  const command = devices
    .command('import')
    .description('Write what a Home Assistant or a zigbee2mqtt has into the catalogue.')
    .addHelpText('after', HELP)
    .addOption(
      flag('--from <source>', 'what to ask').choices(['home-assistant', 'zigbee2mqtt']).makeOptionMandatory(),
    )
    .addOption(flag('--url <url>', 'where it is: http(s)://…, or mqtt(s)://… of the broker'))
    .addOption(
      flag('--into <file>', 'catalogue to write to; made where there is none').default('readback.yaml'),
    )
    .addOption(
      flag('--connection <name>', "the connection's name in the catalogue (default: the one at --url)"),
    )
    .addOption(flag('--user <name>', 'user name for the broker'))
    .addOption(
      flag(
        '--secret-env <name>',
        'variable with the access token, or the password (default: HA_TOKEN, MQTT_PASSWORD); only its name is written',
      ).argParser(variable),
    )
    .addOption(flag('--secret-file <file>', 'file with it; only its path is written'))
    .addOption(flag('--ca <file>', 'certificate authority to trust'))
    .addOption(flag('--base <topic>', "zigbee2mqtt's base topic").default('zigbee2mqtt'))
    .addOption(flag('--only <pattern...>', 'only these: light, light.hall_*, Study/*'))
    .addOption(flag('--except <pattern...>', 'all but these'))
    .addOption(flag('--prune', 'take devices out of the file that are not there any more'))
    .addOption(
      flag('--no-approvals', 'add no approval rules for locks, doors, covers, valves, alarms and sirens'),
    )
    .addOption(flag('--dry-run', 'show what would change, and write nothing'))
    .action(importDevices);
  addJsonFlag(command);
}

function variable(name: string): string {
  if (/^[A-Za-z_][A-Za-z0-9_]*$/.test(name)) return name;
  throw new InvalidArgumentError('Give the name of an environment variable, not the secret itself.');
}

async function importDevices(flags: ImportFlags): Promise<void> {
  const file = resolve(flags.into);
  const before = existsSync(file) ? readFileSync(file, 'utf8') : '';
  const parsed = parseYaml(before);
  const isBlank = parsed.ok && parsed.value === null;
  const catalogue = isBlank ? null : await loaded(file, before, 'Mend it first.');
  const connection = chooseConnection(flags, file, before, catalogue);
  const found = await ask(await openable(connection, file), flags.base);
  const plan = await planImport({
    text: before,
    catalogue,
    connection,
    found,
    isWanted: ({ identity }) => isWanted(identity, flags),
    prune: flags.prune === true,
    guard: flags.approvals,
  });
  const isChanged = plan.text !== before;
  if (isChanged) await loaded(file, plan.text, 'So nothing was written.');
  if (isChanged && flags.dryRun !== true) await replaceCatalogue(file, before, plan.text);
  tell(plan, connection, file, before, flags);
}

function tell(
  { text, ...plan }: ImportPlan,
  { name }: ChosenConnection,
  file: string,
  before: string,
  flags: ImportFlags,
): void {
  const isChanged = text !== before;
  const isDryRun = flags.dryRun === true;
  const diff = isChanged
    ? createTwoFilesPatch(flags.into, flags.into, before, text, '', '', {
        context: 3,
        headerOptions: FILE_HEADERS_ONLY,
      })
    : '';
  const report: ImportReport = { ...plan, file, connection: name, written: isChanged && !isDryRun, diff };
  process.stdout.write(flags.json ? `${harmlessJson(report)}\n` : reportText(report, isDryRun));
}

async function ask(connection: Connection, base: string): Promise<Found> {
  const { foundDevices } = await import('../worker/found-devices.ts');
  try {
    return await foundDevices(connection, base);
  } catch (error) {
    const why = error instanceof Error ? error.message : String(error);
    throw new Failure(
      EXIT.endedBadly,
      `${connection.baseUrl} told nothing: ${why}. Nothing was written. Look whether that is the address, and import again.`,
      error,
    );
  }
}

/** The catalogue that `text` is, once it stands in `file`. Throws a `Failure` with all that is wrong with it. */
async function loaded(file: string, text: string, consequence: string): Promise<Catalogue> {
  const result = await loadCatalogue({
    file,
    readFile: (path) => (path === file ? text : readFileSync(path, 'utf8')),
    environment: {},
    withoutSecrets: true,
  });
  if (result.ok) return result.catalogue;
  throw new Failure(EXIT.usage, [...result.problems.map(formatProblem), consequence].join('\n'));
}

function isWanted(identity: string, { from, base, only, except }: ImportFlags): boolean {
  const name = from === 'zigbee2mqtt' ? identity.slice(base.length + 1) : identity;
  const matches = (pattern: string): boolean => isMatch(pattern, name, from === 'home-assistant');
  return (only === undefined || only.some(matches)) && except?.some(matches) !== true;
}

/** `*` is any text. Of Home Assistant, a domain alone will do. */
function isMatch(pattern: string, name: string, hasDomains: boolean): boolean {
  const whole = hasDomains && !/[.*]/.test(pattern) ? `${pattern}.*` : pattern;
  const parts = whole.split('*').map((part) => part.replace(/[.+?^${}()|[\]\\]/g, '\\$&'));
  return new RegExp(`^${parts.join('.*')}$`, 'iu').test(name);
}

const HELP = `
What is in the catalogue already stays as it is, comments and all; you are told where it differs from what was found. Ids
never change. Secrets are never written: the catalogue names the variable, or the file, that holds them.
What may let somebody in (locks, doors), let water out (valves) or wake the street gets approval rules, which you may take out.

Examples:
  $ HA_TOKEN=… readback devices import --from home-assistant --url http://homeassistant.local:8123 --dry-run
  $ readback devices import --from home-assistant --only light climate 'cover.*_window'    again, from the same one
  $ readback devices import --from zigbee2mqtt --url mqtt://broker.local:1883 --user readback --secret-file mqtt-password
`;
