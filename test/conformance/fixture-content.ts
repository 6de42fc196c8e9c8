/** The prompts and resources that the conformance suite asks for. */
import {
  completable,
  type GetPromptResult,
  inputRequired,
  type McpServer,
  ResourceTemplate,
} from '@modelcontextprotocol/server';
import { z } from 'zod';
import { filledIn, form, NAME } from './asking-tools.ts';
import { RED_PIXEL_PNG } from './fixture-media.ts';

type Content = GetPromptResult['messages'][number]['content'];

const fromUser = (...contents: Content[]): GetPromptResult => ({
  messages: contents.map((content) => ({ role: 'user', content })),
});
/** What depends on an answer is good for that answer alone. */
const NOT_CACHED = { ttlMs: 0, cacheScope: 'private' } as const;

const words = (text: string): Content => ({ type: 'text', text });

export function addPrompts(server: McpServer): void {
  server.registerPrompt('test_simple_prompt', { description: 'A prompt without arguments' }, () =>
    fromUser(words('This is a simple prompt for testing.')),
  );
  server.registerPrompt(
    'test_prompt_with_arguments',
    {
      description: 'A prompt with two arguments',
      argsSchema: z.object({
        arg1: completable(z.string().describe('First test argument'), (begun) =>
          ['paris', 'park', 'party'].filter((word) => word.startsWith(begun)),
        ),
        arg2: z.string().describe('Second test argument'),
      }),
    },
    ({ arg1, arg2 }) => fromUser(words(`Prompt with arguments: arg1='${arg1}', arg2='${arg2}'`)),
  );
  server.registerPrompt(
    'test_prompt_with_embedded_resource',
    {
      description: 'A prompt with a resource in it',
      argsSchema: z.object({ resourceUri: z.string().describe('URI of the resource to embed') }),
    },
    ({ resourceUri }) => {
      const text = 'Embedded resource content for testing.';
      return fromUser(
        { type: 'resource', resource: { uri: resourceUri, mimeType: 'text/plain', text } },
        words('Please process the embedded resource above.'),
      );
    },
  );
  server.registerPrompt('test_prompt_with_image', { description: 'A prompt with an image' }, () =>
    fromUser(
      { type: 'image', data: RED_PIXEL_PNG, mimeType: 'image/png' },
      words('Please analyze the image above.'),
    ),
  );
  server.registerPrompt(
    'test_input_required_result_prompt',
    { description: 'A prompt that asks for its context' },
    ({ mcpReq }) => {
      const context = filledIn(mcpReq.inputResponses, 'user_context', 'context');
      if (context !== undefined) return fromUser(words(`In the context of ${context}.`));
      const properties = { context: { type: 'string' as const } };
      const schema = { type: 'object' as const, properties, required: ['context'] };
      return inputRequired({
        inputRequests: { user_context: form('What context should the prompt use?', schema) },
      });
    },
  );
}

export function addResources(server: McpServer): void {
  const description = 'For the conformance suite';
  server.registerResource(
    'static-text',
    'test://static-text',
    { description, mimeType: 'text/plain' },
    ({ href }) => ({
      contents: [
        { uri: href, mimeType: 'text/plain', text: 'This is the content of the static text resource.' },
      ],
    }),
  );
  server.registerResource(
    'static-binary',
    'test://static-binary',
    { description, mimeType: 'image/png' },
    ({ href }) => ({ contents: [{ uri: href, mimeType: 'image/png', blob: RED_PIXEL_PNG }] }),
  );
  server.registerResource(
    'watched',
    'test://watched-resource',
    { description, mimeType: 'text/plain' },
    ({ href }) => ({ contents: [{ uri: href, mimeType: 'text/plain', text: 'It never changes.' }] }),
  );
  server.registerResource(
    'asking',
    'test://asking',
    { description, mimeType: 'text/plain' },
    ({ href }, { mcpReq }) => {
      const name = filledIn(mcpReq.inputResponses, 'user_name', 'name');
      if (name === undefined)
        return inputRequired({ inputRequests: { user_name: form('What is your name?', NAME) } });
      return {
        contents: [{ uri: href, mimeType: 'text/plain', text: `It is about ${name}.` }],
        ...NOT_CACHED,
      };
    },
  );
  server.registerResource(
    'template',
    new ResourceTemplate('test://template/{id}/data', { list: undefined }),
    { description, mimeType: 'application/json' },
    ({ href }, { id }) => {
      const text = JSON.stringify({ id, templateTest: true, data: `Data for ID: ${String(id)}` });
      return { contents: [{ uri: href, mimeType: 'application/json', text }] };
    },
  );
}
