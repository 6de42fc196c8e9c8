/** What a client was given for one call, step by step, from what was said on the wire. */
import type { Said } from './conversation.ts';

/** In words, as the page has them. */
export type Step =
  | 'the answer'
  | 'a handle'
  | 'queue'
  | 'an input error'
  | 'a task'
  | 'form in the task'
  | 'form by `input_required`'
  | 'form by `elicitation/create`'
  | 'page to open'
  | 'the result of the task'
  | '`tasks/cancel`'
  | '`cancel_command`'
  | '`get_command`'
  | 'a protocol error';

export interface Declared {
  readonly protocol: string;
  readonly tasks: boolean;
  readonly elicitation: readonly string[];
}

/** In the order in which they were said; what is said again and again, as when polling, counts once. */
export function storyOf(said: readonly Said[]): Step[] {
  const asked = new Map<unknown, any>();
  const questions = new Set<string>();
  const steps: Step[] = [];
  for (const { from, message } of said) {
    if (from === 'client' && message.method !== undefined) {
      asked.set(message.id, message);
      if (message.method === 'tasks/cancel') steps.push('`tasks/cancel`');
    } else if (from === 'server' && message.method === 'elicitation/create') {
      steps.push(message.params.mode === 'url' ? 'page to open' : 'form by `elicitation/create`');
    } else if (from === 'server' && message.id !== undefined && message.method === undefined) {
      const step = stepIn(asked.get(message.id), message, questions);
      if (step !== null) steps.push(step);
    }
  }
  return steps;
}

function stepIn(request: any, { result, error }: any, questions: Set<string>): Step | null {
  if (request?.method === 'tools/call')
    return error === undefined ? stepOfCall(request.params.name, result) : 'a protocol error';
  if (request?.method !== 'tasks/get') return null;
  switch (result?.status) {
    case 'input_required': {
      const isNew = Object.keys(result.inputRequests).some((key) => !questions.has(key));
      for (const key of Object.keys(result.inputRequests)) questions.add(key);
      return isNew ? 'form in the task' : null;
    }
    case 'completed':
      return 'the result of the task';
    default:
      return null;
  }
}

function stepOfCall(tool: string, result: any): Step {
  if (tool === 'get_command') return '`get_command`';
  if (tool === 'cancel_command') return '`cancel_command`';
  if (result.resultType === 'task') return 'a task';
  if (result.resultType === 'input_required') {
    const [request]: any[] = Object.values(result.inputRequests);
    return request.params.mode === 'url' ? 'page to open' : 'form by `input_required`';
  }
  const { done, state, commandId } = result.structuredContent ?? {};
  if (commandId === undefined) return 'an input error';
  if (done === true) return 'the answer';
  return state === 'waiting_for_approval' ? 'queue' : 'a handle';
}

/** What the client says of itself: with each request, or once when it opens a connection of 2025-11-25 or older. */
export function declaredIn(said: readonly Said[]): Declared {
  const requests = said.filter(({ from }) => from === 'client').map(({ message }) => message);
  const modern = requests.find(({ method }) => method === 'tools/call')?.params?._meta ?? {};
  const opening = requests.find(({ method }) => method === 'initialize');
  const capabilities =
    modern['io.modelcontextprotocol/clientCapabilities'] ?? opening?.params?.capabilities ?? {};
  const answered = said.find(
    ({ from, message }) => from === 'server' && message.result?.protocolVersion !== undefined,
  );
  return {
    protocol:
      modern['io.modelcontextprotocol/protocolVersion'] ?? answered?.message.result.protocolVersion ?? '?',
    tasks: capabilities.extensions?.['io.modelcontextprotocol/tasks'] !== undefined,
    elicitation: Object.keys(capabilities.elicitation ?? {}),
  };
}

/** The first that a client is given for its call which it can hold on to. undefined: nothing yet. */
export function handleIn(said: readonly Said[]): { commandId: string; step: Step } | undefined {
  const asked = new Map<unknown, any>();
  for (const { from, message } of said) {
    if (from === 'client' && message.method === 'tools/call') asked.set(message.id, message.params.name);
    if (from !== 'server' || message.result === undefined || !asked.has(message.id)) continue;
    const { result } = message;
    const commandId = result.taskId ?? result.structuredContent?.commandId;
    if (typeof commandId === 'string') return { commandId, step: stepOfCall(asked.get(message.id), result) };
  }
  return undefined;
}
