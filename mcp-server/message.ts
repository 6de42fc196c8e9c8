/** Stand-in until the domain composes these texts. */
import type { CommandSnapshot } from '../commands/commands.ts';
import { formatDuration, formatValue, plain } from '../domain/text.ts';

export function commandMessage(snapshot: CommandSnapshot, now: number): string {
  const { view } = snapshot;
  const name = `"${plain(view.deviceName, 64)}"`;
  const asked = Object.entries(view.desired)
    .map(([field, value]) => `${field} ${formatValue(value, null)}`)
    .join(', ');
  if (snapshot.failure !== null) return `Readback itself failed: ${snapshot.failure}`;
  if (view.result !== null)
    return `${name}: asked ${asked}: ${view.result.outcome}. ${view.result.detail} Sent ${view.sent.count} times.`;
  if (view.approval !== null)
    return `NOTHING SENT YET. ${name}: asked ${asked}; needs a yes from ${view.approval.by}.`;
  return `NOT DONE. ${name}: asked ${asked}; ${view.note} (${formatDuration(now - view.phaseAt)}). Next: get_command(commandId="${snapshot.commandId}", waitSeconds=45), once.`;
}
