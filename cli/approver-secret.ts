/** Asks who decides: READBACK_APPROVER_SECRET, the file it names, or typing it unseen. Never an argument, which others could read. */
import { createInterface } from 'node:readline/promises';
import { Writable } from 'node:stream';
import type { Approver } from '../commands/approvers.ts';
import { addingCommand, approversOf } from './approvers-file.ts';
import { EXIT, Failure } from './failure.ts';
import type { ApproversFlags } from './flags.ts';
import { secretVariable } from './secret-variable.ts';

/** Throws a `Failure` where nobody has that secret, or none can be asked for. */
export async function signedIn(flags: ApproversFlags): Promise<Approver> {
  const approvers = approversOf(flags);
  if (approvers.list().length === 0)
    throw new Failure(
      EXIT.usage,
      `There are no approvers in ${approvers.file}, so nobody can decide. Add one: ${addingCommand(flags)}`,
    );
  const approver = approvers.identify(await secret());
  if (approver === null) throw new Failure(EXIT.usage, 'This is no approver’s secret. Nothing was decided.');
  return approver;
}

async function secret(): Promise<string> {
  const given = secretVariable('READBACK_APPROVER_SECRET');
  if (given !== null) return given;
  if (!process.stdin.isTTY)
    throw new Failure(
      EXIT.usage,
      'Your secret can only be asked for in a terminal. Elsewhere set READBACK_APPROVER_SECRET or READBACK_APPROVER_SECRET_FILE. Nothing was decided.',
    );
  return await typedUnseen('Your secret: ');
}

/** On stderr, so that stdout holds the results alone. */
async function typedUnseen(question: string): Promise<string> {
  const nowhere = new Writable({ write: (_chunk, _encoding, done) => done() });
  const terminal = createInterface({ input: process.stdin, output: nowhere, terminal: true, historySize: 0 });
  const stopped = new AbortController();
  terminal.once('SIGINT', () => stopped.abort());
  process.stderr.write(question);
  try {
    return await terminal.question('', { signal: stopped.signal });
  } catch (error) {
    throw new Failure(EXIT.endedBadly, 'Nothing was decided.', error);
  } finally {
    terminal.close();
    process.stderr.write('\n');
  }
}
