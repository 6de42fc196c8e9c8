/** The sender of a request, as commands know people. */
import type { Viewer } from '../commands/commands.ts';
import type { Caller } from '../domain/command.ts';
import type { Requester } from './requester.ts';

export function callerOf({ principal, client, transport, unattended, traceId }: Requester): Caller {
  return { subject: principal, client, transport, unattended, ...(traceId === null ? {} : { traceId }) };
}

/** Sees its own commands, and no others. */
export function viewerOf({ principal }: Pick<Requester, 'principal'>): Viewer {
  return { kind: 'owner', subject: principal };
}
