import type { Commands, DeviceSummary } from '../../commands/commands.ts';
import { InputError } from '../../commands/commands.ts';
import { plain } from '../../domain/text.ts';
import { plainResult } from '../command-result.ts';
import { pageOfDevices, shownDevice } from '../device-content.ts';
import { looseInteger, parseArguments, shortText, type Tool } from './tool.ts';

const DEFAULT_LIMIT = 20;
const LARGEST_LIMIT = 100;

const ARGUMENTS = {
  query: shortText(100).optional(),
  limit: looseInteger(1, LARGEST_LIMIT).optional(),
  cursor: shortText(200).optional(),
};

export function listDevices(commands: Commands): Tool {
  return {
    name: 'list_devices',
    description:
      'Devices with their fields, units and ranges. Call it before naming a device that you have not seen.',
    inputSchema: {
      type: 'object',
      properties: {
        query: { type: 'string', description: 'Part of a name, alias, area or tag' },
        limit: {
          type: 'integer',
          minimum: 1,
          maximum: LARGEST_LIMIT,
          description: `Default ${DEFAULT_LIMIT}`,
        },
        cursor: { type: 'string', description: 'nextCursor of the page before' },
      },
    },
    annotations: { readOnlyHint: true },
    async call(args) {
      const { query, limit = DEFAULT_LIMIT, cursor } = parseArguments(ARGUMENTS, args, '');
      const found = commands.devices(query);
      const page = pageOfDevices(found, limit, cursor);
      if (page === null)
        throw new InputError(
          'cursor is not one that list_devices gave. Call it without cursor for the first page.',
        );
      const { devices, ...next } = page;
      return plainResult(messageOf(devices, found.length, query, page.nextCursor), {
        devices: devices.map(shownDevice),
        total: found.length,
        ...next,
      });
    },
  };
}

function messageOf(
  page: readonly DeviceSummary[],
  total: number,
  query: string | undefined,
  nextCursor: string | undefined,
): string {
  if (total === 0)
    return query === undefined
      ? 'The catalogue has no devices.'
      : `No device matches ${JSON.stringify(plain(query, 64))}. list_devices without query shows all.`;
  const lines = page.map((device) => {
    const { name, area, hint, fields } = shownDevice(device);
    const where = area === null ? '' : ` in "${area}"`;
    const allowed = Object.entries(fields).map(([field, range]) => `${field} (${range})`);
    return `- ${device.device}: "${name}"${where}: ${allowed.join(', ')}${hint === null ? '' : `. Note: "${hint}"`}`;
  });
  const more = nextCursor === undefined ? [] : [`More: list_devices(cursor="${nextCursor}")`];
  return [`${page.length} of ${total} devices:`, ...lines, ...more].join('\n');
}
