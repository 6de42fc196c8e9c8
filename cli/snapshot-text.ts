/** A command as the terminal shows it. */
import type { CommandSnapshot, LiveReading } from '../commands/commands.ts';
import type { SentEvidence } from '../domain/outcome.ts';
import { formatValue, plain } from '../domain/text.ts';
import type { Desired, Reading } from '../domain/values.ts';

/** `temperature 26, mode cool` */
export const desiredText = (desired: Desired): string =>
  Object.entries(desired)
    .map(([field, value]) => `${field} ${formatValue(value, null)}`)
    .join(', ');

/** What goes on, in one line without ages: it differs only when something has happened. */
export function commandLine({ view, status, cancelRequested, live }: CommandSnapshot): string {
  if (status !== 'running') return view.result?.outcome ?? status;
  const parts = [
    cancelRequested ? 'cancel requested' : view.phase.replaceAll('_', ' '),
    approvalText(view.approval),
    view.note !== view.phase ? view.note : '',
    live ? readingText(live, Object.keys(view.desired)) : '',
    view.sent.count > 0 ? sentText(view.sent) : '',
  ];
  return parts.filter((part) => part !== '').join(' · ');
}

/** The outcome, its evidence, and each field. */
export function endLines({ view, status, failure, commandId }: CommandSnapshot): string[] {
  const { result } = view;
  if (!result) return [`${status}: ${failure ?? view.note} (${sentText(view.sent)})`, `command ${commandId}`];
  const fields = Object.entries(result.fields);
  return [
    `${result.outcome.toUpperCase()}  ${view.deviceName}: ${result.detail}`,
    ...(fields.length > 1
      ? fields.map(([field, { verdict, detail }]) => `  ${field}: ${verdict}, ${detail}`)
      : []),
    `  ${sentText(view.sent)}${view.sent.reply ? `; the API answered ${view.sent.reply.status}` : ''}`,
    `  command ${commandId}`,
  ];
}

export function readingsText(
  fields: Readonly<Record<string, Reading & { readonly unit?: string | null }>>,
): string {
  return Object.entries(fields)
    .map(([field, reading]) => `${field} ${readingValue(reading, reading.unit ?? null)}`)
    .join(', ');
}

export function readingValue(reading: Reading, unit: string | null): string {
  return reading.kind === 'value' ? formatValue(reading.value, unit) : `(${plain(reading.why, 80)})`;
}

function readingText(live: LiveReading, asked: readonly string[]): string {
  const fields = Object.fromEntries(Object.entries(live.fields).filter(([field]) => asked.includes(field)));
  return `reads ${readingsText(fields)}`;
}

export function sentText({ count, certain }: SentEvidence): string {
  const times = count === 0 ? 'nothing sent' : count === 1 ? 'sent once' : `sent ${count} times`;
  return certain ? times : `perhaps ${times}`;
}

function approvalText(approval: CommandSnapshot['view']['approval']): string {
  if (!approval) return '';
  const until = new Date(approval.expiresAt).toLocaleTimeString();
  return `needs a yes from ${approval.by === 'operator' ? 'an operator' : 'the requester'} until ${until}`;
}
