/** Jobs that an MCP task can stand for: workflows that keep a view of themselves in their memo, and know nothing of MCP servers. */
import {
  ApplicationFailure,
  allHandlersFinished,
  condition,
  setHandler,
  sleep,
  upsertMemo,
  workflowInfo,
} from '@temporalio/workflow';
import {
  type Asked,
  acceptedJob,
  answersUpdate,
  type JobRequest,
  type JobResult,
  type JobView,
  MEMO_KEY,
} from './job-messages.ts';

export async function slowCompute(
  request: JobRequest & { readonly seconds: number; readonly label: string },
): Promise<void> {
  const job = openJob(request);
  await sleep(request.seconds * 1000);
  job.end({ content: [{ type: 'text', text: `${request.label}: computed for ${request.seconds} s` }] });
}

/** Its tool ran and reported an error: no fault of the protocol. */
export async function failingJob(request: JobRequest): Promise<void> {
  const job = openJob(request);
  await sleep(1000);
  job.end({ content: [{ type: 'text', text: 'The job failed, as it always does.' }], isError: true });
}

/** The server itself can't go on. */
export async function protocolErrorJob(request: JobRequest): Promise<void> {
  const job = openJob(request);
  const message = 'The job broke off, as it always does.';
  job.tell({ error: { code: -32603, message } });
  throw ApplicationFailure.nonRetryable(message);
}

export async function confirmDelete(request: JobRequest & { readonly filename: string }): Promise<void> {
  const job = openJob(request);
  const question = confirmation(`Delete ${request.filename}?`);
  const { confirm } = await job.ask({ confirm: question });
  const text = isYes(confirm) ? `Deleted ${request.filename}` : `Kept ${request.filename}`;
  job.end({ content: [{ type: 'text', text }] });
}

/** Two questions at once, answered in any order, together or one by one. */
export async function multiInput(request: JobRequest): Promise<void> {
  const job = openJob(request);
  const answers = await job.ask({ first: confirmation('The first?'), second: confirmation('The second?') });
  const text = `first: ${isYes(answers['first'])}, second: ${isYes(answers['second'])}`;
  job.end({ content: [{ type: 'text', text }] });
}

export async function greetLater(request: JobRequest & { readonly name: string }): Promise<void> {
  const job = openJob(request);
  await sleep(100);
  job.end({ content: [{ type: 'text', text: `Hello, ${request.name}!` }] });
}

interface Job {
  tell(change: Partial<JobView>): void;
  /** Resolves with the response to each key, once all have been answered. */
  ask(questions: Asked): Promise<Readonly<Record<string, unknown>>>;
  end(result: JobResult): void;
}

function openJob({ owner }: JobRequest): Job {
  let view = acceptedJob(owner, workflowInfo().startTime.getTime());
  const answers: Record<string, unknown> = {};
  const tell = (change: Partial<JobView>): void => {
    view = { ...view, ...change, changedAt: Date.now() };
    upsertMemo({ [MEMO_KEY]: view });
  };
  setHandler(answersUpdate, (given) => {
    const taken = Object.keys(given).filter((key) => Object.hasOwn(view.asked, key));
    for (const key of taken) answers[key] = given[key];
    const open = Object.entries(view.asked).filter(([key]) => !taken.includes(key));
    if (taken.length > 0) tell({ asked: Object.fromEntries(open) });
  });
  return {
    tell,
    async ask(questions) {
      tell({ doing: 'waiting for answers', asked: questions });
      await condition(() => Object.keys(view.asked).length === 0);
      await condition(allHandlersFinished);
      return answers;
    },
    end: (result) => tell({ doing: 'done', result }),
  };
}

function confirmation(message: string): Asked[string] {
  return {
    method: 'elicitation/create',
    params: {
      mode: 'form',
      message,
      requestedSchema: {
        type: 'object',
        properties: { confirm: { type: 'boolean', title: 'Yes' } },
        required: ['confirm'],
      },
    },
  };
}

function isYes(response: unknown): boolean {
  const { action, content } = (response ?? {}) as { action?: string; content?: { confirm?: unknown } };
  return action === 'accept' && content?.confirm === true;
}
