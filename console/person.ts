/** Somebody who is signed in, and what that lets them see and decide. */
import type { Approver } from '../commands/approvers.ts';
import type { CommandSnapshot, Commands, Decision, Viewer } from '../commands/commands.ts';
import { asksItsOwner } from '../domain/approval/brief.ts';

export interface Person {
  /** In every record of what they decide: an approver's name, else who they are to the issuer. */
  readonly name: string;
  /** Who they are to the issuer, issuer and subject in one word; null: they are known here by a secret alone. */
  readonly subject: string | null;
  /** What the page calls them. */
  readonly shownAs: string;
  /** Sees and decides everybody's; others only what their own commands ask of them. */
  readonly isApprover: boolean;
}

/** As their secret shows them. */
export const personOf = ({ name, subject }: Approver): Person => ({
  name,
  subject,
  shownAs: name,
  isApprover: true,
});

export const viewerOf = ({ name, subject, isApprover }: Person): Viewer =>
  isApprover ? { kind: 'operator' } : { kind: 'owner', subject: subject ?? name };

/**
 * A command that they may look at; null for the person: anybody on this machine may. undefined: there is none, or it is
 * none of their business, and nothing tells which.
 */
export async function commandFor(
  person: Person | null,
  commandId: string,
  commands: Pick<Commands, 'get'>,
): Promise<CommandSnapshot | undefined> {
  if (person === null || person.isApprover) return await commands.get(commandId, { kind: 'operator' });
  const own = await commands.get(commandId, viewerOf(person));
  return own !== undefined && asksItsOwner(own.view) ? own : undefined;
}

/** More open commands than anybody's agents have. */
const MOST_OWN = 200;

/** What somebody who is no approver has to decide: what their own commands ask of them. */
export async function ownPending(
  person: Person,
  commands: Pick<Commands, 'list'>,
): Promise<readonly CommandSnapshot[]> {
  const open = await commands.list(viewerOf(person), { limit: MOST_OWN, openOnly: true });
  return open.filter(({ view }) => view.approval !== null && asksItsOwner(view));
}

export const deciderOf = ({ name, subject }: Person): Pick<Decision, 'by' | 'subject' | 'via'> => ({
  by: name,
  ...(subject !== null && { subject }),
  via: 'console',
});
