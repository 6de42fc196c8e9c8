/**
 * The flags of the contract. Each is also an environment variable: `READBACK_` and its name in capitals with
 * dashes as underscores. A flag goes before its variable, a variable before what a running `up` says.
 */
import { type Command, InvalidArgumentError, Option } from 'commander';
import { DURATION, milliseconds } from '../domain/catalogue/durations.ts';
import { checkedIssuerUrl } from '../identity/issuer-url.ts';
import { DEFAULT_OPTIONS, LONGEST_WAIT_MS } from '../mcp-server/options.ts';
import { DEFAULT_DATA_DIR } from './data-folder.ts';

export interface JsonFlag {
  readonly json?: true;
}

export interface DataFlags {
  readonly dataDir: string;
}

export interface EngineFlags extends DataFlags, JsonFlag {
  readonly catalogue?: string;
  readonly temporal?: string;
  readonly namespace?: string;
  /** Where `simulator:` in the catalogue leads. `up` fills it in for its children. */
  readonly simulatorUrl?: string;
}

/** How MCP clients are served. Durations in milliseconds. */
export interface ServingFlags {
  readonly approval?: 'queue';
  readonly taskGrace: number;
  readonly syncWait: number;
  readonly deviceHeader?: true;
}

/** Where it is written who may approve. */
export interface ApproversFlags extends DataFlags {
  readonly approvers?: string;
}

export interface ListenFlags {
  readonly port: number;
  readonly host: string;
}

/** Where people reach the console. */
export interface ConsoleFlags {
  readonly consoleUrl?: string;
}

/** Where agents and people sign in. */
export interface AuthFlags {
  readonly authIssuer?: string;
  readonly consoleClientId?: string;
  readonly authAudience?: string;
  readonly authSubjectClaim?: string;
  readonly anyoneMayCommand?: true;
}

export interface UpFlags
  extends EngineFlags,
    ListenFlags,
    ServingFlags,
    ApproversFlags,
    ConsoleFlags,
    AuthFlags {
  /** `--no-simulator` sets it to false. */
  readonly simulator: boolean;
  readonly simulatorDevices?: string;
}

export const addJsonFlag = (command: Command): Command =>
  command.addOption(flag('--json', 'print JSON for programs instead of text for people'));

export const addDataFlag = (command: Command): Command =>
  command.addOption(
    flag('--data-dir <folder>', 'where `up` keeps its data, logs and state').default(DEFAULT_DATA_DIR),
  );

/** `withData: false` where the command has the data folder's flag already. */
export const addApproversFlags = (command: Command, { withData = true } = {}): Command =>
  (withData ? addDataFlag(command) : command).addOption(
    flag('--approvers <file>', 'who may approve (default: approvers.json in the data folder)'),
  );

export const addConsoleFlag = (command: Command): Command =>
  command.addOption(
    flag(
      '--console-url <url>',
      'where people reach the console, if not at the address that is listened on',
    ).argParser(webAddress),
  );

export const issuerFlag = (): Option =>
  flag(
    '--auth-issuer <url>',
    'where agents and people sign in (OAuth 2.1, OpenID Connect), as it calls itself',
  ).argParser(issuerUrl);

export const addAuthFlags = (command: Command): Command =>
  command
    .addOption(issuerFlag())
    .addOption(
      flag(
        '--auth-audience <url>',
        'what access tokens must be for (default: /mcp beside the console URL)',
      ).argParser(webAddress),
    )
    .addOption(
      flag(
        '--auth-subject-claim <name>',
        'the claim by which the issuer calls a person in every application the same (default: sub)',
      ),
    )
    .addOption(
      flag('--console-client-id <id>', 'what the issuer knows the console by: people sign in there with it'),
    )
    .addOption(
      flag('--anyone-may-command', 'listen beyond this machine although nobody signs in; see the docs first'),
    );

export const addEngineFlags = (command: Command): Command =>
  addJsonFlag(addDataFlag(command))
    .addOption(
      flag('--catalogue <file>', 'devices and approval rules (default: ./readback.yaml, else the demo)'),
    )
    .addOption(flag('--temporal <address>', 'host:port of Temporal; TEMPORAL_ADDRESS says the same'))
    .addOption(flag('--namespace <name>', "Temporal's namespace; TEMPORAL_NAMESPACE says the same"))
    .addOption(flag('--simulator-url <url>', 'where "simulator:" in the catalogue leads').hideHelp());

export const addListenFlags = (command: Command, defaultPort: number): Command =>
  command
    .addOption(
      flag('--port <number>', 'port to listen on; 0: any free one').default(defaultPort).argParser(port),
    )
    .addOption(flag('--host <address>', 'address to listen on').default('127.0.0.1'));

export const addServingFlags = (command: Command): Command =>
  command
    .addOption(
      flag('--approval <way>', '"queue": never ask the calling client, approvals wait in the queue').choices([
        'queue',
      ]),
    )
    .addOption(
      flag('--task-grace <duration>', 'how long a call may take before it becomes a task')
        .default(DEFAULT_OPTIONS.taskGraceMs, '5s')
        .argParser(waitOfCall),
    )
    .addOption(
      flag('--sync-wait <duration>', 'how long a client without tasks is kept waiting')
        .default(LONGEST_WAIT_MS, '45s')
        .argParser(waitOfCall),
    )
    .addOption(
      flag('--device-header', 'mirror the device in a header, for clients that support x-mcp-header'),
    );

/** An option whose variable is made from its name. */
export function flag(flags: string, description: string): Option {
  const option = new Option(flags, description);
  const variable = variableOf(option.long ?? flags);
  if (option.isBoolean() || option.negate) SWITCHES.add(variable);
  return option.env(variable);
}

/** Variables of flags without a value. */
const SWITCHES = new Set<string>();

/** `--task-grace` → `READBACK_TASK_GRACE` */
function variableOf(longFlag: string): string {
  return `READBACK_${longFlag.replace(/^--/, '').replaceAll('-', '_').toUpperCase()}`;
}

/**
 * To be called once all flags are made, before any is read.
 * Makes variables mean what people mean by them: an empty one is an unset one, a switch set to 0, no or false is
 * off, and Temporal's own variables stand in for ours. Changes `environment`.
 */
export function prepareEnvironment(environment: NodeJS.ProcessEnv): void {
  for (const [name, value] of Object.entries(environment)) {
    if (name.startsWith('READBACK_') && value === '') delete environment[name];
  }
  for (const name of SWITCHES) {
    if (/^(0|no|off|false)$/i.test(environment[name] ?? '')) delete environment[name];
  }
  if (environment.TEMPORAL_ADDRESS) environment.READBACK_TEMPORAL ??= environment.TEMPORAL_ADDRESS;
  if (environment.TEMPORAL_NAMESPACE) environment.READBACK_NAMESPACE ??= environment.TEMPORAL_NAMESPACE;
}

export function port(text: string): number {
  const number = /^\d{1,5}$/.test(text) ? Number(text) : Number.NaN;
  if (!(number <= 65_535)) throw new InvalidArgumentError('A port is a number from 0 to 65535.');
  return number;
}

export function webAddress(text: string): string {
  if (!URL.canParse(text) || !/^https?:$/.test(new URL(text).protocol))
    throw new InvalidArgumentError('A URL starts with http:// or https://.');
  return text;
}

function issuerUrl(text: string): string {
  try {
    return checkedIssuerUrl(text);
  } catch (error) {
    throw new InvalidArgumentError((error as Error).message);
  }
}

/** Milliseconds of `5s`; a bare 0 needs no unit. */
export function duration(text: string): number {
  if (text !== '0' && !DURATION.test(text)) {
    throw new InvalidArgumentError('A duration looks like 500ms, 5s, 2m, 1h or 7d.');
  }
  return milliseconds(text);
}

function waitOfCall(text: string): number {
  const waitMs = duration(text);
  if (waitMs > LONGEST_WAIT_MS) {
    throw new InvalidArgumentError(
      `Hosts give up on a call after a minute: at most ${LONGEST_WAIT_MS / 1000} s.`,
    );
  }
  return waitMs;
}

export function count(text: string): number {
  const number = /^\d{1,4}$/.test(text) ? Number(text) : 0;
  if (number < 1) throw new InvalidArgumentError('Expected a whole number from 1 to 9999.');
  return number;
}

/** Hosts that mean every address of this machine: to listen on, not to open. */
export const ANY_ADDRESS: readonly string[] = ['0.0.0.0', '::', '[::]'];
