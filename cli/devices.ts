/** `readback devices`: what can be commanded, what it reads now, whether its entry is right, and where entries come from. */
import type { Command } from 'commander';
import type { DeviceState, DeviceSummary } from '../commands/commands.ts';
import { addImport } from './devices-import.ts';
import { addProbe } from './devices-probe.ts';
import { EXIT } from './failure.ts';
import { addEngineFlags, type EngineFlags } from './flags.ts';
import { type OpenCommands, withCommands } from './open-commands.ts';
import { readingText } from './snapshot-text.ts';

export function addDevices(program: Command): void {
  const devices = program
    .command('devices')
    .description('List devices and read them.')
    .addHelpText('after', HELP);
  const listing = devices
    .command('list')
    .argument('[query]', 'part of a name, id, alias, area or tag')
    .description('The devices of the catalogue, with their fields and what each may be set to.')
    .action(withCommands<[string | undefined], EngineFlags>(list));
  const reading = devices
    .command('read')
    .argument('<device>', 'id, name or alias')
    .description('Read a device now.')
    .action(withCommands<[string], EngineFlags>(read));
  addEngineFlags(listing);
  addEngineFlags(reading);
  addProbe(devices);
  addImport(devices);
}

async function list(
  { commands }: OpenCommands,
  flags: EngineFlags,
  query: string | undefined,
): Promise<void> {
  const devices = commands.devices(query);
  if (flags.json) {
    process.stdout.write(`${JSON.stringify({ devices })}\n`);
    return;
  }
  const none = query === undefined ? 'The catalogue has no devices.' : `No device matches "${query}".`;
  process.stdout.write(`${devices.length === 0 ? none : devices.map(summaryText).join('\n')}\n`);
}

async function read({ commands }: OpenCommands, flags: EngineFlags, device: string): Promise<void> {
  const state = await commands.readState(device);
  if (flags.json) process.stdout.write(`${JSON.stringify(state)}\n`);
  else process.stdout.write(`${stateText(state)}\n`);
  if (state.trouble !== null) process.exitCode = EXIT.endedBadly;
}

function summaryText({ device, name, area, aliases, fields }: DeviceSummary): string {
  const about = [name === device ? null : name, area, ...aliases.map((alias) => `"${alias}"`)].filter(
    Boolean,
  );
  const lines = Object.entries(fields).map(([field, allowed]) => `  ${field}: ${allowed}`);
  return [`${device}${about.length > 0 ? `  (${about.join(', ')})` : ''}`, ...lines].join('\n');
}

function stateText({ device, fields, moving, faults, trouble, at }: DeviceState): string {
  if (trouble !== null) return `${device} could not be read: ${trouble}`;
  const raised = Object.entries(faults).filter(([, fault]) => fault !== 'clear');
  return [
    `${device}, read at ${new Date(at).toISOString()}${moving ? ', moving' : ''}`,
    ...Object.entries(fields).map(([field, reading]) => `  ${field}: ${readingText(reading, reading.unit)}`),
    ...raised.map(([name, fault]) => `  fault ${name}: ${fault}`),
  ].join('\n');
}

const HELP = `
Examples:
  $ readback devices list bedroom
  $ readback devices read bedroom-ac --json
  $ readback devices probe bedroom-ac
`;
