/** What Readback does for a client, by what it declares: the rows of docs/clients.md. */
import type { Requester } from '../requester.ts';

export interface WhatItGets {
  readonly slow: 'task' | 'handle';
  readonly requester: 'formInTask' | 'formInAnswer' | 'formDuringCall' | 'page' | 'queue';
  readonly operator: 'queue';
  readonly missing: 'formInAnswer' | 'formDuringCall' | 'error';
}

export function whatItGets({
  tasks,
  legacy,
  unattended,
  elicitation,
}: Pick<Requester, 'tasks' | 'legacy' | 'unattended' | 'elicitation'>): WhatItGets {
  const forms = elicitation.form && !unattended;
  const inCall = legacy ? 'formDuringCall' : 'formInAnswer';
  const page = elicitation.url && !unattended && !legacy;
  return {
    slow: tasks ? 'task' : 'handle',
    requester: forms ? (tasks ? 'formInTask' : inCall) : page ? 'page' : 'queue',
    operator: 'queue',
    missing: forms ? inCall : 'error',
  };
}

const QUEUE =
  'is told “NOTHING SENT YET” at once; somebody says yes in the console or with `readback approvals`';

export const IN_WORDS = {
  slow: {
    task: 'a task, which it polls to its end',
    handle: '“NOT DONE” with the command’s id after the sync wait; then get_command',
  },
  requester: {
    formInTask: 'its person is asked by a form in the task',
    formInAnswer: 'its person is asked by a form in the answer, and the call is made again with the reply',
    formDuringCall: 'its person is asked by a form during the call',
    page: `where people sign in to the console, its person is asked to open that page; elsewhere it ${QUEUE}`,
    queue: QUEUE,
  },
  operator: { queue: QUEUE },
  missing: {
    formInAnswer: 'its person is asked for the value by a form',
    formDuringCall: 'its person is asked for the value by a form',
    error: 'an error that names the value and what it may be',
  },
} as const satisfies { readonly [K in keyof WhatItGets]: Readonly<Record<WhatItGets[K], string>> };
