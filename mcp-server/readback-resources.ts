/** Devices and commands as resources: what list_devices and get_command tell, for hosts that show resources to their users. */
import type { CommandSnapshot, Commands, DeviceSummary } from '../commands/commands.ts';
import { desiredInWords, plain } from '../domain/text.ts';
import { viewerOf } from './caller.ts';
import { pageOfDevices, shownDevice } from './device-content.ts';
import type { McpOptions } from './options.ts';
import { RESOURCE_TYPE, type ResourceStore } from './resources.ts';
import { structuredContent } from './structured-content.ts';
import { hasEnded } from './waiting.ts';

const DEVICES = 'readback://devices/';
const COMMANDS = 'readback://commands/';
const DEVICE_TEMPLATE = `${DEVICES}{id}`;
const COMMAND_TEMPLATE = `${COMMANDS}{commandId}`;

const DEVICES_A_PAGE = 100;
const RECENT_COMMANDS = 20;
const COMPLETED_COMMANDS = 100;
/** A definition changes with the catalogue only. */
const DEVICE_FOR_MS = 60_000;
/** What has ended stays as it is, but for the age that its message tells. */
const ENDED_COMMAND_FOR_MS = 60_000;

export function readbackResources(commands: Commands, options: McpOptions): ResourceStore {
  return {
    templates: [
      {
        name: 'device',
        uriTemplate: DEVICE_TEMPLATE,
        description: 'A device: its fields, units and ranges, as list_devices tells',
        mimeType: RESOURCE_TYPE,
      },
      {
        name: 'command',
        uriTemplate: COMMAND_TEMPLATE,
        description: 'One of your commands: its state, outcome and evidence, as get_command tells',
        mimeType: RESOURCE_TYPE,
      },
    ],

    async list(cursor, principal) {
      const page = pageOfDevices(commands.devices(), DEVICES_A_PAGE, cursor);
      if (page === null) return null;
      const { devices, ...next } = page;
      const isLast = page.nextCursor === undefined;
      const recent = isLast ? await commands.list(viewerOf({ principal }), { limit: RECENT_COMMANDS }) : [];
      return { resources: [...devices.map(deviceEntry), ...recent.map(commandEntry)], ...next };
    },

    async read(uri, principal) {
      const id = idIn(uri, DEVICES);
      if (id !== null) {
        const device = commands.devices().find((one) => one.device === id);
        return device && { content: shownDevice(device), ttlMs: DEVICE_FOR_MS };
      }
      const commandId = idIn(uri, COMMANDS);
      const snapshot =
        commandId === null ? undefined : await commands.get(commandId, viewerOf({ principal }));
      return (
        snapshot && {
          content: structuredContent(snapshot, Date.now(), options),
          ttlMs: hasEnded(snapshot) ? ENDED_COMMAND_FOR_MS : 0,
        }
      );
    },

    async complete(template, variable, value, principal) {
      const begins = (id: string) => id.toLowerCase().startsWith(value.toLowerCase());
      if (template === DEVICE_TEMPLATE && variable === 'id')
        return commands
          .devices()
          .map(({ device }) => device)
          .filter(begins);
      if (template !== COMMAND_TEMPLATE || variable !== 'commandId') return undefined;
      const own = await commands.list(viewerOf({ principal }), { limit: COMPLETED_COMMANDS });
      return own.map(({ commandId }) => commandId).filter(begins);
    },

    listed: () => JSON.stringify(commands.devices().map(deviceEntry)),
  };
}

function deviceEntry({ device, name }: DeviceSummary) {
  return { uri: `${DEVICES}${device}`, name: device, title: plain(name, 64), mimeType: RESOURCE_TYPE };
}

function commandEntry({ commandId, view }: CommandSnapshot) {
  const title = `"${plain(view.deviceName, 64)}": ${desiredInWords(view)}`;
  return { uri: `${COMMANDS}${commandId}`, name: commandId, title, mimeType: RESOURCE_TYPE };
}

/** Ids need no encoding: those of devices are letters, digits, `.`, `-` and `_`, and commands' are hexadecimal. */
function idIn(uri: string, prefix: string): string | null {
  const id = uri.startsWith(prefix) ? uri.slice(prefix.length) : '';
  return /^[\w.-]{1,200}$/.test(id) ? id : null;
}
