/** `readback devices probe`: asks devices themselves which of their declared fields really read back. */
import type { Command } from 'commander';
import type { Probe, ProbedField } from '../domain/probe.ts';
import { formatValue } from '../domain/text.ts';
import { type Assignments, addAssignment } from './assignments.ts';
import { EXIT, Failure } from './failure.ts';
import { addEngineFlags, type EngineFlags, flag } from './flags.ts';
import { type OpenCommands, withCommands } from './open-commands.ts';

interface ProbeFlags extends EngineFlags {
  readonly all?: true;
  readonly measure?: Assignments;
}

export function addProbe(devices: Command): void {
  const command = devices
    .command('probe')
    .argument('[device...]', 'ids, names or aliases')
    .description(
      'Ask devices which of their declared fields really read back, and what of their entries is wrong.',
    )
    .addHelpText('after', HELP)
    .addOption(flag('--all', 'every device of the catalogue, one after the other'))
    .addOption(
      flag(
        '--measure <field=value>',
        'really send this, send the old value back, and suggest settle times; may be given for several fields',
      ).argParser(addAssignment),
    )
    .action(withCommands<[string[]], ProbeFlags>(probe));
  addEngineFlags(command);
}

async function probe(open: OpenCommands, flags: ProbeFlags, named: readonly string[]): Promise<void> {
  const devices = flags.all === true ? Object.keys(open.catalogue.devices) : named;
  if (devices.length === 0) throw usage('Name the devices to probe, or --all.');
  if (flags.measure !== undefined && devices.length > 1)
    throw usage('--measure works on one device at a time.');
  const probed: object[] = [];
  for (const device of devices) {
    const found = await open.commands.probe(device);
    if (found.trouble !== null || found.contradictions.length > 0) process.exitCode = EXIT.endedBadly;
    if (flags.json === true) probed.push({ device, ...found });
    else process.stdout.write(`${probeText(device, found, devices.length === 1)}\n`);
  }
  if (flags.json === true && flags.measure === undefined)
    process.stdout.write(`${JSON.stringify({ devices: probed })}\n`);
  if (flags.measure === undefined) return;
  const { measure } = await import('./devices-measure.ts');
  const measured = await measure(open, String(devices[0]), flags.measure, flags.json !== true);
  if (flags.json === true) process.stdout.write(`${JSON.stringify({ devices: probed, measured })}\n`);
}

const usage = (message: string): Failure => new Failure(EXIT.usage, `${message} Nothing was read or sent.`);

function probeText(
  device: string,
  { trouble, fields, contradictions, unused, replies }: Probe,
  full: boolean,
): string {
  const wrong = contradictions.map(({ entry, says }) => `  ${entry}: ${says}`);
  const raw = Object.entries(replies).map(([name, { status, body }]) => `  ${name} (${status}): ${body}`);
  return [
    trouble === null ? device : `${device} could not be read: ${trouble}`,
    ...Object.entries(fields).map(([field, found]) => `  ${field}: ${fieldText(found)}`),
    ...(wrong.length === 0 ? [] : ['The reply contradicts the catalogue:', ...wrong]),
    ...(full && unused.length > 0 ? ['The reply also holds:', `  ${unused.join(', ')}`] : []),
    ...(full && raw.length > 0 ? ['The reply:', ...raw] : []),
  ].join('\n');
}

function fieldText({ verdict, value, unit, why }: ProbedField): string {
  switch (verdict) {
    case 'readsBack':
      return `reads back, ${formatValue(value, unit)}`;
    case 'notApplicable':
      return `does not apply now: ${why}`;
    case 'unreadable':
      return `does NOT read back: ${why}`;
    case 'onlyConfirmed':
      return 'has no reading of its own, only a confirmation after a send';
    case 'noReadback':
      return 'declared as never read back';
  }
}

const HELP = `
One read of each device, made by a worker; nothing is sent but with --measure. A comment or a manual is no evidence of
what a device reports; its own reply is. Exit code 0: the entry fits the reply; 1: the device could not be read, or the
reply contradicts its entry.

Examples:
  $ readback devices probe bedroom-ac
  $ readback devices probe --all --json
  $ readback devices probe bedroom-ac --measure temperature=24
`;
