import type { Commands, DeviceState } from '../../commands/commands.ts';
import { formatDuration, formatValue, plain } from '../../domain/text.ts';
import { plainResult } from '../command-result.ts';
import type { McpOptions } from '../options.ts';
import { isoTime } from '../structured-content.ts';
import { deviceProperty } from './device-argument.ts';
import { parseArguments, shortText, type Tool } from './tool.ts';

const ARGUMENTS = { device: shortText(200) };

export function getDeviceState(commands: Commands, options: McpOptions): Tool {
  return {
    name: 'get_device_state',
    description: 'Reads a device now and says what it shows.',
    inputSchema: { type: 'object', properties: { device: deviceProperty(options) }, required: ['device'] },
    annotations: { readOnlyHint: true },
    async call(args) {
      const { device } = parseArguments(ARGUMENTS, args, '');
      const state = await commands.readState(device);
      const result = plainResult(stateInWords(state, Date.now()), stateContent(state));
      return state.trouble === null ? result : { ...result, isError: true };
    },
  };
}

/** `"Bedroom AC" shows temperature 24 °C, mode cool (read 2 s ago).` */
export function stateInWords(state: DeviceState, now: number): string {
  const name = `"${plain(state.deviceName, 64)}"`;
  if (state.trouble !== null)
    return `${name} can't be read: ${plain(state.trouble, 300)}. What it does now is unknown.`;
  const fields = Object.entries(state.fields).map(([field, reading]) => {
    switch (reading.kind) {
      case 'value':
        return `${field} ${formatValue(reading.value, reading.unit)}`;
      case 'unreadable':
        return `${field} unreadable (${plain(reading.why, 100)})`;
      case 'notApplicable':
        return `${field} not applicable (${plain(reading.why, 100)})`;
    }
  });
  const raised = Object.entries(state.faults).filter(([, fault]) => fault === 'raised');
  return [
    `${name} shows ${fields.join(', ')} (read ${formatDuration(now - state.at)} ago).`,
    ...(state.moving ? ['It is still moving.'] : []),
    ...raised.map(([fault]) => `Fault: ${fault}. A person is needed.`),
  ].join(' ');
}

export function stateContent(state: DeviceState): Readonly<Record<string, unknown>> {
  return {
    device: state.device,
    at: isoTime(state.at),
    fields: Object.fromEntries(
      Object.entries(state.fields).map(([field, reading]) => [
        field,
        reading.kind === 'value'
          ? { value: reading.value, unit: reading.unit }
          : { value: null, [reading.kind]: plain(reading.why, 100) },
      ]),
    ),
    moving: state.moving,
    faults: state.faults,
    ...(state.trouble !== null && { trouble: plain(state.trouble, 300) }),
  };
}
