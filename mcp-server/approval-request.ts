/** How the asking client's own user is asked for an approval by the requester. */
import type { CommandSnapshot } from '../commands/commands.ts';
import { LONGEST_VALUE } from '../domain/approval/brief.ts';
import type { PendingApproval } from '../domain/command.ts';
import { formatValue, plain } from '../domain/text.ts';
import type { ElicitationRequest } from './asking.ts';
import type { McpOptions } from './options.ts';
import type { Requester } from './requester.ts';
import type { InputRequests } from './task-snapshot.ts';

/** Name of the one field of the form: a boolean, required, with no default. */
export const APPROVE_FIELD = 'approve';
const LONGEST_REASON = 200;

/**
 * `task`: a task that asks for input. `call`: the call itself asks. `queue`: this client can't ask its user, so the
 * approval is decided in the console or by the CLI. Every approval is in the queue anyway, from its first second.
 */
export type WayToAsk = 'task' | 'call' | 'queue';

/**
 * By what this request declares; it holds for approvals by the requester, never for an operator's. A client that can
 * only open URLs is sent to the queue: nobody can sign in at the console as the requester.
 */
export function wayToAsk(requester: Requester, options: McpOptions): WayToAsk {
  if (requester.tasks && canShowForms(requester)) return 'task';
  return canAskInCall(requester, options) ? 'call' : 'queue';
}

/** A call can ask: by a state that the client carries, or, on older connections, by a request of our own. */
export function canAskInCall(requester: Requester, options: McpOptions): boolean {
  return canShowForms(requester) && (requester.legacy || options.stateKey !== null);
}

function canShowForms({ elicitation, unattended }: Requester): boolean {
  return elicitation.form && !unattended;
}

/** The approval that the asking client's user may decide, and the question about it. */
export interface OpenQuestion {
  readonly approval: PendingApproval;
  readonly request: ElicitationRequest;
}

/**
 * null: nothing to ask. A command that runs unattended never asks, and one whose time is over isn't asked about, also
 * where no worker has ended it yet.
 */
export function openQuestion(snapshot: CommandSnapshot): OpenQuestion | null {
  const { approval, caller } = snapshot.view;
  if (snapshot.status !== 'running' || snapshot.cancelRequested || caller.unattended) return null;
  if (approval === null || approval.by !== 'requester' || approval.expiresAt <= Date.now()) return null;
  const requestedSchema = {
    type: 'object' as const,
    properties: {
      [APPROVE_FIELD]: {
        type: 'boolean' as const,
        title: 'Send it',
        description: 'Yes: the command is sent. No: nothing is sent.',
      },
    },
    required: [APPROVE_FIELD],
  };
  const message = questionOf(snapshot, approval);
  return {
    approval,
    request: { method: 'elicitation/create', params: { mode: 'form', message, requestedSchema } },
  };
}

/** The open question as a task shows it. */
export function approvalRequests(snapshot: CommandSnapshot): InputRequests | null {
  const open = openQuestion(snapshot);
  return open && { [open.approval.key]: open.request };
}

/** Device, old → new, expiry, all from the catalogue; the agent's own words stand apart and labelled. */
function questionOf({ view }: CommandSnapshot, approval: PendingApproval): string {
  const changes = Object.entries(view.desired).map(([field, desired]) => {
    const unit = view.units[field] ?? null;
    // Whole: an approval covers every character of it.
    const [from, to] = [approval.before[field] ?? null, desired].map((value) =>
      formatValue(value, unit, LONGEST_VALUE),
    );
    return `${field}: ${from} → ${to}`;
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
