/** A command as the terminal shows it. */
import type { CommandSnapshot, LiveReading } from '../commands/commands.ts';
import type { Catalogue } from '../domain/catalogue/definition.ts';
import { sentInWords } from '../domain/sent.ts';
import { formatValue, plain } from '../domain/text.ts';
import type { Desired, Reading } from '../domain/values.ts';

/** Of each field, as the catalogue has it. */
type Fields = Readonly<Record<string, { readonly unit: string | null }>>;

/** The fields of a device of the catalogue; none for one that it no longer has. */
export const fieldsOf = ({ devices }: Catalogue, device: string): Fields => devices[device]?.fields ?? {};

/** What goes on, in one line without ages: it differs only when something has happened. */
export function commandLine(
  { view, status, cancelRequested, live }: CommandSnapshot,
  fields: Fields,
): string {
  if (status !== 'running') return view.result?.outcome ?? status;
  const parts = [
    cancelRequested ? 'cancel requested' : view.phase.replaceAll('_', ' '),
    approvalText(view.approval),
    view.note !== view.phase ? view.note : '',
    live ? liveText(live, view.desired, fields) : '',
    view.sent.count > 0 ? sentInWords(view) : '',
  ];
  return parts.filter((part) => part !== '').join(' · ');
}

/** The outcome, its evidence, and each field. */
export function endLines({ view, status, failure, commandId }: CommandSnapshot): string[] {
  const { result } = view;
  if (!result) return [`${status}: ${failure ?? view.note} (${sentInWords(view)})`, `command ${commandId}`];
  const fields = Object.entries(result.fields);
  return [
    `${result.outcome.toUpperCase()}  ${view.deviceName}: ${result.detail}`,
    ...(fields.length > 1
      ? fields.map(([field, { verdict, detail }]) => `  ${field}: ${verdict}, ${detail}`)
      : []),
    `  ${sentInWords(view)}${view.sent.reply ? `; the API answered ${view.sent.reply.status}` : ''}`,
    `  command ${commandId}`,
  ];
}

/** `temperature 24 °C, mode (no reading)` */
export const readingsText = (readings: Readonly<Record<string, Reading>>, fields: Fields): string =>
  Object.entries(readings)
    .map(([field, reading]) => `${field} ${readingText(reading, fields[field]?.unit ?? null)}`)
    .join(', ');

export function readingText(reading: Reading, unit: string | null): string {
  return reading.kind === 'value' ? formatValue(reading.value, unit) : `(${plain(reading.why, 80)})`;
}

function liveText(live: LiveReading, desired: Desired, fields: Fields): string {
  const asked = Object.entries(live.fields).filter(([field]) => Object.hasOwn(desired, field));
  return `reads ${readingsText(Object.fromEntries(asked), fields)}`;
}

function approvalText(approval: CommandSnapshot['view']['approval']): string {
  if (!approval) return '';
  const until = new Date(approval.expiresAt).toLocaleTimeString();
  return `needs a yes from ${approval.by === 'operator' ? 'an operator' : 'the requester'} until ${until}`;
}
