/** Waits for a command on behalf of one request. Ends with the request at the latest; the command goes on. */
import type { CommandSnapshot, Commands } from '../commands/commands.ts';
import type { Reply } from './asking.ts';
import { viewerOf } from './caller.ts';
import { statusMessage } from './command-tasks.ts';
import type { Requester } from './requester.ts';

/** One tool call: who makes it, until when it is worth waiting, and how to say that we are still at it. */
export interface Call {
  readonly requester: Requester;
  /** When it came in, epoch ms. */
  readonly since: number;
  /** What became of a question that this very call asked before; null: it hasn't asked. */
  readonly reply: Reply | null;
  /** Aborted when the client drops or cancels the request. */
  readonly signal: AbortSignal;
  /** Sends a progress notification, if anybody still listens; null where the client asked for none. */
  readonly progress: ((elapsedMs: number, message: string) => Promise<void>) | null;
}

export interface Patience {
  readonly timeoutMs: number;
  /** Nothing more to wait for. */
  readonly enough: (snapshot: CommandSnapshot) => boolean;
}

/** Often enough for a host's time-out to be renewed, seldom enough to cost nothing. */
const PROGRESS_EVERY_MS = 3_000;

/**
 * The snapshot once `enough` holds, or the last one when the time is over. undefined: there is no such command for this
 * requester. A client that goes away ends the waiting early.
 */
export async function waitForCommand(
  commands: Commands,
  commandId: string,
  call: Call,
  patience: Patience,
): Promise<CommandSnapshot | undefined> {
  const viewer = viewerOf(call.requester);
  const startedAt = Date.now();
  for (;;) {
    const elapsedMs = Date.now() - startedAt;
    const leftMs = Math.max(0, patience.timeoutMs - elapsedMs);
    const timeoutMs = call.progress === null ? leftMs : Math.min(leftMs, PROGRESS_EVERY_MS);
    const snapshot = await commands.wait(commandId, viewer, {
      timeoutMs,
      signal: call.signal,
      until: patience.enough,
    });
    if (snapshot === undefined || patience.enough(snapshot)) return snapshot;
    if (call.signal.aborted || Date.now() - startedAt >= patience.timeoutMs) return snapshot;
    await call.progress?.(Date.now() - startedAt, statusMessage(snapshot));
  }
}

export function hasEnded(snapshot: CommandSnapshot): boolean {
  return snapshot.status !== 'running';
}
