/** Where the approvers are kept, and what it means for a start when there are none. */
import { mkdirSync } from 'node:fs';
import { dirname, join, resolve } from 'node:path';
import { type Approvers, openApprovers } from '../commands/approvers.ts';
import type { Catalogue } from '../domain/catalogue/definition.ts';
import { EXIT, Failure } from './failure.ts';
import type { ApproversFlags, AuthFlags } from './flags.ts';

/** `--approvers`, else the file in the data folder, made if need be for writing. */
export function approversOf({ approvers, dataDir }: ApproversFlags, { forWriting = false } = {}): Approvers {
  const file = approvers === undefined ? join(resolve(dataDir), 'approvers.json') : resolve(approvers);
  if (forWriting) mkdirSync(dirname(file), { recursive: true, mode: 0o700 });
  return openApprovers(file);
}

/** The command that adds one to these approvers. */
export function addingCommand(flags: ApproversFlags): string {
  const where =
    flags.approvers === undefined ? `--data-dir ${flags.dataDir}` : `--approvers ${flags.approvers}`;
  return `readback approvers add "Your name" ${where}`;
}

/**
 * Rules that need an operator, and nobody who could be one: on this machine alone that is worth a loud warning, since
 * what they concern expires unsent. Where others reach the server nobody may start it like that: throws a `Failure`.
 */
export function requireApprovers(
  { approvals }: Pick<Catalogue, 'approvals'>,
  flags: ApproversFlags & Pick<AuthFlags, 'consoleClientId'> & { readonly host: string },
  warn: (text: string) => void,
  consequence = 'Nothing was started.',
): void {
  if (approvals.length === 0 || approversOf(flags).list().length > 0) return;
  const adding = addingCommand(flags);
  const rules = approvals.filter(({ by }) => by === 'operator').length;
  if (rules === 0) {
    warn(
      `There are no approvers. Approvals that a client can't put to its own user expire undecided. Add one: ${adding}`,
    );
    return;
  }
  const needed =
    rules === 1 ? '1 approval rule needs an operator' : `${rules} approval rules need an operator`;
  // Whom the issuer grants the scope of approvers is known only once they sign in.
  if (!isLoopback(flags.host) && flags.consoleClientId === undefined)
    throw new Failure(
      EXIT.usage,
      `${needed}, there are no approvers, and ${flags.host} can be reached from other machines. ${consequence} Add one first: ${adding}`,
    );
  if (flags.consoleClientId !== undefined) {
    warn(
      `${needed}, and none is listed: whoever the issuer grants the scope approvals:decide can decide. List others: ${adding}`,
    );
    return;
  }
  warn(
    `WARNING: ${needed}, and there are no approvers. What these rules concern will wait, and expire with nothing sent.\n` +
      `WARNING: Add one, at any time:  ${adding}`,
  );
}

export const isLoopback = (host: string): boolean =>
  /^127(\.\d{1,3}){3}$/.test(host) || ['localhost', '::1', '[::1]'].includes(host);
