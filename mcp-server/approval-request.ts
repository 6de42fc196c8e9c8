/** How the asking client's own user is asked for an approval by the requester. */
import type { CommandSnapshot } from '../commands/commands.ts';
import { formatValue, plain } from '../domain/text.ts';
import type { Requester } from './requester.ts';
import type { InputRequests } from './task-snapshot.ts';

/** Name of the one field of the form: a boolean, required, with no default. */
export const APPROVE_FIELD = 'approve';
const LONGEST_REASON = 200;

/**
 * `form`: a task that asks for input. `queue`: this client can't ask its user, so the approval is decided in the console
 * or by the CLI. Every approval is in the queue anyway, from its first second.
 */
export type WayToAsk = 'form' | 'queue';

/** By what this request declares; it holds for approvals by the requester, never for an operator's. */
export function wayToAsk(requester: Requester): WayToAsk {
  return requester.tasks && requester.elicitation.form && !requester.unattended ? 'form' : 'queue';
}

/**
 * The questions that are open for the asking client's user; null: none. A command that runs unattended never asks, and
 * one whose time is over isn't asked about, also where no worker has ended it yet.
 */
export function approvalRequests(snapshot: CommandSnapshot): InputRequests | null {
  const { approval, caller } = snapshot.view;
  if (approval === null || approval.by !== 'requester' || caller.unattended || snapshot.cancelRequested)
    return null;
  return {
    [approval.key]: {
      method: 'elicitation/create',
      params: {
        mode: 'form',
        message: questionOf(snapshot, approval),
        requestedSchema: {
          type: 'object',
          properties: {
            [APPROVE_FIELD]: {
              type: 'boolean',
              title: 'Send it',
              description: 'Yes: the command is sent. No: nothing is sent.',
            },
          },
          required: [APPROVE_FIELD],
        },
      },
    },
  };
}

/** Device, old → new, expiry, all from the catalogue; the agent's own words stand apart and labelled. */
function questionOf(
  snapshot: CommandSnapshot,
  approval: NonNullable<CommandSnapshot['view']['approval']>,
): string {
  const { view } = snapshot;
  const changes = Object.entries(view.desired).map(([field, desired]) => {
    const unit = view.units[field] ?? null;
    return `${field}: ${formatValue(approval.before[field] ?? null, unit)} → ${formatValue(desired, unit)}`;
  });
  const lines = [
    `Send this to "${plain(view.deviceName, 64)}"? Nothing has been sent yet.`,
    ...changes,
    `Open until ${new Date(approval.expiresAt).toISOString()}; after that nothing is sent.`,
  ];
  if (approval.reason !== null) lines.push(`Why you are asked: ${plain(approval.reason, LONGEST_REASON)}`);
  if (view.reason !== null) lines.push(`The agent's own reason: "${plain(view.reason, LONGEST_REASON)}"`);
  return lines.join('\n');
}
