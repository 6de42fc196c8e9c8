/** Tools and forms with which the suite checks how a server asks its client: by requests of its own, or by its result. */
import {
  acceptedContent,
  type CallToolResult,
  type ElicitRequestFormParams,
  type InputRequest,
  type InputRequiredResult,
  inputRequired,
  inputResponse,
  MissingRequiredClientCapabilityError,
  type RequestStateCodec,
  type ServerContext,
} from '@modelcontextprotocol/server';
import type { ServedTool } from '../../mcp-server/tool-calls.ts';
import { text, tool } from './fixture-tool.ts';

type Result = CallToolResult | InputRequiredResult;
type Responses = ServerContext['mcpReq']['inputResponses'];
type Schema = ElicitRequestFormParams['requestedSchema'];

/** Tools that ask once: older clients by a request of the server, newer ones by a result that they answer with a retry. */
export function askingTools(): ServedTool[] {
  const object = (...names: string[]) => ({
    type: 'object',
    properties: Object.fromEntries(names.map((name) => [name, { type: 'string' }])),
    required: names,
  });
  const ended = (responses: Responses, key: string) => {
    const answer = inputResponse(responses, key);
    const action = answer.kind === 'elicit' ? answer.action : answer.kind;
    const content = answer.kind === 'elicit' ? answer.content : null;
    return `action=${action}, content=${JSON.stringify(content ?? {})}`;
  };
  return [
    tool(
      'test_sampling',
      "Asks the client's model",
      asking(
        (args) => ({ sample: sampling(String(args['prompt']), 100) }),
        (responses) => text(`LLM response: ${sampledText(responses, 'sample')}`),
      ),
      object('prompt'),
    ),
    tool(
      'test_elicitation',
      "Asks the client's user",
      asking(
        (args) => ({ user: form(String(args['message']), USER) }),
        (responses) => text(`User response: ${ended(responses, 'user')}`),
      ),
      object('message'),
    ),
    ...(
      [
        ['test_elicitation_sep1034_defaults', 'with defaults', WITH_DEFAULTS],
        ['test_elicitation_sep1330_enums', 'with choices', WITH_CHOICES],
      ] as const
    ).map(([name, how, schema]) =>
      tool(
        name,
        `Asks the client's user ${how}`,
        asking(
          () => ({ form: form('Please fill in the form.', schema) }),
          (responses) => text(`Elicitation completed: ${ended(responses, 'form')}`),
        ),
      ),
    ),
    tool(
      'test_streaming_elicitation',
      "Asks the client's user",
      asking(
        () => ({ user_name: form('What is your name?', NAME) }),
        () => text('Answered.'),
      ),
    ),
    tool('test_missing_capability', 'Needs sampling', async () => {
      throw new MissingRequiredClientCapabilityError({ requiredCapabilities: { sampling: {} } });
    }),
  ];
}

/** Tools of the multi-round-trip pattern. */
export function roundTripTools(codec: RequestStateCodec<string>): ServedTool[] {
  const greeting = (responses: Responses) =>
    text(`Hello, ${filledIn(responses, 'user_name', 'name') ?? 'whoever you are'}!`);
  const name = () => ({ user_name: form('What is your name?', NAME) });
  const confirm = {
    confirm: form('Please confirm', {
      type: 'object',
      properties: { ok: { type: 'boolean' } },
      required: ['ok'],
    }),
  };
  const asksWith = (suffix: string, ...how: Parameters<typeof asking>) =>
    tool(`test_input_required_result_${suffix}`, 'Asks by its result', asking(...how));
  const withState = (suffix: string) =>
    tool(`test_input_required_result_${suffix}`, 'Asks, with a state of its own', async (_args, ctx) => {
      const state = ctx.mcpReq.requestState<string>();
      if (state !== undefined && acceptedContent(ctx.mcpReq.inputResponses, 'confirm') !== undefined)
        return text(`state-ok: ${state}`);
      return inputRequired({ inputRequests: confirm, requestState: await codec.mint('confirming', ctx) });
    });
  return [
    asksWith('elicitation', name, greeting),
    asksWith(
      'sampling',
      () => ({ capital_question: sampling('What is the capital of France?', 100) }),
      (responses) => text(sampledText(responses, 'capital_question')),
    ),
    asksWith(
      'list_roots',
      () => ({ client_roots: inputRequired.listRoots() }),
      (responses) => text(`Roots: ${JSON.stringify(inputResponse(responses, 'client_roots'))}`),
    ),
    withState('request_state'),
    withState('tampered_state'),
    tool('test_input_required_result_multiple_inputs', 'Asks several things at once', async (_args, ctx) => {
      const requests = {
        ...name(),
        greeting: sampling('Generate a greeting', 50),
        client_roots: inputRequired.listRoots(),
      };
      if (answersAll(ctx.mcpReq.inputResponses, requests)) return greeting(ctx.mcpReq.inputResponses);
      return inputRequired({ inputRequests: requests, requestState: await codec.mint('several', ctx) });
    }),
    tool('test_input_required_result_multi_round', 'Asks twice', async (_args, ctx) => {
      const { inputResponses } = ctx.mcpReq;
      const known = ctx.mcpReq.requestState<string>();
      const given = filledIn(inputResponses, 'step1', 'name');
      const colour = filledIn(inputResponses, 'step2', 'color');
      if (known?.startsWith('name:') && colour !== undefined)
        return text(`${known.slice('name:'.length)} likes ${colour}`);
      if (known === 'nothing' && given !== undefined)
        return inputRequired({
          inputRequests: { step2: form('Step 2: What is your favorite color?', COLOUR) },
          requestState: await codec.mint(`name:${given}`, ctx),
        });
      return inputRequired({
        inputRequests: { step1: form('Step 1: What is your name?', NAME) },
        requestState: await codec.mint('nothing', ctx),
      });
    }),
    tool(
      'test_input_required_result_capabilities',
      'Asks what this client can answer',
      async (_args, ctx) => {
        const declared = (ctx.mcpReq.envelope as Record<string, any> | undefined)?.[
          'io.modelcontextprotocol/clientCapabilities'
        ];
        const requests = {
          ...(declared?.elicitation && name()),
          ...(declared?.sampling && { sample: sampling('Say hello', 50) }),
        };
        if (Object.keys(requests).length === 0 || answersAll(ctx.mcpReq.inputResponses, requests))
          return text('Asked what could be asked.');
        return inputRequired({ inputRequests: requests });
      },
    ),
  ];
}

/** Asks until every question has an answer of its kind, then goes on. */
function asking(
  questions: (args: Readonly<Record<string, unknown>>) => Readonly<Record<string, InputRequest>>,
  then: (responses: Responses) => CallToolResult,
) {
  return async (args: unknown, { mcpReq }: ServerContext): Promise<Result> => {
    const inputRequests = questions((args ?? {}) as Record<string, unknown>);
    return answersAll(mcpReq.inputResponses, inputRequests)
      ? then(mcpReq.inputResponses)
      : inputRequired({ inputRequests });
  };
}

const KIND_OF_ANSWER: Readonly<Record<InputRequest['method'], string>> = {
  'elicitation/create': 'elicit',
  'sampling/createMessage': 'sampling',
  'roots/list': 'roots',
};

function answersAll(responses: Responses, requests: Readonly<Record<string, InputRequest>>): boolean {
  return Object.entries(requests).every(
    ([key, { method }]) => inputResponse(responses, key).kind === KIND_OF_ANSWER[method],
  );
}

/** A text that the user has filled into a form; undefined where there is none. */
export function filledIn(responses: Responses, key: string, field: string): string | undefined {
  const value = acceptedContent(responses, key)?.[field];
  return typeof value === 'string' ? value : undefined;
}

export function form(message: string, requestedSchema: Schema): InputRequest {
  return inputRequired.elicit({ message, requestedSchema });
}

function sampling(words: string, maxTokens: number): InputRequest {
  const messages = [{ role: 'user' as const, content: { type: 'text' as const, text: words } }];
  return inputRequired.createMessage({ messages, maxTokens });
}

function sampledText(responses: Responses, key: string): string {
  const answer = inputResponse(responses, key);
  const content = answer.kind === 'sampling' ? [answer.result.content].flat()[0] : undefined;
  return content?.type === 'text' ? content.text : 'nothing';
}

export const NAME: Schema = { type: 'object', properties: { name: { type: 'string' } }, required: ['name'] };
const COLOUR: Schema = { type: 'object', properties: { color: { type: 'string' } }, required: ['color'] };
const USER: Schema = {
  type: 'object',
  properties: {
    username: { type: 'string', description: "User's response" },
    email: { type: 'string', description: "User's email address" },
  },
  required: ['username', 'email'],
};
const WITH_DEFAULTS: Schema = {
  type: 'object',
  properties: {
    name: { type: 'string', default: 'John Doe' },
    age: { type: 'integer', default: 30 },
    score: { type: 'number', default: 95.5 },
    status: { type: 'string', enum: ['active', 'inactive', 'pending'], default: 'active' },
    verified: { type: 'boolean', default: true },
  },
};
const titled = (...titles: string[]) => titles.map((title, index) => ({ const: `value${index + 1}`, title }));
const WITH_CHOICES: Schema = {
  type: 'object',
  properties: {
    untitledSingle: { type: 'string', enum: ['option1', 'option2', 'option3'] },
    titledSingle: { type: 'string', oneOf: titled('First Option', 'Second Option', 'Third Option') },
    legacyEnum: {
      type: 'string',
      enum: ['opt1', 'opt2', 'opt3'],
      enumNames: ['Option One', 'Option Two', 'Option Three'],
    },
    untitledMulti: { type: 'array', items: { type: 'string', enum: ['option1', 'option2', 'option3'] } },
    titledMulti: { type: 'array', items: { anyOf: titled('First Choice', 'Second Choice', 'Third Choice') } },
  },
};
