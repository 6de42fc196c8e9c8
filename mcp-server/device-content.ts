/** A device of the catalogue as agents see it, and the cursors by which many are paged through. */
import { Buffer } from 'node:buffer';
import type { DeviceSummary } from '../commands/commands.ts';
import { plain } from '../domain/text.ts';

/** Names, hints and tags are other people's text: data for the agent, made harmless. */
export function shownDevice(device: DeviceSummary) {
  return {
    device: device.device,
    name: plain(device.name, 64),
    area: device.area === null ? null : plain(device.area, 64),
    aliases: device.aliases.map((alias) => plain(alias, 64)),
    tags: device.tags.map((tag) => plain(tag, 64)),
    hint: device.hint === null ? null : plain(device.hint, 200),
    fields: device.fields,
  };
}

export interface DevicePage {
  readonly devices: readonly DeviceSummary[];
  /** Absent: this was the last page. */
  readonly nextCursor?: string;
}

/** null: that cursor was never given out. */
export function pageOfDevices(
  found: readonly DeviceSummary[],
  limit: number,
  cursor: string | undefined,
): DevicePage | null {
  const from = cursor === undefined ? 0 : offsetIn(cursor);
  if (from === null) return null;
  const devices = found.slice(from, from + limit);
  const until = from + devices.length;
  return { devices, ...(until < found.length && { nextCursor: cursorOf(until) }) };
}

const cursorOf = (offset: number): string => Buffer.from(`devices:${offset}`).toString('base64url');

function offsetIn(cursor: string): number | null {
  const match = /^devices:(\d{1,9})$/.exec(Buffer.from(cursor, 'base64url').toString());
  return match === null ? null : Number(match[1]);
}
