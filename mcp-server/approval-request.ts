/** How the asking client's own user is asked for an approval by the requester. */
import { inputRequired } from '@modelcontextprotocol/server';
import type { CommandSnapshot } from '../commands/commands.ts';
import { LONGEST_VALUE } from '../domain/approval/brief.ts';
import { isSubjectAt } from '../domain/approval/person.ts';
import { linkTo } from '../domain/approval/ring.ts';
import type { PendingApproval } from '../domain/command.ts';
import { formatValue, plain } from '../domain/text.ts';
import type { ElicitationRequest } from './asking.ts';
import type { McpOptions } from './options.ts';
import type { Requester } from './requester.ts';
import type { InputRequests } from './task-snapshot.ts';

/** Name of the one field of the form: a boolean, required, with no default. */
export const APPROVE_FIELD = 'approve';
const LONGEST_REASON = 200;

/** The approval that the asking client's user may decide, and the ways to put the question to them. */
export interface OpenQuestion {
  readonly approval: PendingApproval;
  /** The client asks, and says what the answer was. */
  readonly form: ElicitationRequest;
  /**
   * The client opens the page on which the person decides, once they have signed in there. null: they can't sign in
   * there, or the page was opened already.
   */
  readonly page: ElicitationRequest | null;
}

/**
 * null: nothing to ask. A command that runs unattended never asks, and one whose time is over isn't asked about, also
 * where no worker has ended it yet. An operator's approval is never asked for here: whoever starts a question must be the
 * one who answers it.
 */
export function openQuestion(snapshot: CommandSnapshot, options: McpOptions): OpenQuestion | null {
  const { approval, caller } = snapshot.view;
  if (snapshot.status !== 'running' || snapshot.cancelRequested || caller.unattended) return null;
  if (approval === null || approval.by !== 'requester' || approval.expiresAt <= Date.now()) return null;
  const message = questionOf(snapshot, approval);
  return { approval, form: formWith(message), page: pageOf(snapshot, approval, message, options) };
}

/**
 * What this request's client can show of it; null: nothing, the approval is decided in the queue, where it is from its
 * first second. A form goes first. Clients of 2025-11-25 and older are asked by forms alone.
 */
export function askedOf(question: OpenQuestion, requester: Requester): ElicitationRequest | null {
  const { elicitation, unattended, legacy } = requester;
  if (unattended) return null;
  if (elicitation.form) return question.form;
  return elicitation.url && !legacy ? question.page : null;
}

/** A call can ask: by a state that the client carries, or, on older connections, by a request of our own. */
export function canAskInCall({ unattended, legacy }: Requester, { stateKey }: McpOptions): boolean {
  return !unattended && (legacy || stateKey !== null);
}

function formWith(message: string): ElicitationRequest {
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
  return { method: 'elicitation/create', params: { mode: 'form', message, requestedSchema } };
}

function pageOf(
  { commandId, view }: CommandSnapshot,
  { attempts = [] }: PendingApproval,
  message: string,
  { consoleIssuer, consoleUrl }: McpOptions,
): ElicitationRequest | null {
  const canSignIn = consoleIssuer !== null && isSubjectAt(consoleIssuer, view.owner);
  const url = canSignIn ? linkTo(commandId, consoleUrl) : null;
  if (url === null || attempts.some(({ how }) => how === 'opened')) return null;
  const words = `${message}\nOpen the page to decide it, signed in as yourself. Opening it sends nothing.`;
  return inputRequired.elicitUrl({ message: words, url }) as ElicitationRequest;
}

/** The open question as a task shows it. */
export function approvalRequests(
  snapshot: CommandSnapshot,
  options: McpOptions,
): { readonly inputRequests: InputRequests; readonly pages: InputRequests } | null {
  const open = openQuestion(snapshot, options);
  if (open === null) return null;
  const { key } = open.approval;
  return { inputRequests: { [key]: open.form }, pages: open.page === null ? {} : { [key]: open.page } };
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
