/** Commands as tasks: the status mapping, and the store that the Tasks extension is served from. */
import { ProtocolErrorCode } from '@modelcontextprotocol/server';
import type { CommandSnapshot, Commands } from '../commands/commands.ts';
import { sentInWords } from '../domain/sent.ts';
import { approvalRequests } from './approval-request.ts';
import { isPage } from './asking.ts';
import { viewerOf } from './caller.ts';
import { commandResult } from './command-result.ts';
import type { McpOptions } from './options.ts';
import type { ShownQuestions } from './shown-questions.ts';
import type { TaskSnapshot } from './task-snapshot.ts';
import type { TaskStore } from './tasks.ts';

/** People take longer than devices. */
const POLL_WHILE_ASKING_MS = 3_000;
const POLL_WHILE_ACTIVE_MS = 1_000;

/** Serves every command of `commands` as the task of the same id. */
export function commandTasks(commands: Commands, options: McpOptions, shown: ShownQuestions): TaskStore {
  const shownAs = (snapshot: CommandSnapshot | undefined) =>
    snapshot && taskOf(snapshot, Date.now(), options);
  return {
    describe: async (taskId, principal) => shownAs(await commands.get(taskId, viewerOf({ principal }))),
    lately: async (taskId, principal) => shownAs(await commands.lately(taskId, viewerOf({ principal }))),
    async update(taskId, principal, responses, asked) {
      const [askedAt = null] = Object.keys(responses).flatMap((key) => shown.at(taskId, key) ?? []);
      const way = { via: Object.values(asked).some(isPage) ? 'url' : 'form', askedAt } as const;
      return (await commands.answer(taskId, viewerOf({ principal }), responses, way)) !== 'unknown';
    },
    shown: (taskId, keys) => shown.note(taskId, keys),
    cancel: (taskId, principal) => commands.cancel(taskId, viewerOf({ principal })),
    async *changes(taskId, principal, signal) {
      for await (const snapshot of commands.changes(taskId, viewerOf({ principal }), signal))
        yield taskOf(snapshot, Date.now(), options);
    },
  };
}

/** The one place where the state of a command's workflow becomes the status of a task. */
export function taskOf(snapshot: CommandSnapshot, now: number, options: McpOptions): TaskSnapshot {
  const facts = {
    taskId: snapshot.commandId,
    createdAt: snapshot.createdAt,
    lastUpdatedAt: snapshot.lastUpdatedAt,
    ttlMs: snapshot.ttlMs,
    pollIntervalMs: pollIntervalMs(snapshot),
    statusMessage: statusMessage(snapshot),
  };
  switch (snapshot.status) {
    case 'running': {
      const asked = approvalRequests(snapshot, options);
      return asked === null
        ? { ...facts, status: 'working' }
        : { ...facts, status: 'input_required', ...asked };
    }
    case 'completed':
      return { ...facts, status: 'completed', result: commandResult(snapshot, now, options) };
    case 'cancelled':
      return { ...facts, status: 'cancelled' };
    case 'failed':
      return {
        ...facts,
        status: 'failed',
        error: { code: ProtocolErrorCode.InternalError, message: failureOf(snapshot) },
      };
    default:
      return snapshot.status satisfies never;
  }
}

/** What broke in Readback itself, and that the device must be looked at. */
export function failureOf(snapshot: CommandSnapshot): string {
  return (
    snapshot.failure ??
    'Readback itself failed while it worked on this command; look at the device before sending again.'
  );
}

/** The phase, the last reading and the number of sends, in words that change only when they do. */
export function statusMessage(snapshot: CommandSnapshot): string {
  const { view, live } = snapshot;
  if (snapshot.status === 'failed') return failureOf(snapshot);
  const ended = view.result;
  if (ended !== null) return `${ended.outcome}: ${ended.detail}`;
  const doing = live?.note ?? view.note;
  const parts = [doing, sentInWords(view)];
  if (snapshot.cancelRequested) parts.unshift('cancel requested');
  if (snapshot.overdue) parts.unshift('last known state, since no worker seems to be running');
  return parts.join('; ');
}

function pollIntervalMs({ view }: CommandSnapshot): number {
  return view.approval === null ? POLL_WHILE_ACTIVE_MS : POLL_WHILE_ASKING_MS;
}
