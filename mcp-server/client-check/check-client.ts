/** The one tool of the check. Each call tries the next thing of the client that calls it, and says to call again. */
import type { CallToolResult } from '@modelcontextprotocol/server';
import { z } from 'zod';
import type { Asking, ElicitationRequest, Reply } from '../asking.ts';
import { plainResult } from '../command-result.ts';
import { type CreateTaskResult, createTaskResult } from '../task-snapshot.ts';
import { parseArguments, type Tool } from '../tools/tool.ts';
import type { Call } from '../waiting.ts';
import type { CheckTasks } from './check-tasks.ts';
import { answeredBy, formRequest, pageRequest } from './questions.ts';
import { reportText } from './report.ts';
import type { Seen } from './seen.ts';

export const CHECK_TOOL = 'check_client';
/** One is only in the text of a result, the other only in its structuredContent. */
const WORDS = { text: 'maple', structuredContent: 'willow' } as const;
const AGAIN = `Now call ${CHECK_TOOL} again, without arguments.`;
const PERSON_HAS_MS = 5 * 60_000;
const PROGRESS_EVERY_MS = 3_000;

const ARGUMENTS = { words: z.string().max(1000).describe('words, separated by spaces').optional() };

export interface CheckParts {
  /** Of the client that calls. */
  readonly seenOf: (call: Call) => Seen;
  readonly tasks: CheckTasks;
  /** A page to open, and when that was done. */
  readonly pages: { readonly url: string; openedAt(): number | null };
  /** How long the last call is kept waiting, to see when the client gives up. */
  readonly patienceMs: number;
  /** Something new was seen. */
  readonly changed: () => void;
}

type Step = CallToolResult | CreateTaskResult | Asking;

export function checkClient(parts: CheckParts): Tool {
  return {
    name: CHECK_TOOL,
    description:
      'Finds out what this client really shows to its user and its model. Call it again and again, as each answer says, until it reports.',
    inputSchema: {
      type: 'object',
      properties: {
        words: { type: 'string', description: 'Only when an answer asks for it: the names of trees in it' },
      },
    },
    annotations: { readOnlyHint: true },
    async call(args, call) {
      const { words } = parseArguments(ARGUMENTS, args, '');
      const seen = parts.seenOf(call);
      if (words !== undefined) seen.reads = readsOf(words);
      if (call.reply !== null) note(seen, call.reply, parts);
      parts.changed();
      return await nextStep(seen, call, parts);
    },
  };
}

/** In the order in which they cost a person least. */
async function nextStep(seen: Seen, call: Call, parts: CheckParts): Promise<Step> {
  const { tasks: takesTasks, elicitation, legacy, unattended } = call.requester;
  const mayAsk = !unattended;
  if (seen.reads === null) return wordsToRead();
  if (takesTasks && seen.task === null) {
    const form = elicitation.form && mayAsk ? formRequest() : null;
    return createTaskResult(parts.tasks.start(seen, form, plainResult(AGAIN)), call.requester);
  }
  if (elicitation.form && mayAsk && seen.form === null) return asking('form', formRequest());
  if (elicitation.url && mayAsk && !legacy && seen.page === null)
    return asking('page', pageRequest(parts.pages.url));
  if (seen.patience === null) await tryPatience(seen, call, parts);
  return plainResult(`Done. Show this to the user, whole:\n\n${reportText(seen)}`);
}

function wordsToRead(): CallToolResult {
  const ask = `Call ${CHECK_TOOL} again, with words="…": the names of all trees that you can read in this answer. Nothing is wrong if there is only one.`;
  return {
    content: [{ type: 'text', text: `The tree is a ${WORDS.text}. ${ask}` }],
    structuredContent: { message: `The tree is a ${WORDS.structuredContent}. ${ask}` },
  };
}

function readsOf(words: string): Seen['reads'] {
  const [text, structured] = [WORDS.text, WORDS.structuredContent].map((word) =>
    words.toLowerCase().includes(word),
  );
  if (text === true) return structured === true ? 'both' : 'text';
  return structured === true ? 'structuredContent' : 'neither';
}

function asking(what: 'form' | 'page', request: ElicitationRequest): Asking {
  const askedAt = Date.now();
  return {
    kind: 'asking',
    question: { key: what, request },
    state: { what, askedAt },
    expiresAt: askedAt + PERSON_HAS_MS,
  };
}

const STATE = z.object({ what: z.enum(['form', 'page']), askedAt: z.number() });

function note(seen: Seen, { state, answer }: Reply, { pages }: CheckParts): void {
  const { what, askedAt } = STATE.parse(state);
  const answered = answeredBy(answer?.response ?? null, Date.now() - askedAt, what);
  if (what === 'form') seen.form = answered;
  else {
    const openedAt = pages.openedAt();
    seen.page = { ...answered, openedAfterMs: openedAt === null ? null : Math.max(0, openedAt - askedAt) };
  }
}

/** Answers only when the time is over, or the client has gone. */
async function tryPatience(seen: Seen, call: Call, parts: CheckParts): Promise<void> {
  const startedAt = Date.now();
  const elapsed = (): number => Date.now() - startedAt;
  const note = (gaveUp: boolean): void => {
    seen.patience = { waitedMs: elapsed(), gaveUp };
    parts.changed();
  };
  while (elapsed() < parts.patienceMs && !call.signal.aborted) {
    await oneOf(call.signal, Math.min(PROGRESS_EVERY_MS, parts.patienceMs - elapsed()));
    if (!call.signal.aborted)
      await call.progress?.(elapsed(), 'Waiting on purpose, to see for how long it may.');
  }
  note(call.signal.aborted);
}

/** The first of the two. */
function oneOf(signal: AbortSignal, withinMs: number): Promise<void> {
  return new Promise((resolve) => {
    const end = (): void => {
      clearTimeout(timeout);
      signal.removeEventListener('abort', end);
      resolve();
    };
    const timeout = setTimeout(end, withinMs);
    signal.addEventListener('abort', end);
  });
}
